"""Sparse codes with values of 8 bits: value = level * scale, with one scale per word and levels 1 to 255.

The largest value of a word has level 255, so a value is off by at most half a scale, which is 0.2 % of the word's
largest value; a value below half a scale is kept at level 1, so that no word of a code vanishes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.sparse_codes import SparseCodes, check_layout
from fewwords.errors import InputError

LARGEST_LEVEL = 255


@dataclass(frozen=True, eq=False)
class QuantisedCodes:
    """Sparse codes as `SparseCodes` holds them, but with `levels` uint8 [non-zeros] and `scales` [num_rare].

    `max_error` is the largest absolute error of a value, `relative_error` the root of the summed squared errors
    over the summed squared values.
    """

    offsets: NDArray[np.int64]
    indices: NDArray[np.uint16] | NDArray[np.int32]
    levels: NDArray[np.uint8]
    scales: NDArray[np.float32]
    num_base: int
    max_error: float
    relative_error: float
    made_from: dict[str, Any]

    def __post_init__(self) -> None:
        check_layout(self.offsets, self.indices, self.num_base)
        if self.levels.dtype != np.uint8 or self.levels.shape != self.indices.shape or not self.levels.all():
            raise InputError("quantised codes: levels are one uint8 from 1 to 255 for each index")
        if self.scales.shape != (len(self.offsets) - 1,) or not (self.scales > 0).all():
            raise InputError("quantised codes: scales are one positive number for each rare word")

    @classmethod
    def from_codes(cls, codes: SparseCodes) -> "QuantisedCodes":
        """Round each value to the nearest level of its word."""
        lengths = np.diff(codes.offsets)
        largest = np.maximum.reduceat(codes.values, codes.offsets[:-1]) if codes.num_rare else codes.values
        # The smallest float32 keeps the scale of a word of tiny values from rounding to zero.
        scales = np.maximum(largest / LARGEST_LEVEL, np.finfo(np.float32).smallest_subnormal).astype(np.float32)
        levels = np.clip(np.rint(codes.values / np.repeat(scales, lengths)), 1, LARGEST_LEVEL).astype(np.uint8)
        errors = (levels * np.repeat(scales, lengths)).astype(np.float64) - codes.values
        size = float(np.sqrt(np.square(codes.values, dtype=np.float64).sum()))
        return cls(
            codes.offsets,
            codes.indices,
            levels,
            scales,
            codes.num_base,
            max_error=float(np.abs(errors).max(initial=0.0)),
            relative_error=float(np.sqrt(np.square(errors).sum())) / size if size else 0.0,
            made_from=codes.made_from,
        )

    @property
    def num_bytes(self) -> int:
        """What the arrays take in memory."""
        return self.offsets.nbytes + self.indices.nbytes + self.levels.nbytes + self.scales.nbytes

    def dequantise(self) -> SparseCodes:
        """The codes with float32 values again, as near to the original as 8 bits allow."""
        values = self.levels * np.repeat(self.scales, np.diff(self.offsets))
        return SparseCodes(self.offsets, self.indices, values.astype(np.float32), self.num_base, self.made_from)
