"""Output layers against the dense scores h W^T + b with W = codes @ base."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch.utils._python_dispatch import TorchDispatchMode

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.layers import CodedOutput, DenseOutput, streaming

NUM_WORDS, BASE_SIZE, SIZE, NUM_CONTEXTS = 23, 6, 4, 9
KINDS = ["dense", "own bias", "coded bias"]


def make_codes(num_words: int = NUM_WORDS, base_size: int = BASE_SIZE) -> SparseCodes:
    random = np.random.default_rng(0)
    rare = np.where(random.random((num_words - base_size, base_size)) < 2.4 / base_size, 0.6, 0.0)
    rare[:, 2] += 0.1
    return SparseCodes.from_csr(csr_array(np.vstack([np.eye(base_size), rare]).astype(np.float32)))


def make_layer(kind: str, **settings: Any) -> DenseOutput | CodedOutput:
    torch.manual_seed(0)
    if kind == "dense":
        layer: DenseOutput | CodedOutput = DenseOutput(NUM_WORDS, SIZE, **settings)
    else:
        layer = CodedOutput(make_codes(), SIZE, coded_bias=kind == "coded bias", **settings)
    torch.nn.init.normal_(layer.bias)
    return layer.double()


def dense_weights(layer: DenseOutput | CodedOutput) -> tuple[torch.Tensor, torch.Tensor]:
    """W [V, size] and b [V], with gradients to the layer's parameters."""
    if isinstance(layer, DenseOutput):
        return layer.weight, layer.bias
    matrix = torch.from_numpy(make_codes().to_csr().toarray()).double()
    return matrix @ layer.base, matrix @ layer.bias if layer.coded_bias else layer.bias


def make_contexts() -> torch.Tensor:
    return torch.randn(NUM_CONTEXTS, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "SCORES_PER_CHUNK", 20)
    monkeypatch.setattr(streaming, "CONTEXTS_PER_CHUNK", 4)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_biases_of_some_words(kind: str) -> None:
    layer = make_layer(kind)
    ids = torch.tensor([20, 0, 7, 20, 5])
    weights, biases = dense_weights(layer)
    upstream = torch.arange(20.0, dtype=torch.float64).view(5, 4)
    for_weights, for_biases = layer.weights_and_biases(ids)
    torch.testing.assert_close(for_weights, weights[ids])
    torch.testing.assert_close(for_biases, biases[ids])
    expected = torch.autograd.grad((weights[ids] * upstream).sum() + biases[ids].exp().sum(), layer.parameters())
    actual = torch.autograd.grad((for_weights * upstream).sum() + for_biases.exp().sum(), layer.parameters())
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("small_chunks")
def test_logits_and_their_gradients(kind: str) -> None:
    layer = make_layer(kind)
    h = make_contexts().requires_grad_()
    weights, biases = dense_weights(layer)
    expected = h @ weights.t() + biases
    actual = layer.logits(h)
    torch.testing.assert_close(actual, expected)
    with torch.no_grad():
        torch.testing.assert_close(layer.logits(h), expected)
    inputs = [h, *layer.parameters()]
    targets = torch.arange(NUM_CONTEXTS) * 2
    gradients = [
        torch.autograd.grad(torch.nn.functional.cross_entropy(scores, targets), inputs) for scores in (actual, expected)
    ]
    torch.testing.assert_close(*gradients)


def test_logits_give_tuned_codes_their_gradient() -> None:
    layer = make_layer("own bias", tune_codes=True)
    assert isinstance(layer, CodedOutput)
    h = make_contexts()
    values = layer.codes.values
    (through_logits,) = torch.autograd.grad(layer.logits(h).pow(2).sum(), values)
    weights, biases = layer.weights_and_biases(torch.arange(NUM_WORDS))
    (through_words,) = torch.autograd.grad((h @ weights.t() + biases).pow(2).sum(), values)
    torch.testing.assert_close(through_logits, through_words)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1.0, 1000.0])
@pytest.mark.usefixtures("small_chunks")
def test_normalised_probabilities(kind: str, scale: float) -> None:
    layer = make_layer(kind)
    h = scale * make_contexts()
    weights, biases = dense_weights(layer)
    expected = torch.log_softmax(h @ weights.t() + biases, dim=1)
    targets = torch.arange(NUM_CONTEXTS) * 2
    torch.testing.assert_close(layer.log_probs_of(h, targets), expected[torch.arange(NUM_CONTEXTS), targets])
    torch.testing.assert_close(layer.log_probs(h), expected)
    torch.testing.assert_close(layer.log_normaliser(h), torch.logsumexp(h @ weights.t() + biases, dim=1))
    everything = layer.log_probs_of(h.repeat_interleave(NUM_WORDS, 0), torch.arange(NUM_WORDS).repeat(NUM_CONTEXTS))
    torch.testing.assert_close(everything.view(NUM_CONTEXTS, -1).exp().sum(1), torch.ones(NUM_CONTEXTS).double())


