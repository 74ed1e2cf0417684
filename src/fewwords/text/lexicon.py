"""A lexicon: the words seen so far, numbered in order of appearance.

Words are passed on as ids of four bytes, so a sentence is one short byte string and a run of text one array.
"""

from array import array
from collections.abc import Iterable


class Lexicon(dict[str, bytes]):
    """Word -> id in four bytes; a new word gets the next id."""

    def __init__(self) -> None:
        super().__init__()
        self._words: list[str] = []

    def __missing__(self, word: str) -> bytes:
        self[word] = encoded = len(self).to_bytes(4, "little")
        return encoded

    def encode(self, words: Iterable[str]) -> bytes:
        """The ids of words, four bytes each."""
        return b"".join(map(self.__getitem__, words))

    def decode(self, encoded: bytes) -> list[str]:
        """The words of ids."""
        if len(self._words) < len(self):
            self._words = list(self)
        return [self._words[number] for number in array("I", encoded)]
