"""Noise-contrastive estimation against its formula written out, and against the softmax that it approaches."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import Tensor

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.layers import CodedOutput, DenseOutput
from fewwords.losses import NoiseContrastiveLoss, OneNormaliser, UnigramNoise, ZRegression, shared_noise

NUM_WORDS, BASE_SIZE, SIZE, NUM_CONTEXTS = 11, 5, 4, 9
COUNTS = np.array([7, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1])
TARGETS = torch.tensor([0, 10, 3, 0, 7, 5, 1, 1, 9])


def make_parts(kind: str, **settings: bool) -> tuple[CodedOutput | DenseOutput, ZRegression, Tensor]:
    torch.manual_seed(0)
    if kind == "dense":
        output: CodedOutput | DenseOutput = DenseOutput(NUM_WORDS, SIZE, **settings)
    else:
        rare = np.random.default_rng(0).random((NUM_WORDS - BASE_SIZE, BASE_SIZE)) * np.array([1, 0, 1, 1, 0])
        codes = SparseCodes.from_csr(csr_array(np.vstack([np.eye(BASE_SIZE), rare]).astype(np.float32)))
        output = CodedOutput(codes, SIZE, coded_bias=True, **settings)
    normaliser = ZRegression(SIZE)
    for parameter in [*output.parameters(), *normaliser.parameters()]:
        torch.nn.init.normal_(parameter)
    h = torch.randn(NUM_CONTEXTS, SIZE, dtype=torch.float64).requires_grad_()
    return output.double(), normaliser.double(), h


def loss_by_hand(h: Tensor, output: CodedOutput | DenseOutput, normaliser: ZRegression, noise_ids: Tensor) -> Tensor:
    """-J of section 3.4 with probabilities, as the paper writes it; noise_ids is [N, k]."""
    probabilities = torch.exp(output.logits(h) + (h @ normaliser.weight + normaliser.bias)[:, None])
    k = noise_ids.shape[1]
    noise_probabilities = torch.from_numpy(COUNTS / COUNTS.sum())
    total = torch.zeros((), dtype=torch.float64)
    for n in range(NUM_CONTEXTS):
        p, q = probabilities[n, TARGETS[n]], noise_probabilities[TARGETS[n]]
        total = total + torch.log(p / (p + k * q))
        for word in noise_ids[n].tolist():
            p, q = probabilities[n, word], noise_probabilities[word]
            total = total + torch.log(k * q / (p + k * q))
    return -total / NUM_CONTEXTS


def make_loss(**settings: Any) -> NoiseContrastiveLoss:
    return NoiseContrastiveLoss(UnigramNoise(COUNTS), num_noise=6, **settings).double()


@pytest.mark.parametrize("kind", ["dense", "coded"])
@pytest.mark.parametrize("shared_by", ["all", "groups", "one"])
@pytest.mark.parametrize("contexts_per_chunk", [512, 4, 2])
def test_loss_and_gradients_equal_the_formula(
    kind: str, shared_by: str, contexts_per_chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_noise, "_CONTEXTS_PER_CHUNK", contexts_per_chunk)
    output, normaliser, h = make_parts(kind)
    # Word 0 is a target too: accidental hits must count as any other noise.
    noise_ids = torch.tensor([0, 3, 3, 8, 1, 0])
    by_position = noise_ids.expand(NUM_CONTEXTS, -1)
    if shared_by == "one":
        noise_ids = by_position = (by_position + torch.arange(NUM_CONTEXTS)[:, None]) % NUM_WORDS
    if shared_by == "groups":  # nine contexts: two, two, three, two
        noise_ids = (noise_ids + torch.arange(4)[:, None]) % NUM_WORDS
        by_position = noise_ids[torch.tensor([0, 0, 1, 1, 2, 2, 2, 3, 3])]
    inputs = [h, *output.parameters(), *normaliser.parameters()]
    expected = loss_by_hand(h, output, normaliser, by_position)
    actual = make_loss().with_noise(h, TARGETS, output, normaliser, noise_ids)
    # The noise's log-probabilities are kept in single precision.
    torch.testing.assert_close(actual, expected, rtol=1e-6, atol=1e-6)
    gradients = torch.autograd.grad(actual, inputs), torch.autograd.grad(expected, inputs)
    torch.testing.assert_close(*gradients, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shared", [True, False])
def test_expected_gradient_tends_to_the_softmax_gradient(shared: bool) -> None:
    """With every word present k P_n(w) times, the loss *is* its expectation over the noise: nothing is sampled."""
    output, _, h = make_parts("dense")
    inputs = [h, *output.parameters()]
    softmax = torch.autograd.grad(torch.nn.functional.cross_entropy(output.logits(h), TARGETS), inputs)

    class TrueNormaliser(OneNormaliser):
        def negative_log_z(self, h: Tensor) -> Tensor:
            return -output.log_normaliser(h)

    errors = []
    for repeats in (1, 10, 100):
        noise_ids = torch.arange(NUM_WORDS).repeat_interleave(torch.from_numpy(COUNTS) * repeats)
        if not shared:
            noise_ids = noise_ids.expand(NUM_CONTEXTS, -1)
        loss = make_loss().with_noise(h, TARGETS, output, TrueNormaliser(), noise_ids)
        gradients = torch.autograd.grad(loss, inputs)
        errors.append(math.sqrt(sum((a - b).square().sum().item() for a, b in zip(gradients, softmax, strict=True))))
    # The error falls like 1 / k.
    assert errors[1] < 0.2 * errors[0]
    assert errors[2] < 0.12 * errors[1]
    assert errors[2] < 0.01


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("scale", [-1e5, 1e5])
def test_extreme_scores_stay_finite(shared: bool, scale: float) -> None:
    output, normaliser, h = make_parts("dense")
    output, normaliser, h = output.float(), normaliser.float(), h.detach().float()
    loss = make_loss(shared=shared).float()(scale * h, TARGETS, output, normaliser, torch.Generator().manual_seed(0))
    loss.backward()
    assert loss.isfinite()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in output.parameters())


@pytest.mark.parametrize("shared", [True, False])
def test_draws_follow_the_generator_and_need_no_gradient(shared: bool) -> None:
    output, normaliser, h = make_parts("coded")
    loss = make_loss(shared=shared)

    def draw(seed: int) -> Tensor:
        return loss(h, TARGETS, output, normaliser, torch.Generator().manual_seed(seed))

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    with torch.no_grad():
        assert not draw(1).requires_grad
        torch.testing.assert_close(draw(1), draw(1))


def test_groups_of_contexts_draw_noise_words_of_their_own() -> None:
    output, normaliser, h = make_parts("coded")
    for group, shape in ((3, (3, 6)), (4, (2, 6)), (9, (6,)), (100, (6,))):
        drawn = make_loss().noise.sample(shape, torch.Generator().manual_seed(4))
        actual = make_loss(group=group)(h, TARGETS, output, normaliser, torch.Generator().manual_seed(4))
        assert torch.equal(actual, make_loss().with_noise(h, TARGETS, output, normaliser, drawn))


@pytest.mark.parametrize("shared", [True, False])
def test_sparse_tables_receive_no_dense_gradient(shared: bool) -> None:
    for kind in ("dense", "coded"):
        settings = {"sparse": True} if kind == "dense" else {"sparse": True, "sparse_base": True}
        sparse_parts, dense_parts = make_parts(kind, **settings), make_parts(kind)
        for output, normaliser, h in (sparse_parts, dense_parts):
            make_loss(shared=shared)(h, TARGETS, output, normaliser, torch.Generator().manual_seed(0)).backward()
        pairs = zip(sparse_parts[0].parameters(), dense_parts[0].parameters(), strict=True)
        for sparse, dense in pairs:
            assert sparse.grad is not None
            assert sparse.grad.is_sparse
            torch.testing.assert_close(sparse.grad.to_dense(), dense.grad)


def test_sum_of_softplus() -> None:
    x = torch.linspace(-30, 30, 203, dtype=torch.float64).view(7, 29)
    torch.testing.assert_close(shared_noise._sum_of_softplus(x), torch.nn.functional.softplus(x).sum())
