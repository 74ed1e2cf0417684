"""Sentences: where a paragraph falls apart, and the words of each sentence (paper section 4.1).

A paragraph is cut at blanks into chunks. What a chunk contributes, its words and whether it can end a
sentence, depends on the chunk alone, so it is worked out once and remembered; only at a possible end is the next
chunk looked at. That makes the whole way from text to words a dictionary look-up for most chunks.
"""

import re
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from fewwords.corpus.abbreviations import BEFORE_NUMBERS, MAY_END, SENTENCE_STARTERS, TITLES, WORDS_BEFORE_NUMBERS
from fewwords.corpus.clean import clean_chunk
from fewwords.corpus.lexicon import Lexicon
from fewwords.corpus.words import Numbers, fold_number, split_words

MAX_WORD_LENGTH = 255
_REMEMBERED_CHUNKS = 400_000


class End(IntEnum):
    """What a chunk does to the sentence that it stands in."""

    NEVER = 0  # no final mark, or the full stop of a title: Mr.
    USUAL = 1  # . ! ? and the like: ends when the next chunk can start a sentence
    PERHAPS = 2  # U.S., Inc., J.: ends only before a word that often starts sentences
    NUMBERED = 3  # pp., vol.: not before a number, else like PERHAPS
    NUMBERED_WORD = 4  # No., Fig.: an abbreviation before a number, else a word and a full stop
    ENUMERATOR = 5  # 1.: not at the start of a paragraph
    SEVERAL = 6  # holds a sentence boundary or a blank inside: pakistan.He
    OVERLONG = 7  # not a word that anybody wrote: makes its sentence unusable


_FINAL_MARKS = ".!?。।؟۔"
_CLOSERS = "\"')]}»”’"
_INSIDE_BOUNDARY = re.compile(r"(?<=[a-zà-öø-ÿ]{2}[.!?])(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ])")
# The shape of nearly all chunks: a plain word, perhaps with a bracket or quote before and a mark or two after it.
_SIMPLE = re.compile(r'([("]?)([A-Za-z]+|[0-9]+)([,;:.!?]?[)"]?[,;:.]?)(?<!\.\.)')
_HARMLESS = frozenset([",", ";", ":", ")", '"', "),", ',"', '",', ");"])
_STOP_INSIDE = re.compile(r"[.!?]\w")
_FINAL_MARKS_OR_CLOSERS = frozenset(_FINAL_MARKS + _CLOSERS)
_ENUMERATOR = re.compile(r"\(?\d{1,3}\.")


class _Final(NamedTuple):
    """A chunk that may end a sentence, or needs another look; `encoded` are its words."""

    end: End
    encoded: bytes = b""
    as_abbreviation: bytes = b""  # for NUMBERED_WORD: the words when a number follows
    pieces: tuple[str, ...] = ()  # for SEVERAL


class _Chunks(dict[str, "bytes | _Final"]):
    """Chunk -> its words as ids, or a `_Final`; remembers the first so many, which are nearly all that occur."""

    def __init__(self, lexicon: Lexicon, lower_case: bool, numbers: Numbers) -> None:
        super().__init__()
        self._lexicon = lexicon
        self._lower_case = lower_case
        self._numbers = numbers

    def __missing__(self, chunk: str) -> "bytes | _Final":
        analysis = self._analyse(chunk)
        if len(self) < _REMEMBERED_CHUNKS and len(chunk) < MAX_WORD_LENGTH:
            self[chunk] = analysis
        return analysis

    def _analyse(self, chunk: str) -> "bytes | _Final":
        if (simple := _SIMPLE.fullmatch(chunk)) is not None:
            before, word, after = simple.groups()
            words = [before, word, *after] if before else [word, *after]
            if not after or after in _HARMLESS:
                return self._encode(words)
            if after == "." and word.isalpha() and _abbreviation(word) == End.USUAL:
                return _Final(End.USUAL, self._encode(words))
            return self._final(words, chunk)
        cleaned = clean_chunk(chunk)
        if len(pieces := _pieces(cleaned)) > 1:
            return _Final(End.SEVERAL, pieces=tuple(pieces))
        words = split_words(cleaned)
        if len(cleaned) > MAX_WORD_LENGTH and any(len(word) > MAX_WORD_LENGTH for word in words):
            return _Final(End.OVERLONG)
        if "." not in cleaned and cleaned[-1:] not in _FINAL_MARKS_OR_CLOSERS:
            return self._encode(words)
        return self._final(words, cleaned)

    def _final(self, words: list[str], chunk: str) -> "bytes | _Final":
        words, end = _ending(words, chunk)
        if end == End.NEVER:
            return self._encode(words)
        joined = b""
        if end == End.NUMBERED_WORD:
            stop = len(words) - 1 - words[::-1].index(".")
            joined = self._encode([*words[: stop - 1], words[stop - 1] + ".", *words[stop + 1 :]])
        return _Final(end, self._encode(words), joined)

    def _encode(self, words: list[str]) -> bytes:
        if self._numbers != "keep":
            words = [fold_number(word, self._numbers) for word in words]
        return self._lexicon.encode(map(str.lower, words) if self._lower_case else words)


