"""Word tables against the dense table of all their rows, each written out here by its own definition."""

import numpy as np
import pytest
import torch
from torch import Tensor

from fewwords.layers import streaming
from fewwords.layers.tables.adaptive import AdaptiveTable
from fewwords.layers.tables.hashed import HashedTable
from fewwords.layers.tables.layers import TableEmbedding, TableOutput
from fewwords.layers.tables.low_rank import LowRankTable
from fewwords.layers.tables.quotient import QuotientTable
from fewwords.layers.tables.word_table import WordTable

NUM_WORDS, SIZE, NUM_CONTEXTS = 23, 6, 9
KINDS = ["low-rank", "adaptive", "hashed", "three hashes", "product", "sum"]


def make_table(kind: str) -> WordTable:
    torch.manual_seed(1)
    tables = {
        "low-rank": lambda: LowRankTable(NUM_WORDS, SIZE, 2),
        "adaptive": lambda: AdaptiveTable(NUM_WORDS, SIZE, (4, 7), (SIZE, 3, 1)),
        "hashed": lambda: HashedTable(NUM_WORDS, SIZE, 5),
        "three hashes": lambda: HashedTable(NUM_WORDS, SIZE, 7, 3),
        "product": lambda: QuotientTable(NUM_WORDS, SIZE, 5),
        "sum": lambda: QuotientTable(NUM_WORDS, SIZE, 5, product=False),
    }
    table = tables[kind]().double()
    for parameter in table.parameters():
        torch.nn.init.normal_(parameter)
    return table


def dense_rows(table: WordTable) -> Tensor:
    """All rows by the definition of the table, word by word, with gradients."""
    if isinstance(table, LowRankTable):
        return table.factors if table.projection is None else table.factors @ table.projection
    if isinstance(table, AdaptiveTable):
        return torch.cat([dense_rows(band) for _, _, band in table.spans])
    if isinstance(table, HashedTable):
        places = table.places(torch.arange(NUM_WORDS))
        return torch.stack([table.weights[word] @ table.buckets[places[word]] for word in range(NUM_WORDS)])
    assert isinstance(table, QuotientTable)
    rows = []
    for word in range(NUM_WORDS):
        quotient, remainder = divmod(word, table.num_buckets)
        pair = (table.remainders[remainder], table.quotients[quotient])
        rows.append(pair[0] * pair[1] if table.product else pair[0] + pair[1])
    return torch.stack(rows)


def gradients(table: WordTable, loss: Tensor) -> list[Tensor]:
    table.zero_grad()
    loss.backward()
    found = [parameter.grad for parameter in table.parameters()]
    return [torch.zeros(0) if each is None else each.to_dense() for each in found]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_their_gradients_are_those_of_the_dense_table(kind: str) -> None:
    table = make_table(kind)
    ids = torch.tensor([[20, 0, 7], [20, 5, 22]])
    upstream = torch.randn(2, 3, SIZE, dtype=torch.float64)
    rows = TableEmbedding(table)(ids)
    torch.testing.assert_close(rows, dense_rows(table)[ids])
    torch.testing.assert_close(table.all_rows(), dense_rows(table))
    found = gradients(table, (rows * upstream).sum())
    wanted = gradients(table, (dense_rows(table)[ids] * upstream).sum())
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_dense_table(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "SCORES_PER_CHUNK", 20)
    monkeypatch.setattr(streaming, "CONTEXTS_PER_CHUNK", 4)
    output = TableOutput(make_table(kind)).double()
    torch.nn.init.normal_(output.bias)
    h = torch.randn(NUM_CONTEXTS, SIZE, dtype=torch.float64)
    wanted = h @ dense_rows(output.table).t() + output.bias
    torch.testing.assert_close(output.logits(h), wanted)
    torch.testing.assert_close(output.log_normaliser(h), wanted.logsumexp(1))
    torch.testing.assert_close(output.log_probs(h), wanted.log_softmax(1))
    torch.testing.assert_close(output.log_probs(h).exp().sum(1), torch.ones(NUM_CONTEXTS, dtype=torch.float64))
    targets = torch.arange(NUM_CONTEXTS)
    torch.testing.assert_close(
        output.log_probs_of(h, targets), wanted.log_softmax(1).gather(1, targets[:, None]).view(-1)
    )
    weights, biases = output.weights_and_biases(targets)
    torch.testing.assert_close((weights * h).sum(1) + biases, wanted.diagonal())


@pytest.mark.parametrize("kind", KINDS)
def test_what_grows_with_the_words_has_sparse_gradients(kind: str) -> None:
    output = TableOutput(make_table(kind))
    weights, biases = output.weights_and_biases(torch.tensor([3, 9]))
    (weights.sum() + biases.sum()).backward()
    for name, parameter in output.named_parameters():
        if len(parameter) == NUM_WORDS or ("bands" in name and "factors" in name):
            assert parameter.grad is not None, name
            assert parameter.grad.is_sparse, name


def test_the_most_frequent_words_have_a_bucket_each() -> None:
    table = HashedTable(NUM_WORDS, SIZE, 11)
    assert table.places(torch.arange(11))[:, 0].tolist() == list(range(11))
    rows = table.all_rows().detach()
    torch.testing.assert_close(rows[:11], table.buckets.detach())  # before training they have nothing else
    places = HashedTable(50_000, 1, 4_999).places(torch.arange(50_000))
    counts = np.bincount(places.reshape(-1).numpy(), minlength=4_999)
    assert counts.max() < 60  # 20 in the mean: no bucket is crowded


def weighted_error(table: WordTable, wanted: Tensor, weights: Tensor) -> float:
    return float((weights @ (table.all_rows().detach() - wanted).square()).sum())


@pytest.mark.parametrize("kind", ["low-rank", "adaptive"])
def test_the_start_from_vectors_is_the_truncated_svd(kind: str) -> None:
    table, wanted = make_table(kind), torch.randn(NUM_WORDS, SIZE, dtype=torch.float64)
    weights = torch.rand(NUM_WORDS, dtype=torch.float64) + 0.1
    table.start_from(wanted, weights)
    left = 0.0
    spans = table.spans if isinstance(table, AdaptiveTable) else [(0, NUM_WORDS, table)]
    for first, stop, band in spans:
        rows = wanted[first:stop] * weights[first:stop, None].sqrt()
        rank = band.factors.shape[1]
        left += float(np.square(np.linalg.svd(rows.numpy(), compute_uv=False)[rank:]).sum())
    assert weighted_error(table, wanted, weights) == pytest.approx(left)


@pytest.mark.parametrize("kind", ["hashed", "three hashes", "product", "sum"])
def test_the_start_from_vectors_is_a_stationary_point_of_least_squares(kind: str) -> None:
    table, wanted = make_table(kind), torch.randn(NUM_WORDS, SIZE, dtype=torch.float64)
    weights = torch.rand(NUM_WORDS, dtype=torch.float64) + 0.1

    def steepest() -> float:
        loss = (weights @ (table.all_rows() - wanted).square()).sum()
        return max(float(each.abs().max()) for each in gradients(table, loss))

    error, slope = weighted_error(table, wanted, weights), steepest()
    for _ in range(5):
        table.start_from(wanted, weights)
    assert weighted_error(table, wanted, weights) < error
    assert steepest() < 0.01 * slope
