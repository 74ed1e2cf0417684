"""ZRegression finds ln Z where it is known."""

import pytest
import torch

from fewwords.layers import DenseOutput
from fewwords.losses import (
    ConstantNormaliser,
    NoiseContrastiveLoss,
    OneNormaliser,
    UnigramNoise,
    ZRegression,
    make_normaliser,
    normalisation_gap,
)

SIZE = 3
SLOPE = torch.tensor([0.7, -1.2, 0.4], dtype=torch.float64)
COUNTS = torch.tensor([8, 4, 2, 1, 1])


def test_z_regression_recovers_log_z() -> None:
    """All words share one weight vector a, so ln Z(h) = a . h + c, which ZRegression can say exactly."""
    output = DenseOutput(len(COUNTS), SIZE).double().requires_grad_(False)
    output.weight.copy_(SLOPE.expand(len(COUNTS), -1))
    output.bias.copy_(torch.log(COUNTS / 16) + 2.5)
    contexts = torch.randn(40, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    # Targets in the model's own proportions and noise in its own: the loss is its expectation, without sampling.
    targets = torch.arange(len(COUNTS)).repeat_interleave(COUNTS)
    h, targets = contexts.repeat_interleave(len(targets), 0), targets.repeat(len(contexts))
    noise_ids = torch.arange(len(COUNTS)).repeat(4)
    loss = NoiseContrastiveLoss(UnigramNoise(torch.ones(len(COUNTS)))).double()
    normaliser = ZRegression(SIZE).double()
    assert normalisation_gap(contexts, output, normaliser).mean() > 2
    optimiser = torch.optim.LBFGS(normaliser.parameters(), max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> float:
        optimiser.zero_grad()
        value = loss.with_noise(h, targets, output, normaliser, noise_ids)
        value.backward()
        return value.item()

    optimiser.step(closure)
    torch.testing.assert_close(normaliser.weight.detach(), -SLOPE, rtol=0, atol=1e-3)
    torch.testing.assert_close(normaliser.bias.detach(), torch.tensor(-2.5).double(), rtol=0, atol=1e-3)
    gap = normalisation_gap(contexts, output, normaliser)
    torch.testing.assert_close(gap, torch.zeros_like(gap), rtol=0, atol=1e-2)


def test_gap_is_the_log_of_the_summed_probabilities() -> None:
    torch.manual_seed(0)
    output, normaliser, h = DenseOutput(6, SIZE), ConstantNormaliser(), torch.randn(4, SIZE)
    torch.nn.init.constant_(normaliser.bias, -1.5)
    sums = torch.exp(output.logits(h) - 1.5).sum(1)
    torch.testing.assert_close(normalisation_gap(h, output, normaliser), sums.log().detach())


def test_every_normaliser_starts_at_one() -> None:
    h = torch.randn(4, SIZE)
    kinds = {"one": OneNormaliser, "constant": ConstantNormaliser, "z-regression": ZRegression}
    for name, kind in kinds.items():
        normaliser = make_normaliser(name, SIZE)  # type: ignore[arg-type]
        assert isinstance(normaliser, kind)
        assert torch.equal(normaliser.negative_log_z(h).detach(), torch.zeros(4))
    with pytest.raises(ValueError, match="no normaliser is named"):
        make_normaliser("two", SIZE)  # type: ignore[arg-type]
