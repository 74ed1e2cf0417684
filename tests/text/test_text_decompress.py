"""Decompression: what was compressed comes back, in pieces of bounded size, whatever the file says."""

import bz2
import gzip
import lzma
import random
from collections.abc import Callable, Iterator

import pytest
import zstandard

from fewwords.text.decompress import MOST_BYTES, decompress

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard.ZstdCompressor().compress,
}
LARGEST_PIECE = 3 * MOST_BYTES  # zstandard's steps give up to 64 / 3 blocks of 128 KiB


def chunks_of(data: bytes, size: int) -> Iterator[bytes]:
    return (data[first : first + size] for first in range(0, len(data), size))


@pytest.mark.parametrize("kind", COMPRESS)
@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 20])
def test_several_streams_come_back(kind: str, size: int) -> None:
    chance = random.Random(1)
    texts = [bytes(chance.choices(b"abcdefgh \n", k=length)) for length in (1, 3_000, 0, 20_000)]
    found, pieces = decompress(chunks_of(b"".join(map(COMPRESS[kind], texts)), size), "a file")
    assert found == kind
    assert b"".join(pieces) == b"".join(texts)


@pytest.mark.parametrize("kind", COMPRESS)
def test_a_bomb_comes_in_small_pieces(kind: str) -> None:
    num_bytes = 200 << 20
    bomb = COMPRESS[kind](bytes(num_bytes))
    assert len(bomb) < num_bytes / 500
    _, pieces = decompress(iter([bomb]), "a bomb")
    total = 0
    for piece in pieces:
        assert len(piece) <= LARGEST_PIECE
        total += len(piece)
    assert total == num_bytes
