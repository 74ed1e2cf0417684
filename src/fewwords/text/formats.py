"""Formats of text, recognised by content, and how each becomes paragraphs.

A stream is cut into blocks where nothing is split (line ends, `</doc>`, `</page>`), always at the same places
whatever the number of processes, and each block then becomes paragraphs by itself:

- `text`: one paragraph or sentence per line;
- `wikiextractor`: `<doc …>` … `</doc>`, whose first line repeats the title;
- `json lines`: one object per line, its text under "text" (as WikiExtractor writes it);
- `mediawiki`: a pages-articles dump;
- `tokenized`: one sentence per line, words separated by spaces.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from fewwords.errors import InputError
from fewwords.text.clean import clean_text
from fewwords.text.mediawiki import page_texts

Format = Literal["text", "wikiextractor", "json lines", "mediawiki", "tokenized"]

BLOCK_BYTES = 1 << 20
_LONGEST_LINE = 8 << 20
_LONGEST_PAGE = 16 << 20  # each byte of a page takes some 50 of memory while it is cleaned and cut into words
_HEAD_BYTES = 1 << 16

_OTHER_KINDS = (
    (b"%PDF", "a PDF file; extract its text first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"\x7fELF", "a program, not text"),
    (b"\x89PNG", "a picture, not text"),
    (b"\xff\xd8\xff", "a picture, not text"),
    (b"GIF8", "a picture, not text"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (b"PAR1", "a Parquet file; write its text column as lines first"),
    (b"\xff\xfe", "UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8"),
)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\x1b")
_LARGEST_SHARE_OF_CONTROLS = 0.02
_TITLE_START, _TITLE_END = re.compile(r'\btitle="'), re.compile(r'"\s*>')


@dataclass(frozen=True)
class Block:
    """A piece of a source to process by itself; `number` counts all blocks, `start` is the byte in the source."""

    number: int
    source: str
    format: Format
    start: int
    data: bytes
    part: int = 0


def detect_format(head: bytes, name: str) -> Format:
    """The format that the first bytes of a decompressed stream show; raises InputError if it is not text."""
    for magic, what in _OTHER_KINDS:
        if head.startswith(magic):
            raise InputError(f"{name}: this is {what}")
    if head[257:262] == b"ustar":
        raise InputError(f"{name}: this is a tar archive; unpack it first")
    if len(head) - len(head.translate(None, _CONTROLS)) > _LARGEST_SHARE_OF_CONTROLS * len(head):
        raise InputError(f"{name}: this is a binary file, not text; name text files only")
    text = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if text.startswith(b"<mediawiki") or (text.startswith(b"<?xml") and b"<mediawiki" in text):
        return "mediawiki"
    if text.startswith(b"<doc "):
        return "wikiextractor"
    # the first object may be longer than what was read, so do not look for its end
    if re.match(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:', text) and re.search(rb'"text"\s*:\s*"', text):
        return "json lines"
    return "text"


class BlockReader:
    """Cuts one decompressed stream into blocks; `format` is known from the first block on."""

    def __init__(self, name: str, pieces: Iterator[bytes], tokenized: bool, part: int = 0) -> None:
        self._name = name
        self._pieces = pieces
        self._tokenized = tokenized
        self._part = part
        self._searched = 0  # bytes of the buffer in which no block ends
        self.format: Format = "text"
        self.num_torn_lines = 0

    def blocks(self, first_number: int) -> Iterator[Block]:
        """The blocks of the stream, numbered from `first_number`."""
        buffer = bytearray()
        start = 0
        number = first_number
        at_head = True
        for piece in self._pieces:
            buffer += piece
            if at_head:
                if len(buffer) < _HEAD_BYTES:
                    continue
                self._read_head(buffer)
                at_head = False
            while len(buffer) >= BLOCK_BYTES:
                end = self._cut(buffer)
                if end == 0:
                    break
                yield self._block(number, start, buffer[:end])
                del buffer[:end]
                self._searched = 0
                start += end
                number += 1
        if at_head:
            self._read_head(buffer)
        whole_pages = buffer.rfind(b"<page>") <= buffer.rfind(b"</page>")  # a cut one is reported with its title
        if self.format == "mediawiki" and whole_pages and b"</mediawiki>" not in buffer[-_HEAD_BYTES:]:
            raise InputError(f"{self._name}: the dump is cut short (no </mediawiki> at its end); download it again")
        if buffer:
            yield self._block(number, start, buffer)

    def _block(self, number: int, start: int, data: bytearray) -> Block:
        return Block(number, self._name, self.format, start, bytes(data), self._part)

    def _read_head(self, head: bytearray) -> None:
        if not head.strip():
            raise InputError(f"{self._name}: the file is empty; leave it out, or check how it was made")
        self.format = detect_format(bytes(head[:_HEAD_BYTES]), self._name)
        if self._tokenized:
            if self.format != "text":
                raise InputError(f"{self._name}: this is {self.format}, not tokenised text; leave out `tokenized`")
            self.format = "tokenized"

    def _cut(self, buffer: bytearray) -> int:
        """Where the first block in `buffer` ends: near BLOCK_BYTES, or 0 if more must be read first."""
        mark = {"mediawiki": b"</page>", "wikiextractor": b"</doc>"}.get(self.format, b"\n")
        end = buffer.find(mark, max(BLOCK_BYTES - 1, self._searched))
        if end >= 0:
            return end + len(mark)
        self._searched = len(buffer) - len(mark) + 1  # what is read next may complete a mark
        if self.format in ("mediawiki", "json lines"):
            if len(buffer) > _LONGEST_PAGE:
                what = "page" if self.format == "mediawiki" else "line"
                raise InputError(
                    f"{self._name}: a {what} of over {_LONGEST_PAGE >> 20} MB; the file is damaged, or wants to be split"
                )
            return 0
        if len(buffer) < _LONGEST_LINE:
            return 0
        if self.format == "wikiextractor" and (end := buffer.rfind(b"\n", BLOCK_BYTES)) >= 0:
            return end + 1
        # One endless line: cut it where a sentence ends, or at a space, or at least between two characters.
        self.num_torn_lines += 1
        for ending in (b". ", b" "):
            if (end := buffer.find(ending, BLOCK_BYTES)) >= 0:
                return end + len(ending)
        end = _LONGEST_LINE - 1
        while 0x80 <= buffer[end] < 0xC0 and end > _LONGEST_LINE - 4:  # a character has at most three such bytes
            end -= 1
        return end


def decode(block: Block, strict: bool) -> tuple[str, int]:
    """The block's text and the number of invalid byte sequences replaced; if strict, raises InputError instead."""
    data = block.data.removeprefix(_BYTE_ORDER_MARK) if block.start == 0 else block.data
    try:
        return data.decode(), 0
    except UnicodeDecodeError as error:
        if strict:
            offset = block.start + error.start + len(block.data) - len(data)
            raise InputError(
                f"{block.source}: invalid UTF-8 at byte {offset:,} of the text; "
                "convert the file to UTF-8, or leave out `strict` to replace and count such bytes"
            ) from None
    text = data.decode(errors="replace")
    return text, text.count("\ufffd") - data.count("\ufffd".encode())


