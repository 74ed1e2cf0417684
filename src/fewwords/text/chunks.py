"""Chunks: what a piece of text without spaces contributes to its sentence.

Its words, and whether it can end a sentence, depend on the chunk alone, so both are worked out once and cached. So for
nearly all chunks, getting from text to words is a dictionary lookup.
"""

import re
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from fewwords.text.abbreviations import BEFORE_NUMBERS, MAY_END, TITLES, WORDS_BEFORE_NUMBERS
from fewwords.text.clean import clean_chunk
from fewwords.text.lexicon import Lexicon
from fewwords.text.words import Numbers, fold_number, split_words

MAX_WORD_LENGTH = 255
OVERLONG = "\0overlong"
_MOST_CACHED_CHUNKS = 400_000

FINAL_MARKS = ".!?。।؟۔"
CLOSERS = "\"')]}»”’"
_FINAL_MARKS_OR_CLOSERS = frozenset(FINAL_MARKS + CLOSERS)
# A plain word or number with some brackets, quotes and marks around it; after the harmless ones no sentence can end.
_SIMPLE = re.compile(r'([("]{0,2})([A-Za-z]+|[0-9]+)([,;:.!?]?[)"]{0,2}[,;:.]?)(?<!\.\.)')
_HARMLESS = frozenset(["", ",", ";", ":", ")", '"', "),", ',"', '",', ");", '";', '")', '"),'])
_STOP_INSIDE = re.compile(r"[.!?]\w")
_BOUNDARY_INSIDE = re.compile(r"(?<=[a-zà-öø-ÿ]{2}[.!?])(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ])")
_ENUMERATOR = re.compile(r"\(?\d{1,3}\.")


class End(Enum):
    """How a chunk with a final mark may end a sentence."""

    NEVER = 0  # the full stop of a title: Mr.
    USUAL = 1  # . ! ? and the like: when what follows can start a sentence
    PERHAPS = 2  # U.S., Inc., J.: only before a word that often starts sentences
    NUMBERED = 3  # pp., vol.: not before a number, else like PERHAPS
    NUMBERED_WORD = 4  # No., Fig.: an abbreviation before a number, else a word and a full stop
    ENUMERATOR = 5  # 1.: not at the start of a sentence, else like USUAL


class Ending(NamedTuple):
    """How a chunk may end a sentence; `as_abbreviation` has the words of a NUMBERED_WORD before a number."""

    end: End
    as_abbreviation: bytes = b""


USUAL = Ending(End.USUAL)


class SeveralChunks(Exception):  # noqa: N818 - it asks for another try, it is not an error
    """A chunk turned out to hold a space or a sentence boundary (`pakistan.He`); see `Chunks.pieces`."""