def _pieces(chunk: str) -> list[str]:
    """The chunk, or the pieces of it where it holds a blank or a boundary of sentences."""
    if not chunk.isascii() and len(pieces := chunk.split()) > 1:
        return pieces
    if not _STOP_INSIDE.search(chunk) or "://" in chunk or "www." in chunk or "@" in chunk:
        return [chunk]
    return _INSIDE_BOUNDARY.split(chunk)


def _ending(words: list[str], chunk: str) -> tuple[list[str], End]:
    """Join abbreviations with their full stop, and say whether the chunk can end a sentence."""
    joined: list[str] = []
    last = End.NEVER
    for word in words:
        if word in _CLOSERS and joined and last != End.NEVER:
            joined.append(word)  # closing quotes and brackets leave the end where it was
            continue
        last = End.USUAL if word in _FINAL_MARKS or word == "..." else End.NEVER
        before = joined[-1] if joined else ""
        if word == "." and before:
            last = _abbreviation(before)
            if last in (End.USUAL, End.NUMBERED_WORD):
                joined.append(word)
            else:
                joined[-1] = before + "."
            if before.lower() in TITLES:
                last = End.NEVER
            continue
        if len(word) > 2 and word[-1] == "." and word[0] != ".":  # u.s.
            last = End.NEVER if word.lower()[:-1] in TITLES else End.PERHAPS
        joined.append(word)
    if last == End.USUAL and _ENUMERATOR.fullmatch(chunk):
        last = End.ENUMERATOR
    return joined, last


def _abbreviation(word: str) -> End:
    """What a full stop after `word` means."""
    folded = word.lower()
    if folded in WORDS_BEFORE_NUMBERS:
        return End.NUMBERED_WORD
    if folded in BEFORE_NUMBERS:
        return End.NUMBERED
    if folded in TITLES or folded in MAY_END or (len(word) == 1 and word.isupper()):
        return End.PERHAPS
    return End.USUAL


class SentenceSplitter:
    """Cuts paragraphs into sentences of words.

    `split(paragraph, emit)` calls `emit(encoded, complete, usable)` once a sentence: `encoded` are its words as ids of the
    splitter's lexicon, four bytes each, `complete` says whether a final mark ended it, `usable` whether all its
    words are of sane length.
    """

    def __init__(self, *, lower_case: bool = True, numbers: Numbers = "keep") -> None:
        self._lower_case = lower_case
        self._numbers = numbers
        self.forget()

    def forget(self) -> None:
        """Start with an empty lexicon and no remembered chunks, to give memory back."""
        self.lexicon = Lexicon()
        self._chunks = _Chunks(self.lexicon, self._lower_case, self._numbers)

    def sentences(self, paragraph: str) -> list[list[str]]:
        """The words of each sentence of a cleaned paragraph."""
        found: list[list[str]] = []
        self.split(paragraph, lambda encoded, complete, usable: found.append(self.lexicon.decode(encoded)))
        return found

    def split(self, paragraph: str, emit: Callable[[bytes, bool, bool], None]) -> None:
        """Cut one paragraph (cleaned text, whose line ends mean nothing more)."""
        known = self._chunks
        chunks = paragraph.split()
        sentence: list[bytes] = []
        add = sentence.append
        usable = True
        for position, chunk in enumerate(chunks):
            words = known[chunk]
            if type(words) is bytes:
                add(words)
                continue
            assert isinstance(words, _Final)
            if words.end == End.SEVERAL:
                # the pieces take the chunk's place in the list, and the loop goes on over them
                chunks[position : position + 1] = words.pieces
                first = known[words.pieces[0]]
                if type(first) is bytes:
                    add(first)
                    continue
                assert isinstance(first, _Final)
                words = first
            if words.end == End.OVERLONG:
                usable = False
                continue
            following = _next_with_a_letter(chunks, position + 1)
            if words.end == End.NUMBERED_WORD and following[:1].isdigit():
                add(words.as_abbreviation)
                continue
            add(words.encoded)
            if following == "":
                break  # what is left is closing punctuation, which stays with the sentence
            if _ends(words.end, following, is_first=len(sentence) == 1):
                emit(b"".join(sentence), True, usable)
                sentence.clear()
                usable = True
        else:
            if sentence or not usable:
                emit(b"".join(sentence), False, usable)
            return
        for chunk in chunks[position + 1 :]:
            words = known[chunk]
            add(words if isinstance(words, bytes) else words.encoded)
        emit(b"".join(sentence), True, usable)


def _ends(end: End, following: str, is_first: bool) -> bool:
    """Whether a chunk ends its sentence, given what follows and whether the chunk is the sentence's first."""
    if end == End.NUMBERED and following[0].isdigit():
        return False
    if end in (End.PERHAPS, End.NUMBERED):
        return following.rstrip(",'\")]:;") in SENTENCE_STARTERS
    if end == End.ENUMERATOR and is_first:
        return False
    return not following[0].islower()


def _next_with_a_letter(chunks: list[str], position: int) -> str:
    """The following text from its first letter or digit, to the end of that chunk; "" when there is none."""
    for index in range(position, len(chunks)):
        for start, character in enumerate(chunks[index]):
            if character.isalnum():
                return chunks[index][start:]
    return ""
