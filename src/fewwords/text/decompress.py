"""Decompression by content: gzip, bzip2, xz and zstandard, of any number of streams one after another.

The four decompressors share one protocol (`decompress`, `eof`, `unused_data`), so one loop serves them all, and a file
that stops in the middle is told from one that is whole.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import zstandard

from fewwords.errors import InputError


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


_KINDS: dict[str, tuple[bytes, Callable[[], _Decompressor]]] = {
    "gzip": (b"\x1f\x8b", lambda: zlib.decompressobj(wbits=31)),
    "bzip2": (b"BZh", bz2.BZ2Decompressor),
    "xz": (b"\xfd7zXZ\x00", lzma.LZMADecompressor),
    "zstandard": (b"\x28\xb5\x2f\xfd", lambda: zstandard.ZstdDecompressor().decompressobj()),
}
_LONGEST_MAGIC = 6


def detect_compression(head: bytes) -> str | None:
    """The name of the compression that the first bytes of a file show, or None."""
    return next((name for name, (magic, _) in _KINDS.items() if head.startswith(magic)), None)


def decompress(chunks: Iterator[bytes], name: str) -> tuple[str | None, Iterator[bytes]]:
    """The compression found and the decompressed bytes in pieces; raises InputError when they are damaged or cut."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= _LONGEST_MAGIC:
            break
    kind = detect_compression(head)
    return kind, _with_head(head, chunks) if kind is None else _decompress(head, chunks, kind, name)


def _with_head(head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from chunks


def _decompress(head: bytes, chunks: Iterator[bytes], kind: str, name: str) -> Iterator[bytes]:
    magic, make = _KINDS[kind]
    decompressor = make()
    consumed = 0
    for chunk in _with_head(head, chunks):
        pending = chunk
        while pending:
            if decompressor.eof:
                pending = pending.lstrip(b"\x00")  # padding between streams
                if not pending:
                    break
                if not pending.startswith(magic[: len(pending)]):
                    raise InputError(
                        f"{name}: {len(pending):,} or more bytes after byte {consumed:,} are not {kind}; "
                        "copy or download the file again"
                    )
                decompressor = make()
            try:
                output = decompressor.decompress(pending)
            except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, zstandard.ZstdError) as error:
                raise InputError(
                    f"{name}: damaged {kind} data after byte {consumed:,} ({error}); copy or download the file again"
                ) from None
            consumed += len(pending)
            pending = decompressor.unused_data if decompressor.eof else b""
            consumed -= len(pending)
            if output:
                yield output
    if not decompressor.eof:
        raise InputError(
            f"{name}: the {kind} file is cut short (its end is missing after byte {consumed:,}); "
            "copy or download it again"
        )