class Chunks(dict[str, bytes]):
    """Chunk -> its words as ids of the lexicon, four bytes each; `endings` has the chunks that may end a sentence.

    Caches a fixed number of chunks, nearly all that occur. Raises SeveralChunks for a chunk that must be cut
    first. A chunk with an impossibly long word becomes the word OVERLONG.
    """

    def __init__(self, lexicon: Lexicon, lower_case: bool, numbers: Numbers) -> None:
        super().__init__()
        self.endings: dict[str, Ending] = {}
        self.saw_overlong = False
        self._lexicon = lexicon
        self._lower_case = lower_case
        self._numbers = numbers

    def __missing__(self, chunk: str) -> bytes:
        words, ending = self._derive(chunk) or self._analyse(chunk)
        if len(self) < _MOST_CACHED_CHUNKS and len(chunk) <= MAX_WORD_LENGTH:
            self[chunk] = words
            if ending is not None:
                self.endings[chunk] = ending
        return words

    def ending(self, chunk: str) -> Ending | None:
        """How the chunk may end a sentence; None if it cannot."""
        if chunk in self:
            return self.endings.get(chunk)
        return self._analyse(chunk)[1]

    def pieces(self, chunk: str) -> list[str]:
        """The pieces of a chunk that must be cut; the chunk itself if it need not be."""
        if chunk not in self and len(pieces := _pieces(clean_chunk(chunk))) > 1:
            return pieces
        return [chunk]

    def _derive(self, chunk: str) -> tuple[bytes, Ending | None] | None:
        """What `_analyse` would return, at less cost, for a plain word or a known chunk with one more mark."""
        if not chunk.isascii() or len(chunk) > MAX_WORD_LENGTH:
            return None
        if chunk.isalpha():
            return self._lexicon[chunk.lower() if self._lower_case else chunk], None
        if chunk.isdigit():
            return self._encode([chunk]), None
        last = chunk[-1]
        if last in ",;:" and (known := self.get(chunk[:-1])) is not None:
            return known + self._lexicon[last], None
        if last == "." and chunk[:-1].isalpha() and _end_of(chunk[:-1]) == End.USUAL:
            return self._encode([chunk[:-1], "."]), USUAL
        if chunk[0] in '("' and (known := self.get(chunk[1:])) is not None and chunk[1:] not in self.endings:
            return self._lexicon[chunk[0]] + known, None
        if last == "s" and chunk[-2:] == "'s" and chunk[:-2].isalpha():
            return self._encode([chunk[:-2], "'s"]), None
        if (simple := _SIMPLE.fullmatch(chunk)) is not None:
            before, word, after = simple.groups()
            words = [*before, word, *after]
            return (self._encode(words), None) if after in _HARMLESS else self._with_ending(words, chunk)
        if "-" in chunk and all(map(str.isalpha, parts := chunk.split("-"))):
            return self._lexicon["-"].join(map(self._encode, zip(parts))), None
        return None

    def _analyse(self, chunk: str) -> tuple[bytes, Ending | None]:
        """Work out the words of a chunk, and how it may end a sentence."""
        cleaned = clean_chunk(chunk)
        if len(_pieces(cleaned)) > 1:
            raise SeveralChunks(chunk)
        words = split_words(cleaned)
        if len(cleaned) > MAX_WORD_LENGTH and any(len(word) > MAX_WORD_LENGTH for word in words):
            self.saw_overlong = True
            return self._lexicon[OVERLONG], None
        if "." not in cleaned and cleaned[-1:] not in _FINAL_MARKS_OR_CLOSERS:
            return self._encode(words), None
        return self._with_ending(words, cleaned)

    def _with_ending(self, words: list[str], chunk: str) -> tuple[bytes, Ending | None]:
        words, end = _join_abbreviations(words)
        if end == End.NEVER:
            return self._encode(words), None
        if end == End.USUAL and _ENUMERATOR.fullmatch(chunk):
            end = End.ENUMERATOR
        joined = b""
        if end == End.NUMBERED_WORD:
            stop = len(words) - 1 - words[::-1].index(".")
            joined = self._encode([*words[: stop - 1], words[stop - 1] + ".", *words[stop + 1 :]])
        return self._encode(words), USUAL if end == End.USUAL else Ending(end, joined)

    def _encode(self, words: Iterable[str]) -> bytes:
        if self._numbers != "keep":
            words = [fold_number(word, self._numbers) for word in words]
        return self._lexicon.encode(map(str.lower, words) if self._lower_case else words)


def _pieces(chunk: str) -> list[str]:
    """The chunk, or its pieces if it holds a space or a sentence boundary."""
    if not chunk.isascii() and len(pieces := chunk.split()) > 1:
        return pieces
    if not _STOP_INSIDE.search(chunk) or "://" in chunk or "www." in chunk or "@" in chunk:
        return [chunk]
    return _BOUNDARY_INSIDE.split(chunk)


def _join_abbreviations(words: list[str]) -> tuple[list[str], End]:
    """Join abbreviations with their full stop, and tell how the last words may end a sentence."""
    joined: list[str] = []
    end = End.NEVER
    for word in words:
        if word in CLOSERS and joined and end != End.NEVER:
            joined.append(word)  # closing quotes and brackets leave the end where it was
        elif word == "." and joined:
            before = joined[-1]
            end = _end_of(before)
            if end in (End.USUAL, End.NUMBERED_WORD):
                joined.append(word)
            else:
                joined[-1] = before + "."
        else:
            end = End.USUAL if word in FINAL_MARKS or word == "..." else End.NEVER
            if len(word) > 2 and word[-1] == "." and word[0] != ".":  # u.s.
                end = End.NEVER if word.lower()[:-1] in TITLES else End.PERHAPS
            joined.append(word)
    return joined, end


def _end_of(word: str) -> End:
    """What a full stop after `word` means."""
    folded = word.lower()
    if folded in TITLES:
        return End.NEVER
    if folded in WORDS_BEFORE_NUMBERS:
        return End.NUMBERED_WORD
    if folded in BEFORE_NUMBERS:
        return End.NUMBERED
    if folded in MAY_END or (len(word) == 1 and word.isupper()):
        return End.PERHAPS
    return End.USUAL
