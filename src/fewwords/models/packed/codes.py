"""The sparse codes for a network without PyTorch: a table with a row for each rare word, padded to the longest code.

Padding has the value 0, and any index. All codes have much the same length, and rows of one length are read faster.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.models.packed.matrix import Floats, Ids, Matrix

BLOCK_VALUES = 1 << 16  # scores that are gathered at a time
FEW_CONTEXTS = 6


@dataclass(frozen=True, eq=False)
class CodeRows:
    """Base words [num_rare, longest] (uint16 where they fit) and their values, float32, 0 where a code is shorter."""

    indices: NDArray[np.uint16] | NDArray[np.int32]
    values: Floats
    num_base: int

    @classmethod
    def from_codes(cls, codes: SparseCodes) -> "CodeRows":
        """The codes of a folder."""
        lengths = np.diff(codes.offsets)
        longest = int(lengths.max(initial=1))
        return cls(pad(codes.indices, lengths, longest), pad(codes.values, lengths, longest), codes.num_base)

    @property
    def num_words(self) -> int:
        """All words, base words included."""
        return self.num_base + len(self.indices)

    @property
    def num_nonzeros(self) -> int:
        """All base words of all codes."""
        return int(np.count_nonzero(self.values))

    @cached_property
    def sparse_codes(self) -> SparseCodes:
        """The same codes, for explanations."""
        used = self.values > 0
        offsets = np.concatenate([[0], np.cumsum(used.sum(1))]).astype(np.int64)
        return SparseCodes(offsets, self.indices[used], self.values[used], self.num_base)

    def combine(self, table: Matrix, ids: Ids) -> Floats:
        """The rows [ids, columns] of words, each combined by its code from a table of base words."""
        rare = ids >= self.num_base
        if not rare.any():
            return table.rows(ids)
        found = np.empty((len(ids), table.shape[1]), np.float32)
        found[~rare] = table.rows(ids[~rare])
        indices, values = self.indices[ids[rare] - self.num_base], self.values[ids[rare] - self.num_base]
        parts = table.rows(indices.reshape(-1).astype(np.int64)).reshape(*indices.shape, -1)
        found[rare] = np.matmul(values[:, None], parts)[:, 0]
        return found

    def rare_scores(self, scores: Floats) -> Iterator[tuple[int, Floats]]:
        """The scores of rare words, combined from those of base words [num_base, n]: the first word and [words, n].

        They come in chunks, in memory that the next chunk uses again.
        """
        num_contexts, longest = scores.shape[1], self.indices.shape[1]
        if num_contexts <= FEW_CONTEXTS:
            yield self.num_base, self._few_scores(scores)
            return
        step = max(1, BLOCK_VALUES // (num_contexts * longest))
        gathered = np.empty((step, longest, num_contexts), np.float32)
        combined = np.empty((step, num_contexts), np.float32)
        for first in range(0, len(self.indices), step):
            indices, values = self.indices[first : first + step], self.values[first : first + step]
            part, found = gathered[: len(indices)], combined[: len(indices)]
            scores.take(indices, axis=0, out=part, mode="clip")  # the other modes make a copy first
            np.matmul(values[:, None], part, out=found[:, None])
            yield self.num_base + first, found

    def _few_scores(self, scores: Floats) -> Floats:
        """The scores of all rare words, [words, n], one context after another: short rows of scores take long to gather."""
        found = np.empty((len(self.indices), scores.shape[1]), np.float32)
        gathered, ones = np.empty(self.indices.shape, np.float32), np.ones(self.indices.shape[1], np.float32)
        for context in range(scores.shape[1]):
            np.ascontiguousarray(scores[:, context]).take(self.indices, out=gathered, mode="clip")
            # half the time of a sum of products in one call
            found[:, context] = np.multiply(self.values, gathered, out=gathered) @ ones
        return found


def pad(flat: NDArray[Any], lengths: NDArray[Any], longest: int) -> NDArray[Any]:
    """Rows of `lengths` [rows] values that follow one another as [rows, longest], with zeros behind them."""
    if flat.size == len(lengths) * longest:
        return flat.reshape(len(lengths), longest)
    used = np.arange(longest) < lengths[:, None]
    rows = np.zeros(used.shape, flat.dtype)
    rows[used] = flat
    return rows
