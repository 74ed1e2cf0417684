"""The sparse codes of a vocabulary: for each rare word, a few base words and their weights (section 3.1).

Rows 0 to num_base - 1 are the base words, special words included. Each codes itself, one-hot, and is not stored; the
codes of the rare words follow one another in `indices` and `values`, ascending by index within a word.
On disk: one file with the three arrays, num_base, and what the codes were made from.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.store.arrays import ArrayFile

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    from fewwords.codes.quantised_codes import QuantisedCodes

LARGEST_16_BIT_BASE = 65_536
LARGEST_VALUE = 1e8  # most are around 1, and sums of products with them must stay finite
_FILE = ArrayFile("codes", ("offsets", "indices", "values"), {"num_base": int, "made_from": dict[str, Any]})

# A block of rare words: base rows [n, K], values [n, K], and how many of the K are used [n].
CodedBlock = tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]


def index_type(num_base: int) -> type[np.uint16] | type[np.int32]:
    """The narrowest type for the indices of a base."""
    return np.uint16 if num_base <= LARGEST_16_BIT_BASE else np.int32


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """One code per word: `offsets` [num_rare + 1] into `indices` and `values` [non-zeros] of the rare words.

    `made_from` holds settings and hashes, for the record. Raises InputError when the arrays do not fit together.
    """

    offsets: NDArray[np.int64]
    indices: NDArray[np.uint16] | NDArray[np.int32]
    values: NDArray[np.float32]
    num_base: int
    made_from: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_layout(self.offsets, self.indices, self.num_base)
        if self.values.dtype != np.float32 or self.values.shape != self.indices.shape:
            raise InputError("codes: values and indices do not have the same length, or the values are not float32")
        if not ((self.values > 0) & (self.values <= LARGEST_VALUE)).all():  # NaN is not
            raise InputError(f"codes: a value is NaN, negative, zero, or above {LARGEST_VALUE:,.0f}")

    @property
    def num_rare(self) -> int:
        """The number of words that are coded."""
        return len(self.offsets) - 1

    @property
    def num_words(self) -> int:
        """The number of words, base words included."""
        return self.num_base + self.num_rare

    @property
    def nonzeros_per_rare_word(self) -> float:
        """The mean number of base words in a code."""
        return len(self.values) / max(1, self.num_rare)

    @property
    def num_values(self) -> int:
        """The numbers stored, an index and a value per non-zero, as the paper counts."""
        return 2 * len(self.values)

    @property
    def num_bytes(self) -> int:
        """What the arrays take in memory."""
        return self.offsets.nbytes + self.indices.nbytes + self.values.nbytes

    def row(self, word: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The base words and weights of one word; a base word is itself, once."""
        if not 0 <= word < self.num_words:
            raise IndexError(f"word {word} of {self.num_words}")
        if word < self.num_base:
            return np.array([word], np.int64), np.ones(1, np.float32)
        rare = word - self.num_base
        part = slice(self.offsets[rare], self.offsets[rare + 1])
        return self.indices[part].astype(np.int64), self.values[part].copy()

    def to_csr(self) -> "csr_array":
        """All codes as a scipy matrix [num_words, num_base], the identity of the base words included."""
        from scipy.sparse import csr_array

        own = np.arange(self.num_base)
        data = np.concatenate([np.ones(self.num_base, np.float32), self.values])
        columns = np.concatenate([own, self.indices.astype(np.int64)])
        starts = np.concatenate([own, self.num_base + self.offsets])
        return csr_array((data, columns, starts), shape=(self.num_words, self.num_base))

    @classmethod
    def from_csr(cls, matrix: "csr_array", made_from: dict[str, Any] | None = None) -> "SparseCodes":
        """The codes in a scipy matrix [num_words, num_base] whose first num_base rows are the identity."""
        from scipy.sparse import csr_array

        rows = csr_array(matrix, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        num_words, num_base = rows.shape
        own = np.arange(num_base)
        starts = rows.indptr.astype(np.int64)
        if num_words < num_base or not (
            np.array_equal(starts[: num_base + 1], np.arange(num_base + 1))
            and np.array_equal(rows.indices[:num_base], own)
            and (rows.data[:num_base] == 1).all()
        ):
            raise InputError(f"codes: the first {num_base} rows of the matrix are not the identity of the base words")
        indices = rows.indices[num_base:].astype(index_type(num_base))
        values = rows.data[num_base:].astype(np.float32)
        return cls(starts[num_base:] - num_base, indices, values, num_base, made_from or {})

    def quantise(self) -> "QuantisedCodes":
        """The same codes with values of 8 bits and one scale per word."""
        from fewwords.codes.quantised_codes import QuantisedCodes

        return QuantisedCodes.from_codes(self)

    def save(self, path: Path) -> None:
        """Write `path`, which ends in .safetensors."""
        arrays = {"offsets": self.offsets, "indices": self.indices, "values": self.values}
        _FILE.save(path, arrays, {"num_base": self.num_base, "made_from": self.made_from})

    @classmethod
    def load(cls, path: Path) -> "SparseCodes":
        """Read what `save` wrote; raises InputError naming the file when it is missing, damaged or changed."""
        return _FILE.load(path, lambda arrays, facts: cls(**{**arrays, **facts}), "make the codes again")


def check_layout(offsets: NDArray[Any], indices: NDArray[Any], num_base: int) -> None:
    """Reject offsets and indices that are not one non-empty, ascending code per rare word over the base."""
    if num_base < 1:
        raise InputError(f"codes: {num_base} base words: give at least 1")
    if indices.ndim != 1 or indices.dtype != index_type(num_base):
        raise InputError(f"codes: indices over a base of {num_base} are a list of {index_type(num_base).__name__}")
    if offsets.ndim != 1 or offsets.dtype != np.int64 or len(offsets) == 0:
        raise InputError("codes: offsets are a list of int64, one more than there are rare words")
    if offsets[0] != 0 or offsets[-1] != len(indices) or (np.diff(offsets) < 0).any():
        raise InputError("codes: the offsets do not rise from 0 to the number of non-zeros")
    empty = np.diff(offsets) == 0
    if empty.any():
        raise InputError(f"codes: word {num_base + int(empty.argmax())} has an empty code")
    if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= num_base):
        raise InputError(f"codes: an index lies outside the base of {num_base} words")
    rises = np.diff(indices.astype(np.int64)) > 0
    rises[offsets[1:-1] - 1] = True
    if not rises.all():
        raise InputError("codes: the indices of a word do not ascend, or one is repeated")


def pack_codes(blocks: Iterable[CodedBlock], num_base: int, made_from: dict[str, Any]) -> SparseCodes:
    """The codes in blocks of rare words, one after another; each block is packed before the next is requested."""
    indices, values, counts = [], [], [np.zeros(1, np.int64)]
    for block_indices, block_values, block_counts in blocks:
        used = np.arange(block_indices.shape[1]) < block_counts[:, None]
        order = np.argsort(np.where(used, block_indices, num_base), axis=1, kind="stable")
        indices.append(np.take_along_axis(block_indices, order, axis=1)[used].astype(index_type(num_base)))
        values.append(np.take_along_axis(block_values, order, axis=1)[used])
        counts.append(block_counts)
    offsets = np.cumsum(np.concatenate(counts))
    return SparseCodes(offsets, np.concatenate(indices), np.concatenate(values), num_base, made_from)