def paragraphs(block: Block, text: str) -> Iterator[str]:
    """The paragraphs of a block, cleaned, without the markup of its format."""
    if block.format == "mediawiki":
        try:
            for page in page_texts(text):
                yield from clean_text(page).splitlines()
        except InputError as error:
            raise InputError(f"{block.source}: {error}") from None
    elif block.format == "json lines":
        for number, line in enumerate(text.split("\n")):
            if line.strip():
                yield from clean_text(_json_text(line, block, number)).splitlines()
    elif block.format == "wikiextractor":
        yield from _without_titles(clean_text(text).splitlines())
    else:
        yield from clean_text(text).splitlines()


def _without_titles(lines: list[str]) -> Iterator[str]:
    title = None
    for line in lines:
        if line.startswith("<doc "):
            title = _title(line)
        elif line.startswith("</doc>") or (title is not None and line.strip() == title.strip()):
            title = None
        else:
            yield line


def _title(line: str) -> str | None:
    """The title in a line `<doc id="1" url="…" title="…">`: all from the first mark of it to the end of the tag."""
    start = _TITLE_START.search(line)
    ends = [] if start is None else [match.start() for match in _TITLE_END.finditer(line, start.end())]
    return line[start.end() : ends[-1]] if start is not None and ends else None


def _json_text(line: str, block: Block, number: int) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(
            f"{block.source}: line {number + 1} after byte {block.start:,} is not a whole JSON object; "
            "the file is cut or damaged"
        ) from None
    text = value.get("text") if isinstance(value, dict) else None
    if not isinstance(text, str):
        raise InputError(f'{block.source}: line {number + 1} after byte {block.start:,} has no "text"')
    return text
