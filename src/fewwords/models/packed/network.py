"""The network of figure 1 in numpy: embedding, encoder and output, coded or dense, tied or not, in float32 or quantised.

The scores are those of `layers/output.py`: one product over the base words, and then the sparse product of the codes.
Scores lie word by word, [words, contexts], so that a code gathers whole rows of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewwords.models.neural.variants import ModelSettings, Storage
from fewwords.models.packed.codes import CodeRows
from fewwords.models.packed.encoders import Encoder
from fewwords.models.packed.matrix import FloatMatrix, Floats, Ids, Matrix

CONTEXTS_PER_CHUNK = 64


@dataclass(frozen=True, eq=False)
class Network:
    """What computes: `embedding` and `output` have a row for each word, or, with `codes`, for each base word.

    If they are tied, they are one and the same matrix. `bias` has one number for each word, or base word if coded.
    """

    settings: ModelSettings
    num_words: int
    embedding: Matrix
    encoder: Encoder
    output: Matrix
    bias: Floats
    codes: CodeRows | None

    def vectors(self, ids: Ids) -> Floats:
        """The vectors [..., size] of words [...]."""
        rows = self._rows(self.embedding, ids.reshape(-1), self.settings.embedding)
        return rows.reshape(*ids.shape, rows.shape[1])

    def log_probs(self, contexts: Floats) -> Floats:
        """ln p [num_words, n] of all words for contexts [n, size] (equation 1)."""
        found = np.empty((self.num_words, len(contexts)), np.float32)
        log_sums = []
        for first, scores in self._score_chunks(contexts):
            found[first : first + len(scores)] = scores
            log_sums.append(_consume_log_sum(scores))
        found -= _log_sum(log_sums)
        return found

    def log_probs_of(self, contexts: Floats, targets: Ids) -> NDArray[np.float64]:
        """ln p [n] of one target for each context [n, size]."""
        weights = self._rows(self.output, targets, self.settings.output)
        found: NDArray[np.float64] = np.einsum("ns,ns->n", weights, contexts).astype(np.float64)
        found += self._biases(targets)
        for first in range(0, len(contexts), CONTEXTS_PER_CHUNK):
            part = slice(first, first + CONTEXTS_PER_CHUNK)
            chunks = self._score_chunks(contexts[part])
            found[part] -= _log_sum([_consume_log_sum(scores) for _, scores in chunks])
        return found

    def _score_chunks(self, contexts: Floats) -> Iterator[tuple[int, Floats]]:
        """The scores of all words (equation 2), some words at a time: the first, and [words, n], which may be changed."""
        base_scores = self.output.times(contexts)
        coded = self.codes if self.settings.output == "coded" else None
        if self.settings.coded_bias:
            base_scores += self.bias[:, None]
        for first, scores in coded.rare_scores(base_scores) if coded else ():
            if not self.settings.coded_bias:
                scores += self.bias[first : first + len(scores), None]
            yield first, scores
        # Last, because the rare words' scores are made from the base words' scores without their bias.
        if not self.settings.coded_bias:
            base_scores += self.bias[: len(base_scores), None]
        yield 0, base_scores

    def _rows(self, table: Matrix, ids: Ids, storage: Storage) -> Floats:
        """The rows [n, columns] of words [n], combined by their codes if they are coded."""
        return self.codes.combine(table, ids) if storage == "coded" and self.codes else table.rows(ids)

    def _biases(self, ids: Ids) -> Floats:
        if self.settings.coded_bias and self.codes:
            return self.codes.combine(FloatMatrix(self.bias[:, None]), ids)[:, 0]
        return self.bias[ids]


def _consume_log_sum(scores: Floats) -> Floats:
    """ln sum_w exp(scores[w]) [n] of scores [words, n], overwriting them."""
    largest = scores.max(0)
    scores -= largest
    np.exp(scores, out=scores)
    # in float64, because 50,000 numbers of float32 one after another lose the fifth digit
    found: Floats = np.log(scores.sum(0, dtype=np.float64)).astype(np.float32) + largest
    return found


def _log_sum(log_sums: list[Floats]) -> Floats:
    """The log of the sum of numbers that are given by their logs, [chunks] of [n] each."""
    return _consume_log_sum(np.stack(log_sums))
