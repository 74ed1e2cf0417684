"""The parts of a packed model as arrays, and back: a matrix, a vector, the codes. `describe` goes to the JSON of the file.

A scale is 2 ** ((lowest + step) / 8) with a step of a few bits, so no scale is ever zero, infinite or NaN.
A vector has blocks of 64 numbers, each lowest + level * step with levels of a few bits.
The base words of a code ascend, and what is stored are the gaps between them in Rice's code: their lower bits as they
are, the others in unary. The values of all codes are taken from one table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.sparse_codes import SparseCodes, index_type
from fewwords.errors import InputError
from fewwords.models.neural.weights import check_weights
from fewwords.models.packed.bits import MOST_BITS, pack, pack_unary, unpack, unpack_unary
from fewwords.models.packed.codes import CodeRows, pad
from fewwords.models.packed.matrix import Floats, QuantisedMatrix, store_levels

Arrays = Mapping[str, NDArray[Any]]
Facts = Mapping[str, Any]
Part = tuple[dict[str, NDArray[Any]], dict[str, int]]  # arrays by name, and the integers that describe them

STEPS_PER_OCTAVE = 8
LOWEST_STEP, HIGHEST_STEP = -64 * STEPS_PER_OCTAVE, 16 * STEPS_PER_OCTAVE
MOST_SCALE_BITS = 8
VECTOR_BLOCK = 64
LARGEST = 1e6  # of the values of codes; products with them stay finite
MOST_PADDING = 16  # times as many places in padded codes as non-zeros


@dataclass(frozen=True)
class Reader:
    """Arrays and integers of one part, each checked when it is taken."""

    arrays: Arrays
    facts: Facts
    part: str
    taken: set[str] = field(default_factory=set)  # the names of the arrays that were read

    def number(self, name: str, lowest: int, highest: int) -> int:
        """An integer within bounds."""
        value = self.facts.get(name)
        if type(value) is not int or not lowest <= value <= highest:
            raise InputError(f"{self.part}: {name!r} is not a number from {lowest} to {highest}")
        return value

    def array(self, name: str, kind: str, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
        """An array of a type and, unless None, of a shape; otherwise a list."""
        found = self.arrays.get(f"{self.part}.{name}")
        self.taken.add(f"{self.part}.{name}")
        wrong = found is None or found.dtype.str.lstrip("<|") != kind
        if found is None or wrong or (found.ndim != 1 if shape is None else found.shape != shape):
            raise InputError(f"{self.part}: its {name} are missing, or of another type or shape")
        return found


def matrix_part(levels: NDArray[np.int64], steps: NDArray[np.int64], bits: int) -> Part:
    """A matrix of levels [rows, columns], with the steps [rows, groups] of its scales, in eighths of an octave."""
    lowest = int(steps.min())
    width = max(1, int(steps.max() - lowest).bit_length())
    arrays = {"levels": store_levels(levels, bits), "scales": pack(steps - lowest, width)}
    return arrays, {"bits": bits, "groups": steps.shape[1], "lowest": lowest, "scale_bits": width}


def read_matrix(reader: Reader, shape: tuple[int, int]) -> QuantisedMatrix:
    """The matrix of a part, which must have this shape."""
    rows, columns = shape
    bits = reader.number("bits", 4, 8)
    groups = reader.number("groups", 1, columns)
    if bits not in (4, 8) or columns % groups:
        raise InputError(f"{reader.part}: {bits} bits in {groups} groups of {columns} columns")
    levels = (
        reader.array("levels", "i1", shape) if bits == 8 else reader.array("levels", "u1", (-(-rows // 2), columns))
    )
    width, lowest = reader.number("scale_bits", 1, MOST_SCALE_BITS), reader.number("lowest", LOWEST_STEP, HIGHEST_STEP)
    steps = unpack(reader.array("scales", "u1"), width, rows * groups) + lowest
    if len(steps) and steps.max() > HIGHEST_STEP:
        raise InputError(f"{reader.part}: a scale is too large")
    return QuantisedMatrix(levels, scales_of(steps).reshape(rows, groups))


def scales_of(steps: NDArray[Any]) -> Floats:
    """The scales of steps."""
    return np.exp2(steps / STEPS_PER_OCTAVE).astype(np.float32)


def vector_part(values: Floats, bits: int, num_special: int = 0) -> Part:
    """A vector, each block from its smallest value to its largest; the first `num_special` values are kept as they are.

    `<s>` is never predicted, and its bias is so low that it would take all the levels of its block.
    """
    special, rest = values[:num_special], values[num_special:]
    filled = np.pad(rest.astype(np.float64), (num_special, -len(values) % VECTOR_BLOCK), mode="edge")
    blocks = filled.reshape(-1, VECTOR_BLOCK)
    lowest = blocks.min(1, keepdims=True)
    step = np.maximum((blocks.max(1, keepdims=True) - lowest) / (2**bits - 1), np.finfo(np.float32).tiny)
    levels = np.rint((blocks - lowest) / step).astype(np.int64).reshape(-1)[: len(values)]
    arrays = {"levels": pack(levels, bits), "blocks": np.hstack([lowest, step]).astype("<f4")}
    if num_special:
        arrays["special"] = special.astype("<f4")
    return arrays, {"bits": bits}


def read_vector(reader: Reader, length: int, num_special: int = 0) -> Floats:
    """The vector of a part, which must have this length."""
    bits = reader.number("bits", 1, MOST_BITS)
    blocks = reader.array("blocks", "f4", (-(-length // VECTOR_BLOCK), 2))
    levels = unpack(reader.array("levels", "u1"), bits, length)
    special = reader.array("special", "f4", (num_special,)) if num_special else np.empty(0, np.float32)
    lowest, step = np.repeat(blocks, VECTOR_BLOCK, axis=0)[:length].T
    with np.errstate(all="ignore"):
        found: Floats = lowest + levels.astype(np.float32) * step
    found[:num_special] = special
    check_weights({reader.part: found})
    return found


def codes_part(codes: SparseCodes, levels: NDArray[np.int64], table: Floats) -> Part:
    """The codes, with `levels` [non-zeros] of values from the `table` [2 ** bits]."""
    lengths = np.diff(codes.offsets)
    longest = int(lengths.max(initial=1))
    places = np.arange(len(codes.indices)) - np.repeat(codes.offsets[:-1], lengths)
    indices = codes.indices.astype(np.int64)
    gaps = np.where(places == 0, indices, np.diff(indices, prepend=-1) - 1)
    low_bits = min(range(1, MOST_BITS + 1), key=lambda bits: len(gaps) * (bits + 1) + int((gaps >> bits).sum()))
    arrays = {
        "low": pack(gaps & ((1 << low_bits) - 1), low_bits),
        "high": pack_unary(gaps >> low_bits),
        "values": pack(levels, (len(table) - 1).bit_length()),
        "table": table.astype("<f4"),
    }
    if (lengths != longest).any():
        arrays["lengths"] = pack(lengths, longest.bit_length())
    return arrays, {"num_base": codes.num_base, "longest": longest, "low_bits": low_bits}


def read_codes(reader: Reader, num_words: int) -> CodeRows:
    """The codes of a part, for `num_words` words, base words included."""
    num_base = reader.number("num_base", 1, num_words)
    longest = reader.number("longest", 1, min(num_base, (1 << MOST_BITS) - 1))
    lengths = np.full(num_words - num_base, longest)
    if f"{reader.part}.lengths" in reader.arrays:
        lengths = unpack(reader.array("lengths", "u1"), longest.bit_length(), len(lengths))
    count = int(lengths.sum())
    if len(lengths) and not (
        1 <= lengths.min() <= lengths.max() <= longest and lengths.size * longest <= MOST_PADDING * count
    ):
        raise InputError(f"{reader.part}: the lengths of the codes are wrong")
    low_bits = reader.number("low_bits", 1, MOST_BITS)
    gaps = unpack_unary(reader.array("high", "u1"), count)
    gaps <<= low_bits
    gaps += unpack(reader.array("low", "u1"), low_bits, count)
    gaps += 1
    rows = pad(gaps, lengths, longest)
    np.cumsum(rows, axis=1, out=rows)
    rows -= 1
    if rows.size and rows[:, -1].max() >= num_base:
        raise InputError(f"{reader.part}: an index lies outside the base of {num_base} words")
    table = reader.array("table", "f4")
    value_bits = (len(table) - 1).bit_length()
    if len(table) < 2 or len(table) != 1 << value_bits or not ((table > 0) & (table <= LARGEST)).all():
        raise InputError(f"{reader.part}: its table of values is wrong")
    values = table[unpack(reader.array("values", "u1"), value_bits, count)]
    indices: NDArray[Any] = rows.astype(index_type(num_base))
    return CodeRows(indices, pad(values, lengths, longest), num_base)
