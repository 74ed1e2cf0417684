"""The grammar of ARPA files: a header, a section of n-grams for each order, an end mark; every line is checked.

    \\data\\             \\1-grams:                        …  \\end\\
    ngram 1=COUNT …    log10 p <tab> words [<tab> log10 back-off weight]
"""

import re
from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewwords.models.kneser_ney.arpa_lines import ArpaLines
from fewwords.models.kneser_ney.trie import Int64s
from fewwords.progress import Progress

_LINES_BETWEEN_PROGRESS = 1 << 16
_END_MARK = b"\\end\\"


@dataclass(frozen=True)
class Section:
    """The n-grams of one order as in the file: ids [rows, order], logs [rows], and the line of the first."""

    ids: Int64s
    log10_probs: NDArray[np.float64]
    log10_backoffs: NDArray[np.float64]
    first_line: int


def read_header(lines: ArpaLines) -> list[int]:
    """The number of n-grams of each order; the mark of the first section is read too."""
    first = next((line for line in lines if line.strip()), b"")
    if first.strip() != b"\\data\\":
        raise lines.error("there is no \\data\\ header; this is not an ARPA file, or its beginning is missing")
    sizes: list[int] = []
    for line in lines:
        if found := re.fullmatch(rb"ngram\s+(\d{1,9})\s*=\s*(\d{1,18})", line.strip()):
            if int(found[1]) != len(sizes) + 1:
                raise lines.error(f"'{_text(line)}' where the number of {len(sizes) + 1}-grams should be")
            sizes.append(int(found[2]))
        elif line.startswith(b"\\"):
            if not sizes:
                raise lines.error("the header has no line 'ngram 1=COUNT'")
            _check_mark(lines, line, b"\\1-grams:")
            return sizes
        elif line.strip():
            raise lines.error(f"'{_text(line)}' is not 'ngram ORDER=COUNT'")
    raise lines.error("the file ends in its header; write or copy it again")


def read_section(
    lines: ArpaLines, order: int, sizes: list[int], index: dict[bytes, int], progress: Progress, *, grows: bool
) -> Section:
    """Read the n-grams of an order and the mark that follows them; with `grows`, new words are added to `index`."""
    ids, log10_probs, log10_backoffs = array("q"), array("d"), array("d")
    first_line = lines.number + 1
    is_last = order == len(sizes)
    most_fields = order + (1 if is_last else 2)
    has_ended = False
    for line in lines:
        if line.startswith(b"\\"):
            _check_mark(lines, line, _END_MARK if is_last else b"\\%d-grams:" % (order + 1))
            if len(log10_probs) != sizes[order - 1]:
                raise lines.error(
                    f"there were {len(log10_probs):,} {order}-grams, but the header says {sizes[order - 1]:,}; "
                    "write or copy the file again"
                )
            return Section(
                np.frombuffer(ids, np.int64).reshape(-1, order),
                np.frombuffer(log10_probs, np.float64),
                np.frombuffer(log10_backoffs, np.float64),
                first_line,
            )
        fields = line.split()
        if not fields:
            has_ended = True
            continue
        if has_ended:
            raise lines.error(f"an n-gram after the blank line that ends the section of {order}-grams")
        if not order + 1 <= len(fields) <= most_fields:
            expected = f"{order + 1}" if is_last else f"{order + 1} or {order + 2}"
            raise lines.error(f"{len(fields)} fields, but a line of {order}-grams has {expected}")
        try:
            if b"_" in fields[0] or (len(fields) == order + 2 and b"_" in fields[-1]):
                raise ValueError  # Python reads 1_0 as 10
            log10_probs.append(float(fields[0]))
            log10_backoffs.append(float(fields[order + 1]) if len(fields) == order + 2 else 0.0)
        except ValueError:
            raise lines.error(f"'{_text(fields[0])}' or '{_text(fields[-1])}' is not a number") from None
        for word in fields[1 : order + 1]:
            rank = index.get(word)
            if rank is None:
                if not grows:
                    place = "is not in the vocabulary" if order == 1 else "is not among the 1-grams"
                    raise lines.error(f"the word '{_text(word)}' {place}")
                _check_utf8(lines, word)
                rank = index[word] = len(index)
            ids.append(rank)
        if len(log10_probs) % _LINES_BETWEEN_PROGRESS == 0:
            progress.advance(_LINES_BETWEEN_PROGRESS)
    raise lines.error(f"the file ends in the section of {order}-grams, without \\end\\; write or copy it again")


def read_end(lines: ArpaLines) -> None:
    """Make sure that nothing follows the end mark."""
    for line in lines:
        if line.strip():
            raise lines.error("there is text after \\end\\")


def _check_mark(lines: ArpaLines, line: bytes, expected: bytes) -> None:
    if line.strip() != expected:
        raise lines.error(f"'{_text(line)}' where '{_text(expected)}' should be")


def _check_utf8(lines: ArpaLines, word: bytes) -> None:
    try:
        word.decode()
    except UnicodeDecodeError:
        raise lines.error(f"the word '{_text(word)}' is not UTF-8; convert the file first") from None


def _text(line: bytes) -> str:
    """The beginning of a line, for a message."""
    return line.strip()[:80].decode(errors="replace")
