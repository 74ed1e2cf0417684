"""Files of word vectors, read row by row with bounded memory and recognised by their content.

Three layouts, compressed or not: text with a first line `rows dimensions` (word2vec, fastText .vec), text without it
(GloVe), and word2vec's binary (the same first line, then each word, a space, and little-endian float32 values).
The numbers of a row are parsed only when `values` asks for them, so rows of unwanted words cost little.
"""

import codecs
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.text.decompress import decompress

LONGEST_LINE = 1 << 20
MOST_DIMENSIONS = 1 << 16
LINES_TO_JUDGE = 100
_CHUNK = 1 << 16
_DECIMAL = re.compile(rb"[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?")
_CONTROL = bytes({*range(32), 127} - set(b"\t\n\r\f\v"))
_FOREIGN = (
    (b"PK\x03\x04", "a zip archive", "unpack it and give the file inside"),
    (b"\xba\x16\x4f\x2f", "a fastText model", "give its .vec file"),
    (b"\x80", "a Python pickle", "save the vectors in word2vec format, with save_word2vec_format in gensim"),
    (b"\x93NUMPY", "a NumPy array, which has no words", "write the vectors as text, one word and its values per line"),
)


class Row(NamedTuple):
    """A row as it is in the file; `number` is its line (in a binary file, its place among the rows)."""

    number: int
    word: str
    numbers: bytes


