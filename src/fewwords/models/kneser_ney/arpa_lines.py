"""The lines of an ARPA file, decompressed by content, with messages for files of other kinds."""

from collections.abc import Iterator
from pathlib import Path

from fewwords.errors import InputError
from fewwords.store.files import check_file
from fewwords.text.decompress import decompress, detect_compression

_CHUNK_BYTES = 1 << 20
_LONGEST_LINE = 1 << 20
_DISGUISES = {
    b"mmap lm http://kheafield.com/code": "a binary file of KenLM; give the ARPA file that it was built from",
    b"SRILM_BINARY_NGRAM": "a binary file of SRILM; write it as ARPA with ngram -lm … -write-lm",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"\x7fELF": "a program, not an ARPA file",
}


class ArpaLines:
    """Lines as bytes without line ends; `number` is that of the last line returned, from 1."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0
        self._lines = self._read()

    def __iter__(self) -> "ArpaLines":
        return self

    def __next__(self) -> bytes:
        line = next(self._lines)
        self.number += 1
        return line

    def error(self, message: str, number: int | None = None) -> InputError:
        """An error at a line, by default the last one returned."""
        return InputError(f"{self.path}: line {self.number if number is None else number}: {message}")

    def _read(self) -> Iterator[bytes]:
        rest = b""
        for piece in self._pieces():
            lines = (rest + piece).split(b"\n")
            rest = lines.pop()
            yield from lines
            if len(rest) > _LONGEST_LINE:
                raise self.error(f"a line of over {_LONGEST_LINE >> 20} MB; the file is damaged", self.number + 1)
        if rest:
            yield rest

    def _pieces(self) -> Iterator[bytes]:
        is_first = True
        for piece in decompress(self._chunks(), str(self.path))[1]:
            if is_first:
                self._check_kind(piece)
                is_first = False
            yield piece
        if is_first:
            raise InputError(f"{self.path}: the file is empty; write it again")

    def _chunks(self) -> Iterator[bytes]:
        check_file(self.path)  # it is read twice, the second time for its hash
        with self.path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk

    def _check_kind(self, head: bytes) -> None:
        for magic, kind in _DISGUISES.items():
            if head.startswith(magic):
                raise InputError(f"{self.path}: {kind}")
        if compression := detect_compression(head):
            raise InputError(f"{self.path}: {compression} inside a compressed file; decompress it once, then read it")
        if b"\0" in head:
            raise InputError(f"{self.path}: a binary file, not an ARPA file; give the text file of the model")
