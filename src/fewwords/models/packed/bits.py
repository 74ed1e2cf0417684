"""Integers of any width from 1 to 24 bits, one after another, and integers in unary.

Bits are filled from the lowest of a byte to the highest, so integer i of width n occupies the bits i n to i n + n - 1,
its own lowest bit first. What is left of the last byte is zero.
"""

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError

Bytes = NDArray[np.uint8]
MOST_BITS = 24  # with the 7 bits that may lie before it, an integer fits four bytes


def num_bytes(width: int, count: int) -> int:
    """The bytes that `count` integers of `width` bits take."""
    return -(-width * count // 8)


def pack(values: NDArray[np.int64], width: int) -> Bytes:
    """The bytes of integers from 0 to 2**width - 1."""
    bits = (values.reshape(-1, 1) >> np.arange(width)) & 1
    return np.packbits(bits.astype(np.uint8), bitorder="little")


def unpack(data: Bytes, width: int, count: int) -> NDArray[np.int32]:
    """`count` integers of `width` bits; raises InputError unless the data have exactly their length."""
    if not 1 <= width <= MOST_BITS or count < 0 or len(data) != num_bytes(width, count):
        raise InputError(f"{len(data):,} bytes are not {count:,} numbers of {width} bits")
    # eight integers begin at a byte and end at one
    groups = -(-count // 8)
    rows = np.concatenate([data, np.zeros(groups * width - len(data), np.uint8)]).reshape(groups, width)
    found = np.empty((groups, 8), np.int32)
    for place in range(8):
        byte, shift = divmod(place * width, 8)
        value = rows[:, byte].astype(np.int32)
        for more in range(1, (shift + width + 7) // 8):
            value |= rows[:, byte + more].astype(np.int32) << 8 * more
        found[:, place] = value >> shift & (1 << width) - 1
    return found.reshape(-1)[:count]


def pack_unary(values: NDArray[np.int64]) -> Bytes:
    """Each integer as that many zeros and a one."""
    ends = np.cumsum(values + 1)
    bits = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    bits[ends - 1] = 1
    return np.packbits(bits, bitorder="little")


def unpack_unary(data: Bytes, count: int) -> NDArray[np.int64]:
    """`count` integers; raises InputError unless the data hold exactly that many."""
    ends = np.flatnonzero(np.unpackbits(data, bitorder="little"))
    if len(ends) != count or num_bytes(1, int(ends[-1]) + 1 if count else 0) != len(data):
        raise InputError(f"{len(data):,} bytes are not {count:,} numbers in unary")
    return np.diff(ends, prepend=-1) - 1
