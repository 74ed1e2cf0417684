"""The full softmax against its definition; the sampled one against the full where the sample is the expectation."""

import pytest
import torch

from fewwords.layers import DenseOutput
from fewwords.losses import FullSoftmaxLoss, SampledSoftmaxLoss, UnigramNoise

COUNTS = torch.tensor([5, 3, 2, 2, 1, 1])
TARGETS = torch.tensor([0, 5, 2, 0])


def make_parts() -> tuple[DenseOutput, torch.Tensor]:
    torch.manual_seed(0)
    output = DenseOutput(len(COUNTS), 3)
    for parameter in output.parameters():
        torch.nn.init.normal_(parameter)
    return output.double(), torch.randn(len(TARGETS), 3, dtype=torch.float64).requires_grad_()


def test_full_softmax_is_the_mean_negative_log_probability() -> None:
    output, h = make_parts()
    probabilities = torch.exp(h @ output.weight.t() + output.bias)
    probabilities = probabilities / probabilities.sum(1, keepdim=True)
    expected = -sum(probabilities[n, target].log() for n, target in enumerate(TARGETS)) / len(TARGETS)
    torch.testing.assert_close(FullSoftmaxLoss()(h, TARGETS, output), expected)


@pytest.mark.parametrize("chunk", [1, 3, 128])
def test_sample_in_exact_proportion_equals_the_full_softmax(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fewwords.losses.sampled_softmax._CONTEXTS_PER_CHUNK", chunk)
    output, h = make_parts()
    inputs = [h, *output.parameters()]
    full = FullSoftmaxLoss()(h, TARGETS, output)
    for counts in (COUNTS, torch.ones_like(COUNTS)):
        noise_ids = torch.arange(len(counts)).repeat_interleave(counts)
        sampled = SampledSoftmaxLoss(UnigramNoise(counts)).with_noise(h, TARGETS, output, noise_ids)
        torch.testing.assert_close(sampled, full, rtol=1e-6, atol=1e-6)
        gradients = [torch.autograd.grad(loss, inputs, retain_graph=True) for loss in (sampled, full)]
        torch.testing.assert_close(*gradients, rtol=1e-6, atol=1e-6)
        with torch.no_grad():
            again = SampledSoftmaxLoss(UnigramNoise(counts)).with_noise(h, TARGETS, output, noise_ids.flip(0))
        torch.testing.assert_close(again, sampled)


def test_a_sample_of_targets_only_is_harmless() -> None:
    output, h = make_parts()
    targets = torch.zeros(len(h), dtype=torch.long)
    loss = SampledSoftmaxLoss(UnigramNoise(COUNTS)).with_noise(h, targets, output, torch.zeros(3, dtype=torch.long))
    loss.backward()
    assert loss == 0
    assert output.weight.grad is not None
    assert not output.weight.grad.any()
    assert h.grad is not None
    assert not h.grad.any()


def test_draws_follow_the_generator() -> None:
    output, h = make_parts()
    loss = SampledSoftmaxLoss(UnigramNoise(COUNTS), num_noise=3)
    first, again, other = (
        loss(h, TARGETS, output, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
