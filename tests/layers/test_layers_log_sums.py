"""The compiled log-sums against torch's logsumexp in float64."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.layers import CodedOutput, DenseOutput, streaming
from fewwords.layers.code_table import RARE_CONTEXTS
from fewwords.layers.log_sums import TILE, WIDTH, log_sum

NUM_WORDS, BASE_SIZE, SIZE = 203, 20, 12
NUM_CONTEXTS = streaming.CONTEXTS_PER_CHUNK + streaming.LEAST_COMPILED_CONTEXTS + 1


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def make_layer(kind: str) -> DenseOutput | CodedOutput:
    torch.manual_seed(0)
    if kind == "dense":
        layer: DenseOutput | CodedOutput = DenseOutput(NUM_WORDS, SIZE)
    else:
        random = np.random.default_rng(0)
        rare = random.random((NUM_WORDS - BASE_SIZE, BASE_SIZE))
        rare[rare > 0.3] = 0  # from one entry to more than ten
        rare[:, 2] += 0.1
        codes = SparseCodes.from_csr(csr_array(np.vstack([np.eye(BASE_SIZE), rare]).astype(np.float32)))
        layer = CodedOutput(codes, SIZE, coded_bias=kind == "coded bias")
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    return layer


@pytest.mark.parametrize("kind", ["dense", "own bias", "coded bias"])
@pytest.mark.parametrize("scale", [0.0, 1.0, 300.0])
@pytest.mark.usefixtures("threads")
def test_log_normaliser(kind: str, scale: float) -> None:
    layer = make_layer(kind)
    h = scale * torch.randn(NUM_CONTEXTS, SIZE)
    found, log_probs = layer.log_normaliser(h), layer.log_probs(h)
    with torch.no_grad():
        scores = layer.double().logits(h.double())
    # Scores of some thousands have themselves only seven digits in float32.
    torch.testing.assert_close(found.double(), scores.logsumexp(1), rtol=1e-6, atol=1e-5)
    torch.testing.assert_close(log_probs.double(), scores.log_softmax(1), rtol=1e-6, atol=2e-5 * max(1, scale))


def test_the_compiled_loops_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, h = make_layer("own bias"), torch.randn(NUM_CONTEXTS, SIZE)
    compiled = layer.log_normaliser(h)
    monkeypatch.setattr(streaming, "LEAST_COMPILED_CONTEXTS", len(h) + 1)
    by_torch = layer.log_normaliser(h)
    assert not torch.equal(compiled, by_torch)
    torch.testing.assert_close(compiled, by_torch)


@pytest.mark.parametrize("num_words", [1, int(TILE), int(TILE) + 1, 100_000])
def test_sums_of_any_length(num_words: int) -> None:
    scores = np.random.default_rng(1).normal(scale=5, size=(num_words, 3)).astype(np.float32)
    expected = np.logaddexp.reduce(scores.astype(np.float64), axis=0)
    np.testing.assert_allclose(log_sum(scores.reshape(-1), 3), expected, rtol=0, atol=1e-6)


def test_rising_falling_and_impossible_scores() -> None:
    steps = np.linspace(-2000, 2000, 1001, dtype=np.float32)
    impossible = np.full_like(steps, -np.inf)
    impossible[500] = 3
    scores = np.stack([steps, steps[::-1], impossible], axis=1)
    expected = np.logaddexp.reduce(scores.astype(np.float64), axis=0)
    np.testing.assert_allclose(log_sum(scores.reshape(-1), 3), expected, rtol=1e-6)


def test_nan_is_not_lost() -> None:
    scores = np.zeros((100, 3), np.float32)
    scores[70, 1] = np.nan
    np.testing.assert_array_equal(np.isnan(log_sum(scores.reshape(-1), 3)), [False, True, False])


def test_small_exponentials_keep_their_precision() -> None:
    # Two words each, 0 and x: the log-sum is ln(1 + e^x), and e^x must have seven digits.
    x = np.linspace(-12, 0, 4001, dtype=np.float32)
    found = np.expm1(log_sum(np.concatenate([np.zeros_like(x), x]), len(x)))
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=0, atol=4e-7)


def test_code_table_and_loop_agree_on_the_block() -> None:
    assert int(WIDTH) == RARE_CONTEXTS
