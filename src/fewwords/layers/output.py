"""Scores of next words, s(h, w) = W_w . h + b_w (equation 2), dense or coded (section 3.3).

`CodedOutput` has only the weights D of the base words, and W_w = D x_w. All scores are D h, one matrix product over the
base words, and then the codes' sparse product: the V x C matrix W is never built. Biases are one per word, or coded too
(b_w = c . x_w). Gradients of all scores come from `logits`; `log_normaliser`, `log_probs_of` and `log_probs` record
none.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.layers import streaming
from fewwords.layers.code_table import RARE_CONTEXTS, CodeTable, as_code_table
from fewwords.layers.embedding import start_table
from fewwords.layers.row_sums import sum_rows, take_rows


class OutputLayer(Protocol):
    """What losses and evaluation need from an output layer."""

    num_words: int

    def weights_and_biases(self, ids: Tensor) -> tuple[Tensor, Tensor]: ...

    def logits(self, h: Tensor) -> Tensor: ...

    def log_normaliser(self, h: Tensor) -> Tensor: ...

    def log_probs_of(self, h: Tensor, targets: Tensor) -> Tensor: ...

    def log_probs(self, h: Tensor) -> Tensor: ...

    def start_bias(self, log_unigram: Tensor) -> None: ...


class NormalisedOutput(nn.Module, ABC):
    """An output layer that has its scores in chunks, and from them probabilities over all words."""

    num_words: int
    bias: nn.Parameter

    @abstractmethod
    def weights_and_biases(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The weights [n, size] and biases [n] of the words `ids` [n]."""

    @abstractmethod
    def score_chunks(self, h: Tensor) -> Iterator[tuple[int, Tensor]]:
        """The scores of contexts h [N, size] without gradients: the first word of a chunk and its scores [words, N]."""

    def log_normaliser(self, h: Tensor) -> Tensor:
        """ln Z(h) [N] for contexts h [N, size]."""
        return streaming.log_normaliser(self, h)

    def log_probs_of(self, h: Tensor, targets: Tensor) -> Tensor:
        """ln p(target|h) [N] for contexts h [N, size] and targets [N]."""
        return streaming.log_probs_of(self, h, targets)

    def log_probs(self, h: Tensor) -> Tensor:
        """ln p(w|h) [N, num_words] of all words for contexts h [N, size]."""
        return streaming.log_probs(self, h)

    def log_sums(self, h: Tensor) -> Iterator[Tensor]:
        """ln sum_w exp(s(h, w)) [N] of contexts h [N, size] over some words w at a time, until each was in one."""
        return (streaming.consume_log_sum(scores) for _, scores in self.score_chunks(h))

    @torch.no_grad()
    def start_bias(self, log_unigram: Tensor) -> None:
        """Start the biases at the given log-probabilities [num_words]."""
        _check_finite(log_unigram)
        self.bias.copy_(log_unigram)


