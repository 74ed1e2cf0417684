"""ln sum_w exp(s(h, w)) for many contexts h in one compiled loop over the words w, in float32 on one core.

Scores are [words, contexts]: every step is the same for neighbouring contexts and uses vector instructions. Words are
taken in tiles that stay in the first-level cache: first the scores of a tile, then their maxima, then exponentials. The
scores of rare words are made tile by tile from those of the base words (section 3.3) and are written nowhere else.

Exponentials are powers of two: 2^x = 2^n p(x - n) with the nearest whole n and a polynomial p. Its relative error is
below 2e-7, and the sums of tiles are added in float64.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Unsigned = NDArray[np.uint32]
Number = Any  # a scalar of the compiled code
Function = TypeVar("Function", bound=Callable[..., Any])

# Contexts of `rare_log_sum`: the scores of 8,000 base words are then 2 MB, as large as a second-level cache.
WIDTH = np.uint64(64)
TILE = np.uint64(32)  # words
# Unsigned, because the compiler would count signed indices from the end where they are negative.
ZERO, ONE = np.uint64(0), np.uint64(1)

LOG2_E = np.float32(1 / np.log(2))
LEAST_POWER = np.float32(-126)
LOWEST = np.finfo(np.float32).min
# A float32 plus this number has the nearest whole number in its lowest bits.
ROUNDING = np.float32(3 << 22)
# Coefficients of the p with p(0) = 1 and the least relative error to 2^r for |r| <= 1/2.
P1, P2, P3, P4, P5 = map(np.float32, (0.69314698, 0.24022242, 0.05550734, 0.00967151, 0.00132647))


def _compiled(function: Function) -> Function:
    """Compile without the interpreter lock; a product and a sum may become one instruction."""
    flags = {"contract", "nsz"}
    return cast(Function, numba.njit(nogil=True, cache=True, error_model="numpy", fastmath=flags)(function))


@_compiled
def log_sum(scores: Floats, width: int) -> Floats:
    """The log-sums [width] of scores [words, width], given flat."""
    columns = np.uint64(width)
    num_words = np.uint64(len(scores)) // columns
    peaks, sums, totals = _start(columns)
    for first in range(ZERO, num_words, TILE):
        _add_tile(scores, first * columns, min(TILE, num_words - first), columns, peaks, sums, totals)
    return _natural(peaks, totals)


@_compiled
def rare_log_sum(
    base_scores: Floats, offsets: Unsigned, biases: Floats, indices: Unsigned, values: Floats, num_base: int
) -> Floats:
    """The log-sums [WIDTH] of coded words, from the scores [num_base, WIDTH] of the base words, given flat.

    Word i has the bias biases[i] and the entries from offsets[i] - num_base to offsets[i + 1] - num_base.
    """
    skipped = np.uint64(num_base)
    num_words = np.uint64(len(biases))
    peaks, sums, totals = _start(WIDTH)
    tile = np.empty(TILE * WIDTH, np.float32)
    for first in range(ZERO, num_words, TILE):
        words = min(TILE, num_words - first)
        for row in range(words):
            word = first + row
            begin, end = np.uint64(offsets[word]) - skipped, np.uint64(offsets[word + ONE]) - skipped
            _mix_rows(tile, row * WIDTH, biases[word], base_scores, indices, values, begin, end)  # type: ignore[call-arg]
        _add_tile(tile, ZERO, words, WIDTH, peaks, sums, totals)
    return _natural(peaks, totals)


@_compiled
def _start(width: Number) -> tuple[Floats, Floats, Doubles]:
    """For each context: the highest score so far as a power of two, room for sums, and the total below that power."""
    return np.full(width, LOWEST, np.float32), np.empty(width, np.float32), np.zeros(width, np.float64)


@_compiled
def _natural(peaks: Floats, totals: Doubles) -> Floats:
    """The log-sums."""
    return ((np.log2(totals) + peaks) / LOG2_E).astype(np.float32)


@_compiled
def _add_tile(
    scores: Floats, start: Number, words: Number, width: Number, peaks: Floats, sums: Floats, totals: Doubles
) -> None:
    """Add the exponentials of `words` rows of scores, which begin at scores[start]."""
    for column in range(width):
        sums[column] = scores[start + column]
    for row in range(ONE, words):
        for column in range(width):
            score = scores[start + row * width + column]
            sums[column] = score if score > sums[column] else sums[column]
    for column in range(width):
        peak = sums[column] * LOG2_E
        if peak > peaks[column]:
            totals[column] *= _power_of_two(peaks[column] - peak)
            peaks[column] = peak
        sums[column] = np.float32(0)
    for row in range(words):
        for column in range(width):
            sums[column] += _power_of_two(scores[start + row * width + column] * LOG2_E - peaks[column])
    for column in range(width):
        totals[column] += sums[column]


@_compiled
def _power_of_two(x: Number) -> Number:
    """2^x of a float32 x <= 0, at least 2^-126; NaN stays NaN."""
    x = LEAST_POWER if x < LEAST_POWER else x
    rounded = np.float32(x + ROUNDING)
    r = x - (rounded - ROUNDING)
    p = np.float32(((((P5 * r + P4) * r + P3) * r + P2) * r + P1) * r + np.float32(1))
    # n goes into the exponent's bits.
    power = np.int32(rounded.view(np.int32) << np.int32(23))
    return np.int32(p.view(np.int32) + power).view(np.float32)


@intrinsic
def _mix_rows(
    typing_context: Any,
    target: Any,
    start: Any,
    bias: Any,
    table: Any,
    indices: Any,
    values: Any,
    begin: Any,
    end: Any,
) -> Any:
    """target[start : start + WIDTH] = bias + the sum over k in [begin, end) of values[k] * table[indices[k]].

    Written in LLVM's own instructions to keep the sums in registers: as a loop over arrays, which might overlap for all
    that the compiler knows, it takes a quarter longer.
    """
    signature = types.void(target, types.uint64, types.float32, table, indices, values, types.uint64, types.uint64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes, word = ir.VectorType(ir.FloatType(), 16), ir.IntType(64)
        undefined = ir.Constant(lanes, ir.Undefined)
        _, start, bias, _, _, _, begin, end = arguments
        target, table, indices, values = (
            context.make_array(signature.args[place])(context, builder, arguments[place]).data for place in (0, 3, 4, 5)
        )

        def in_all_lanes(number: Any) -> Any:
            first = builder.insert_element(undefined, number, ir.IntType(32)(0))
            return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), 16), [0] * 16))

        def lanes_at(array: Any, place: Any) -> Any:
            return builder.bitcast(builder.gep(array, [place]), lanes.as_pointer())

        sums = [cgutils.alloca_once(builder, lanes) for _ in range(0, int(WIDTH), 16)]  # type: ignore[no-untyped-call]
        for each in sums:
            builder.store(in_all_lanes(bias), each)
        with cgutils.for_range_slice(builder, begin, end, word(1), word) as (entry, _):
            row = builder.mul(builder.zext(builder.load(builder.gep(indices, [entry])), word), word(int(WIDTH)))
            value = in_all_lanes(builder.load(builder.gep(values, [entry])))
            for group, each in enumerate(sums):
                scores = builder.load(lanes_at(table, builder.add(row, word(16 * group))), align=4)
                product = builder.fmul(value, scores, flags=("contract",))
                builder.store(builder.fadd(product, builder.load(each), flags=("contract",)), each)
        for group, each in enumerate(sums):
            builder.store(builder.load(each), lanes_at(target, builder.add(start, word(16 * group))), align=4)
        return context.get_dummy_value()

    return signature, generate
