"""Pages and lines that never end: refused in bounded memory, in time that grows with what was read."""

import bz2
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from fewwords.corpus import prepare
from fewwords.errors import InputError
from fewwords.text.formats import BlockReader

HEADS = {"mediawiki": b"<mediawiki>\n<page><text>", "json lines": b'{"id": 1, "text": "'}


@pytest.mark.parametrize("kind", HEADS)
def test_a_bomb_of_one_page_is_refused(kind: str, tmp_path: Path) -> None:
    packed = bz2.compress(HEADS[kind] + b"a b " * (16 << 20))
    assert len(packed) < 10_000
    (tmp_path / "bomb.bz2").write_bytes(packed)
    with pytest.raises(InputError, match="of over 16 MB; the file is damaged, or wants to be split"):
        prepare([str(tmp_path / "bomb.bz2")], tmp_path / "work")


@pytest.mark.parametrize("kind", HEADS)
def test_time_grows_with_the_page_and_no_faster(kind: str) -> None:
    def seconds(size: int) -> float:
        def pieces() -> Iterator[bytes]:
            yield HEADS[kind].ljust(1 << 16)
            yield from (b"a" * (1 << 13) for _ in range(size >> 13))
            yield b"</page>\n"

        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            with pytest.raises(InputError) if kind == "mediawiki" else nullcontext():  # no </mediawiki>
                list(BlockReader("text", pieces(), False).blocks(0))
            best = min(best, time.process_time() - started)
        return best

    assert seconds(12 << 20) < 12 * seconds(3 << 20) + 0.05  # 4 times the text; quadratic time would be 16 times