class DenseOutput(NormalisedOutput):
    """Weights of `size` values and a bias for each of `num_words` words."""

    def __init__(self, num_words: int, size: int, *, weight: nn.Parameter | None = None, sparse: bool = False) -> None:
        super().__init__()
        self.num_words, self.size, self.sparse = num_words, size, sparse
        self.weight = start_table(num_words, size, weight)
        self.bias = nn.Parameter(torch.zeros(num_words))

    def weights_and_biases(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The weights [n, size] and biases [n] of the words `ids` [n]."""
        return take_rows(self.weight, ids, sparse=self.sparse), take_rows(self.bias, ids, sparse=self.sparse)

    def logits(self, h: Tensor) -> Tensor:
        """The scores [N, num_words] of contexts h [N, size]."""
        return torch.addmm(self.bias, h, self.weight.t())

    @torch.no_grad()
    def score_chunks(self, h: Tensor) -> Iterator[tuple[int, Tensor]]:
        """The scores of contexts h [N, size] without gradients: the first word of a chunk and its scores [words, N]."""
        step = streaming.words_per_chunk(len(h))
        for first in range(0, self.num_words, step):
            words = slice(first, first + step)
            yield first, torch.addmm(self.bias[words, None], self.weight[words], h.t())


class CodedOutput(NormalisedOutput):
    """Weights of `size` values for the base words, and codes that combine them for all others.

    With `coded_bias` the biases are combined in the same way, otherwise each word has its own. With `tune_codes` the
    values of the codes are trained; call `project_codes` after each step to keep them >= 0. `sparse` gives sparse
    gradients for what grows with the vocabulary, biases of single words and tuned values; `sparse_base` for the base's
    weights and biases too, which pays only if the base is much larger than the words of a batch.
    """

    def __init__(
        self,
        codes: SparseCodes | CodeTable,
        size: int,
        *,
        coded_bias: bool,
        tune_codes: bool = False,
        base: nn.Parameter | None = None,
        sparse: bool = False,
        sparse_base: bool = False,
    ) -> None:
        super().__init__()
        self.codes = as_code_table(codes, tune=tune_codes, sparse=sparse)
        self.num_words, self.size, self.coded_bias = self.codes.num_words, size, coded_bias
        self.sparse, self.sparse_base = sparse, sparse_base
        self.base = start_table(self.codes.num_base, size, base)
        self.bias = nn.Parameter(torch.zeros(self.codes.num_base if coded_bias else self.num_words))

    def weights_and_biases(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The weights [n, size] and biases [n] of the words `ids` [n]."""
        entries = self.codes.entries_of(ids)
        weights = sum_rows(self.base, *entries, sparse=self.sparse_base)
        if self.coded_bias:
            return weights, sum_rows(self.bias, *entries, sparse=self.sparse_base)
        return weights, take_rows(self.bias, ids, sparse=self.sparse)

    def logits(self, h: Tensor) -> Tensor:
        """The scores [N, num_words] of contexts h [N, size]; the memory layout is word by word."""
        if not torch.is_grad_enabled():
            scores = h.new_empty(self.num_words, len(h))
            for first, chunk in self.score_chunks(h):
                scores[first : first + len(chunk)] = chunk
            return scores.t()
        base_scores = self._base_scores(h)
        scores = torch.cat([base_scores, self.codes.combine_rare(base_scores)])
        # In place, because another [num_words, N] would double the memory.
        return scores.t() if self.coded_bias else scores.add_(self.bias[:, None]).t()

    @torch.no_grad()
    def score_chunks(self, h: Tensor) -> Iterator[tuple[int, Tensor]]:
        """The scores of contexts h [N, size] without gradients: the first word of a chunk and its scores [words, N]."""
        base_scores = self._base_scores(h)
        for first, scores in self.codes.rare_chunks(base_scores):
            yield first, scores if self.coded_bias else scores.add_(self.bias[first : first + len(scores), None])
        # Last, because the rare words' scores are made from the base words' scores without their bias.
        yield 0, base_scores if self.coded_bias else base_scores.add_(self.bias[: len(base_scores), None])

    @torch.no_grad()
    def log_sums(self, h: Tensor) -> Iterator[Tensor]:
        """ln sum_w exp(s(h, w)) [N] of contexts h [N, size] over some words w at a time, until each was in one."""
        if not streaming.use_compiled(h):
            yield from (streaming.consume_log_sum(scores) for _, scores in self.score_chunks(h))
            return
        padded = functional.pad(h, (0, 0, 0, -len(h) % RARE_CONTEXTS))
        yield torch.cat([self._block_log_sum(block) for block in torch.split(padded, RARE_CONTEXTS)])[: len(h)]

    def _block_log_sum(self, h: Tensor) -> Tensor:
        """ln Z(h) [RARE_CONTEXTS] of one block of contexts, by compiled loops."""
        base_scores = self._base_scores(h)
        sums = self.codes.rare_log_sums(base_scores, None if self.coded_bias else self.bias)
        if not self.coded_bias:
            base_scores.add_(self.bias[: len(base_scores), None])
        return torch.stack([*sums, streaming.consume_log_sum(base_scores)]).logsumexp(0)

    @torch.no_grad()
    def start_bias(self, log_unigram: Tensor) -> None:
        """Start the biases at the given log-probabilities [num_words], coded ones at their least-squares fit."""
        _check_finite(log_unigram)
        self.bias.copy_(self._fit_base_biases(log_unigram) if self.coded_bias else log_unigram)

    def project_codes(self) -> None:
        """Set negative code values to zero."""
        self.codes.project()

    def _base_scores(self, h: Tensor) -> Tensor:
        """The base words' scores [num_base, N]; coded biases are in them, because the codes combine both alike."""
        if self.coded_bias:
            return torch.addmm(self.bias[:, None], self.base, h.t())
        return self.base @ h.t()

    def _fit_base_biases(self, log_unigram: Tensor) -> Tensor:
        """The c with the least squared error of c . x_w against log_unigram [num_words], weighted by probability.

        To second order that is the divergence of the unigram distribution from the one that the biases give.
        Unweighted, the many rare words would pull down the few frequent base words.
        """
        from scipy.sparse.linalg import lsqr  # type: ignore[import-untyped]

        wanted = log_unigram.double().cpu().numpy()
        root = np.exp(wanted / 2)
        codes = self.codes.to_csr()
        codes.data *= np.repeat(root, np.diff(codes.indptr))
        solution = lsqr(codes, root * wanted, atol=1e-10, btol=1e-10)[0]
        return torch.from_numpy(solution).to(self.bias)


def _check_finite(log_unigram: Tensor) -> None:
    """Raise ValueError unless all log-probabilities are finite."""
    if not log_unigram.isfinite().all():
        raise ValueError("the log-probabilities to start from are not all finite; give every word a small probability")
