"""Decompression by content: gzip, bzip2, xz and zstandard, any number of streams one after another.

The output comes in pieces of bounded size, whatever the file says: a few kilobytes can hold gigabytes. A truncated file
is detected.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from fewwords.errors import InputError

MOST_BYTES = 1 << 20  # per piece of output
# Zstandard's decompressor takes no limit. One of its blocks has at least three bytes and gives at most 128 KiB.
_ZSTANDARD_STEP = 64


class _Stream(Protocol):
    """One compressed stream; `feed` yields bounded output until its input is used up or the stream ends."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def feed(self, data: bytes) -> Iterator[bytes]: ...


class _Bounded:
    """bz2 and lzma: their decompressors keep the input not yet used."""

    def __init__(self, decompressor: Any) -> None:
        self._decompressor = decompressor

    @property
    def eof(self) -> bool:
        return bool(self._decompressor.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._decompressor.unused_data)

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield self._decompressor.decompress(data, MOST_BYTES)
        while not self._decompressor.eof and not self._decompressor.needs_input:
            yield self._decompressor.decompress(b"", MOST_BYTES)


class _Gzip:
    """zlib hands back the input not yet used."""

    def __init__(self) -> None:
        self._decompressor = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._decompressor.eof

    @property
    def unused_data(self) -> bytes:
        return self._decompressor.unused_data

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data and not self._decompressor.eof:
            yield self._decompressor.decompress(data, MOST_BYTES)
            data = self._decompressor.unconsumed_tail


class _Zstandard:
    """Fed in small steps, because nothing else bounds the output of a step."""

    def __init__(self) -> None:
        import zstandard

        self._decompressor = zstandard.ZstdDecompressor().decompressobj()
        self._error = zstandard.ZstdError
        self._rest = b""

    @property
    def eof(self) -> bool:
        return bool(self._decompressor.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._decompressor.unused_data) + self._rest

    def feed(self, data: bytes) -> Iterator[bytes]:
        for first in range(0, len(data), _ZSTANDARD_STEP):
            try:
                yield self._decompressor.decompress(data[first : first + _ZSTANDARD_STEP])
            except self._error as error:
                raise ValueError(str(error)) from None
            if self._decompressor.eof:
                self._rest = data[first + _ZSTANDARD_STEP :]
                return


_KINDS: dict[str, tuple[bytes, Callable[[], _Stream]]] = {
    "gzip": (b"\x1f\x8b", _Gzip),
    "bzip2": (b"BZh", lambda: _Bounded(bz2.BZ2Decompressor())),
    "xz": (b"\xfd7zXZ\x00", lambda: _Bounded(lzma.LZMADecompressor())),
    "zstandard": (b"\x28\xb5\x2f\xfd", _Zstandard),
}
_LONGEST_MAGIC = 6


def detect_compression(head: bytes) -> str | None:
    """The name of the compression that the first bytes of a file show, or None."""
    return next((name for name, (magic, _) in _KINDS.items() if head.startswith(magic)), None)


def decompress(chunks: Iterator[bytes], name: str) -> tuple[str | None, Iterator[bytes]]:
    """The compression found and the decompressed bytes in pieces; raises InputError for damaged or truncated data."""
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
    stream = make()
    consumed = 0
    for chunk in _with_head(head, chunks):
        pending = chunk
        while pending:
            if stream.eof:
                pending = pending.lstrip(b"\x00")  # padding between streams
                if not pending:
                    break
                if not pending.startswith(magic[: len(pending)]):
                    raise InputError(
                        f"{name}: {len(pending):,} or more bytes after byte {consumed:,} are not {kind}; "
                        "copy or download the file again"
                    )
                stream = make()
            try:
                yield from filter(None, stream.feed(pending))
            except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
                raise InputError(
                    f"{name}: damaged {kind} data after byte {consumed:,} ({error}); copy or download the file again"
                ) from None
            consumed += len(pending)
            pending = stream.unused_data if stream.eof else b""
            consumed -= len(pending)
    if not stream.eof:
        raise InputError(
            f"{name}: the {kind} file is cut short (its end is missing after byte {consumed:,}); "
            "copy or download it again"
        )