class VectorFile:
    """An open file of vectors: its `layout`, `compression`, dimensions `size`, and `promised` rows, if given."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.num_raw_bytes = 0
        self._digest = hashlib.sha256()
        if not self.path.is_file():
            raise InputError(f"{path}: no such file; name a file of word vectors")
        self.compression, pieces = decompress(self._raw(), str(path))
        head = b""
        for piece in pieces:
            head += piece
            if len(head) > LONGEST_LINE:
                break
        self._stream = io.BufferedReader(_Pieces(chain([head], pieces)), buffer_size=1 << 20)
        self._recognise(head)

    @property
    def sha256(self) -> str:
        """The hash of what was read so far: of the whole file once `rows` has ended."""
        return self._digest.hexdigest()

    def rows(self) -> Iterator[Row]:
        """All rows, once; raises InputError with the place when there are fewer than promised, or one is damaged."""
        num_rows = 0
        for row in self._binary_rows() if self.layout == "word2vec binary" else self._text_rows():
            num_rows += 1
            yield row
        if self.promised is not None and num_rows < self.promised:
            raise InputError(
                f"{self.path}: it ends after {num_rows:,} of the {self.promised:,} rows that its first line promises; "
                "copy or download it again"
            )

    def values(self, row: Row) -> NDArray[np.float32]:
        """The numbers of a row, [size]; raises InputError naming the row when they are not `size` finite numbers."""
        if self.layout == "word2vec binary":
            values = np.frombuffer(row.numbers, dtype="<f4").astype(np.float32)
        else:
            try:
                if b"_" in row.numbers:
                    raise ValueError("'_' is no digit")  # Python reads 1_0 as 10
                numbers = [float(number) for number in row.numbers.split()]
            except ValueError as error:
                raise self._damaged(row.number, f"{row.word!r} has a value that is not a number ({error})") from None
            if len(numbers) != self.size:
                raise self._damaged(row.number, f"{row.word!r} has {len(numbers)} values instead of {self.size}")
            with np.errstate(over="ignore"):  # too large for float32: infinite, and refused as such
                values = np.array(numbers).astype(np.float32)
        if not np.isfinite(values).all():
            raise self._damaged(row.number, f"{row.word!r} has a NaN or infinite value")
        return values

    def _raw(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                self._digest.update(chunk)
                self.num_raw_bytes += len(chunk)
                yield chunk

    def _recognise(self, head: bytes) -> None:
        """Find layout, dimensions and promised rows from the first megabyte."""
        if not head.strip():
            raise InputError(f"{self.path}: the file is empty; name a file of word vectors")
        for magic, kind, remedy in _FOREIGN:
            if head.startswith(magic):
                raise InputError(f"{self.path}: {kind}, not a file of word vectors; {remedy}")
        first, _, rest = head.partition(b"\n")
        if header := re.fullmatch(rb"\s*(\d{1,18})\s+(\d{1,18})\s*", first):
            self.promised: int | None = int(header[1])
            self.size = int(header[2])
            self.layout = "word2vec text" if _is_text(rest) else "word2vec binary"
            self._stream.readline()
            if not 1 <= self.size <= MOST_DIMENSIONS:
                raise self._damaged(1, f"vectors of {self.size} dimensions; 1 to {MOST_DIMENSIONS:,} can be read")
            return
        if not _is_text(head):
            raise InputError(
                f"{self.path}: binary, but without the first line 'rows dimensions' of word2vec's format; "
                "give word2vec, GloVe or fastText .vec files"
            )
        self.promised = None
        self.layout = "GloVe text"
        self.size = self._judge_size(head)

    def _judge_size(self, head: bytes) -> int:
        """The dimensions of text without a first line: what most lines have, because a word may contain spaces."""
        lines = head.split(b"\n")
        if len(lines) > 1:
            lines.pop()  # empty, or cut by the end of the head
        fields = [line.split() for line in lines if line.strip()][:LINES_TO_JUDGE] or [head.split()]
        size = Counter(len(parts) for parts in fields).most_common(1)[0][0] - 1
        typical = next(parts for parts in fields if len(parts) == size + 1)
        if size < 1 or not all(_is_number(number) for number in typical[1:]):
            raise self._damaged(1, "lines are not a word and its numbers; give word2vec, GloVe or fastText .vec files")
        return size

    def _text_rows(self) -> Iterator[Row]:
        first = 1 if self.promised is None else 2
        for number, line in enumerate(iter(lambda: self._stream.readline(LONGEST_LINE + 1), b""), start=first):
            if len(line) > LONGEST_LINE:
                raise self._damaged(number, f"longer than {LONGEST_LINE:,} bytes; is this a file of word vectors?")
            if not line.endswith(b"\n"):
                raise self._damaged(number, "the last line has no line end, so its last number may be cut")
            line = line.rstrip()
            if not line:
                continue
            if line.count(b" ") == self.size:
                word, numbers = line.split(b" ", 1)
            else:
                word, numbers = self._split(number, line.split())
            yield Row(number, word.decode("utf-8", errors="replace"), numbers)

    def _split(self, number: int, fields: list[bytes]) -> tuple[bytes, bytes]:
        """Word and numbers of a line with tabs, several spaces, or a word with spaces in it (`. . .`)."""
        # A word may end in a whole number ("route 66"), but hardly in a decimal fraction: that is one value too many.
        too_many = len(fields) > self.size + 1 and b"." in fields[-self.size - 1] and _is_number(fields[-self.size - 1])
        if len(fields) <= self.size or too_many:
            raise self._damaged(number, f"{len(fields) - 1} values instead of {self.size}")
        return b" ".join(fields[: -self.size]), b" ".join(fields[-self.size :])

    def _binary_rows(self) -> Iterator[Row]:
        buffer, start = b"", 0
        num_bytes = 4 * self.size
        for number in range(1, (self.promised or 0) + 1):
            space = buffer.find(b" ", start)
            while space < 0 or len(buffer) < space + 1 + num_bytes:
                if space < 0 and len(buffer) - start > LONGEST_LINE:
                    raise self._damaged(number, "the word does not end; is this a file of word vectors?")
                more = self._stream.read(1 << 20)
                if not more:
                    if not buffer[start:].strip():
                        return
                    raise self._damaged(number, f"the file ends within it; {self.promised:,} rows were promised")
                buffer, start = buffer[start:] + more, 0
                space = buffer.find(b" ")
            word = buffer[start:space].lstrip(b"\n").decode("utf-8", errors="replace")
            start = space + 1 + num_bytes
            yield Row(number, word, buffer[space + 1 : start])
        rest = buffer[start:]
        while more := self._stream.read(1 << 20):
            rest = rest.strip()[:1] + more
        if rest.strip():
            raise self._damaged((self.promised or 0) + 1, f"more data after the promised {self.promised:,} rows")

    def _damaged(self, number: int, what: str) -> InputError:
        unit = "row" if self.layout == "word2vec binary" else "line"
        return InputError(f"{self.path}: {unit} {number:,}: {what}; fix it, or copy or download the file again")


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a raw stream, for a buffered reader."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        taken = min(len(buffer), len(self._rest))
        buffer[:taken] = self._rest[:taken]
        self._rest = self._rest[taken:]
        return taken


def _is_number(field: bytes) -> bool:
    return _DECIMAL.fullmatch(field) is not None or field.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity")


def _is_text(data: bytes) -> bool:
    """Whether bytes are text: no control characters, and UTF-8 (its end may be cut) or almost all digits."""
    if data.translate(None, _CONTROL) != data:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return len(data.translate(None, b"0123456789.-+eE \n")) < 0.2 * len(data)
    return True
