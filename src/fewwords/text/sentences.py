"""Sentences: where a paragraph is split, and the words of each sentence (paper section 4.1).

Only places after a final mark matter: there the last chunk decides whether it can end a sentence, and what follows
whether a new one can start. Everything between two such places becomes words in one go.
"""

import re

from fewwords.text.abbreviations import SENTENCE_STARTERS
from fewwords.text.chunks import CLOSERS, OVERLONG, USUAL, Chunks, End, Ending, SeveralChunks
from fewwords.text.lexicon import Lexicon
from fewwords.text.words import Numbers

# The text is not yet normalised here, so the wide forms of the marks count as well.
_AFTER_A_FINAL_MARK = re.compile(rf"[.!?。।؟۔…．！？｡][{re.escape(CLOSERS)}“‘″′`’´]*(?:\s+|$)")
_FROM_A_LETTER = re.compile(r"[^\W_]\S*")


class SentenceSplitter:
    """Splits paragraphs into sentences, whose words are ids of the splitter's lexicon, four bytes each."""

    def __init__(self, *, lower_case: bool = True, numbers: Numbers = "keep") -> None:
        self._lower_case = lower_case
        self._numbers: Numbers = numbers
        self.forget()

    def forget(self) -> None:
        """Start over with an empty lexicon and no cached chunks, to free memory."""
        self.lexicon = Lexicon()
        self._chunks = Chunks(self.lexicon, self._lower_case, self._numbers)

    def sentences(self, paragraph: str) -> list[list[str]]:
        """The words of each sentence of a cleaned paragraph."""
        return [self.lexicon.decode(encoded) for encoded, _ in self.split(paragraph)]

    def split(self, paragraph: str) -> list[tuple[bytes, bool]]:
        """The sentences of a cleaned paragraph, encoded, each with whether a final mark ended it."""
        while True:
            try:
                return self._split(paragraph)
            except SeveralChunks:
                # all such chunks at once: a long line may hold thousands
                paragraph = " ".join(piece for chunk in paragraph.split() for piece in self._chunks.pieces(chunk))

    def under_way(self, line: str) -> list[str]:
        """The words of the sentence at the end of a cleaned line that is still being written.

        None if its last mark ends a sentence. A full stop that may belong to an abbreviation (`U.S.`) does not end it here: what
        will follow is not known yet.
        """
        found = self.split(line)
        ending = self._chunks.ending(line.split()[-1]) if found and found[-1][1] else None
        if ending is not None and ending.end not in (End.PERHAPS, End.NUMBERED):
            return []
        return self.lexicon.decode(found[-1][0]) if found else []

    @property
    def saw_overlong(self) -> bool:
        """Whether any sentence may be unusable."""
        return self._chunks.saw_overlong

    def is_usable(self, encoded: bytes) -> bool:
        """Whether no word of a sentence is overlong."""
        overlong = self.lexicon[OVERLONG]
        return overlong not in encoded or all(
            encoded[place : place + 4] != overlong for place in range(0, len(encoded), 4)
        )

    def _split(self, paragraph: str) -> list[tuple[bytes, bool]]:
        found: list[tuple[bytes, bool]] = []
        sentence: list[bytes] = []
        words_of = self._chunks.__getitem__
        endings = self._chunks.endings
        start = letter_at = 0
        following = ""
        for mark in _AFTER_A_FINAL_MARK.finditer(paragraph):
            stop = mark.end()
            chunks = paragraph[start:stop].split()
            start = stop
            sentence += map(words_of, chunks)
            ending = endings.get(chunks[-1])
            if ending is USUAL and paragraph[start : start + 1].isupper():  # nearly always
                found.append((b"".join(sentence), True))
                sentence.clear()
                continue
            if ending is None and (ending := self._chunks.ending(chunks[-1])) is None:
                continue
            if letter_at < start:
                letter = _FROM_A_LETTER.search(paragraph, start)
                letter_at, following = (letter.start(), letter[0]) if letter else (len(paragraph), "")
            if ending.end == End.NUMBERED_WORD and following[:1].isdigit():
                sentence[-1] = ending.as_abbreviation
            elif following and _ends(ending, following, is_first=len(sentence) == 1):
                found.append((b"".join(sentence), True))
                sentence.clear()
            elif not following:
                break  # what is left is closing punctuation, which stays with the sentence
        else:
            ending = None
        rest = [*sentence, *map(words_of, paragraph[start:].split())]
        if rest:
            found.append((b"".join(rest), ending is not None))
        return found


def _ends(ending: Ending, following: str, is_first: bool) -> bool:
    """Whether a chunk ends its sentence, given what follows and whether the chunk is the sentence's first."""
    end = ending.end
    if end == End.NUMBERED and following[0].isdigit():
        return False
    if end in (End.PERHAPS, End.NUMBERED):
        return following.rstrip(",'\")]:;") in SENTENCE_STARTERS
    if end == End.ENUMERATOR and is_first:
        return False
    return not following[0].islower()