class LargestTensor(TorchDispatchMode):
    """Remembers the largest tensor that any operation returned."""

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not func.is_view:
            self.numel = max(self.numel, result.numel())
        return result


@pytest.mark.parametrize("kind", ["dense", "coded"])
def test_memory_does_not_grow_with_the_vocabulary(kind: str) -> None:
    largest = []
    for num_words in (9_000, 15_000):
        layer: DenseOutput | CodedOutput = DenseOutput(num_words, SIZE)
        if kind == "coded":
            layer = CodedOutput(make_codes(num_words, 50), SIZE, coded_bias=False)
        with LargestTensor() as mode:
            layer.log_probs_of(torch.randn(300, SIZE), torch.arange(300))
        largest.append(mode.numel)
    assert largest[0] == largest[1] <= streaming.SCORES_PER_CHUNK


def test_coded_bias_starts_at_the_least_squares_fit() -> None:
    layer = make_layer("coded bias")
    log_unigram = torch.log_softmax(-torch.arange(NUM_WORDS).double().add(2).log(), dim=0)
    layer.start_bias(log_unigram)
    matrix = torch.from_numpy(make_codes().to_csr().toarray()).double()
    residual = matrix @ layer.bias.detach() - log_unigram
    assert residual.norm() > 0.1
    # Where the weighted squared error is least, its gradient vanishes.
    torch.testing.assert_close(
        matrix.t() @ (log_unigram.exp() * residual), torch.zeros(BASE_SIZE).double(), rtol=0, atol=1e-8
    )


@pytest.mark.parametrize("kind", KINDS)
def test_impossible_words_are_refused_as_a_start(kind: str) -> None:
    with pytest.raises(ValueError, match="not all finite"):
        make_layer(kind).start_bias(torch.full((NUM_WORDS,), -torch.inf))


@pytest.mark.parametrize("kind", ["dense", "own bias"])
def test_other_biases_start_at_the_given_values(kind: str) -> None:
    layer = make_layer(kind)
    log_unigram = torch.log_softmax(-torch.arange(NUM_WORDS).double(), dim=0)
    layer.start_bias(log_unigram)
    assert torch.equal(layer.bias.detach(), log_unigram)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_gradients_hold_only_the_rows_of_the_batch(kind: str) -> None:
    settings = {"sparse": True} if kind == "dense" else {"sparse": True, "sparse_base": True}
    layer, plain = make_layer(kind, **settings), make_layer(kind)
    ids = torch.tensor([21, 0, 7])
    for each in (layer, plain):
        weights, biases = each.weights_and_biases(ids)
        (weights.pow(2).sum() + biases.pow(2).sum()).backward()
    for sparse, dense in zip(layer.parameters(), plain.parameters(), strict=True):
        assert sparse.grad is not None
        assert sparse.grad.is_sparse
        rows = sparse.grad.coalesce().indices()[0]
        assert dense.grad is not None
        untouched = torch.ones(len(dense), dtype=torch.bool)
        untouched[rows] = False
        assert untouched.any()
        assert not dense.grad[untouched].any()
        torch.testing.assert_close(sparse.grad.to_dense(), dense.grad)


def test_sparse_is_for_what_grows_with_the_vocabulary() -> None:
    layer = make_layer("own bias", sparse=True, tune_codes=True)
    weights, biases = layer.weights_and_biases(torch.tensor([21, 0, 7]))
    (weights.sum() + biases.sum()).backward()
    sparse = {name for name, each in layer.named_parameters() if each.grad is not None and each.grad.is_sparse}
    assert sparse == {"bias", "codes.values"}


@pytest.mark.parametrize("kind", KINDS)
def test_state_restores_the_layer_to_the_bit(kind: str) -> None:
    layer, other = make_layer(kind), make_layer(kind)
    for parameter in other.parameters():
        torch.nn.init.zeros_(parameter)
    h = make_contexts()
    assert not torch.equal(other.logits(h), layer.logits(h))
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other.logits(h), layer.logits(h))
