"""Matrices of weights, as numbers or quantised, for two uses: some rows, and the product with some vectors.

A quantised value is level * scale, with one scale for each group of consecutive columns of a row. Levels have 8 bits
(int8), or 4: a byte [i, j] then holds the level of row i in its lower half and that of row i + half in its upper, each
plus 8, where half is the number of rows divided by two, rounded up. So a block of bytes widens to two blocks of whole
rows. The levels stay as they are, perhaps mapped from a file, and a product widens a block at a time that fits the
cache. On one core a product with one vector takes 1.5 times as long as with float32 in 8 bits, and 2.5 times in 4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]

BLOCK_VALUES = 1 << 17  # that are widened at a time
FEW_VECTORS = 4
NIBBLE_ZERO = 8


class Matrix(Protocol):
    """Weights [num_rows, num_columns]."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def rows(self, ids: Ids) -> Floats:
        """Some rows, [ids, num_columns]."""

    def times(self, vectors: Floats) -> Floats:
        """The products of all rows with vectors [n, num_columns]: [num_rows, n]."""


@dataclass(frozen=True, eq=False)
class FloatMatrix:
    """Weights as numbers."""

    values: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    def rows(self, ids: Ids) -> Floats:
        """Some rows, [ids, num_columns]."""
        return self.values[ids]

    def times(self, vectors: Floats) -> Floats:
        """The products of all rows with vectors [n, num_columns]: [num_rows, n]."""
        products: Floats = self.values @ vectors.T
        return products


@dataclass(frozen=True, eq=False)
class QuantisedMatrix:
    """Weights in 8 bits, `levels` int8 [num_rows, columns], or in 4, uint8 [half of them, columns]; `scales` [num_rows, groups]."""

    levels: NDArray[np.int8] | NDArray[np.uint8]
    scales: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.scales.shape[0], self.levels.shape[1]

    @property
    def bits(self) -> int:
        """The bits of a level."""
        return 8 if self.levels.dtype == np.int8 else 4

    def rows(self, ids: Ids) -> Floats:
        """Some rows, [ids, num_columns]."""
        half = len(self.levels)
        levels = self.levels[ids % half]
        if self.bits == 4:
            levels = np.where((ids < half)[:, None], levels & 15, levels >> 4)
        return _scaled(levels.astype(np.float32) - self._zero, self.scales[ids])

    def times(self, vectors: Floats) -> Floats:
        """The products of all rows with vectors [n, num_columns]: [num_rows, n]."""
        num_rows, groups = self.scales.shape
        if len(vectors) <= FEW_VECTORS:
            # each group by itself, and the scales last: there are fewer sums of groups than weights
            apart = self._apart(vectors)
            sums = np.empty((num_rows, apart.shape[1]), np.float32)
            for rows, wide in self._blocks():
                np.matmul(wide, apart, out=sums[rows])
            sums -= self._zero * apart.sum(0)
            return np.asarray(np.einsum("rgn,rg->rn", sums.reshape(num_rows, groups, -1), self.scales))
        products = np.empty((num_rows, len(vectors)), np.float32)
        for rows, wide in self._blocks():
            wide -= self._zero
            np.matmul(_scaled(wide, self.scales[rows]), vectors.T, out=products[rows])
        return products

    @property
    def _zero(self) -> int:
        """What stands for zero among the levels as they are stored."""
        return 0 if self.bits == 8 else NIBBLE_ZERO

    def _apart(self, vectors: Floats) -> Floats:
        """Vectors as columns [num_columns, groups * n], each with its values of one group only."""
        groups, columns = self.scales.shape[1], self.levels.shape[1]
        apart = np.zeros((columns, groups, len(vectors)), np.float32)
        column = np.arange(columns)
        apart[column, column * groups // columns] = vectors.T
        return apart.reshape(columns, -1)

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Rows and their levels as they are stored, in float32 that the next block uses again."""
        num_rows, columns = self.shape
        half, step = len(self.levels), max(1, BLOCK_VALUES // columns)
        wide = np.empty((step, columns), np.float32)
        nibbles = np.empty((step, columns), np.uint8)
        for first in range(0, half, step):
            levels = self.levels[first : first + step]
            if self.bits == 8:
                np.copyto(wide[: len(levels)], levels)
                yield slice(first, first + len(levels)), wide[: len(levels)]
                continue
            for start, operation, operand in ((first, np.bitwise_and, 15), (half + first, np.right_shift, 4)):
                rows = slice(start, min(start + len(levels), num_rows))
                count = rows.stop - rows.start  # one less in the last upper half, if the number of rows is odd
                operation(levels[:count], operand, out=nibbles[:count])
                np.copyto(wide[:count], nibbles[:count])
                yield rows, wide[:count]


@dataclass(frozen=True, eq=False)
class SplitMatrix:
    """The first rows in one matrix, which has more bits for them, and the others in another."""

    head: Matrix
    tail: Matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.head.shape[0] + self.tail.shape[0], self.head.shape[1]

    def rows(self, ids: Ids) -> Floats:
        """Some rows, [ids, num_columns]."""
        num_head = self.head.shape[0]
        first = ids < num_head
        found = np.empty((len(ids), self.shape[1]), np.float32)
        found[first], found[~first] = self.head.rows(ids[first]), self.tail.rows(ids[~first] - num_head)
        return found

    def times(self, vectors: Floats) -> Floats:
        """The products of all rows with vectors [n, num_columns]: [num_rows, n]."""
        return np.concatenate([self.head.times(vectors), self.tail.times(vectors)])


def _scaled(wide: Floats, scales: Floats) -> Floats:
    """Levels [rows, columns] times their scales [rows, groups], in place."""
    groups = scales.shape[1]
    grouped = wide.reshape(len(wide), groups, wide.shape[1] // groups)
    grouped *= scales[:, :, None]
    return grouped.reshape(wide.shape)


def store_levels(levels: NDArray[np.int64], bits: int) -> NDArray[np.int8] | NDArray[np.uint8]:
    """Levels [num_rows, columns] as a matrix stores them: -127 to 127 in 8 bits, -8 to 7 in 4."""
    if bits == 8:
        return levels.astype(np.int8)
    half = -(-len(levels) // 2)
    nibbles = np.full((2 * half, levels.shape[1]), NIBBLE_ZERO, np.uint8)
    nibbles[: len(levels)] = levels + NIBBLE_ZERO
    return nibbles[:half] | nibbles[half:] << 4


def all_rows(matrix: Matrix) -> Floats:
    """The whole matrix as numbers."""
    return matrix.rows(np.arange(matrix.shape[0]))
