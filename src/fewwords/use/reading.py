"""What somebody has typed so far: the words of the sentence under way, and the start of a word under the cursor.

Text is cut into words as the model's corpus was. A blank at the end means that a new word begins; without one the last letters are
the start of a word. Only the sentence under way counts, because the state of a model starts anew with each.
"""

import re
from dataclasses import dataclass
from threading import Lock

from fewwords.errors import InputError
from fewwords.text.clean import clean_chunk, clean_text
from fewwords.text.rules import TextRules
from fewwords.text.sentences import SentenceSplitter
from fewwords.text.words import fold_number, split_words

MOST_TYPES = 1_000_000  # words that are remembered
MOST_CHARACTERS = 6_000  # of the text before the cursor that are looked at; hardly a sentence is as long
_STEP = MOST_CHARACTERS // 2
_BLANK = re.compile(r"\s")


@dataclass(frozen=True)
class Typed:
    """The `words` of the sentence under way, as the model reads them, and the `prefix` of the next as it was typed.

    The prefix takes the last `prefix_length` characters of the text, which are more or fewer than it has where characters were
    brought into their usual form (`ﬁ` is `fi`).
    """

    words: tuple[str, ...]
    prefix: str
    prefix_length: int


class Reader:
    """Cuts text by the rules of a model; remembers chunks from call to call."""

    def __init__(self, rules: TextRules) -> None:
        self.rules = rules
        self._splitter = SentenceSplitter(lower_case=rules.lower_case, numbers=rules.numbers)
        self._lock = Lock()  # the splitter numbers the words that it meets

    def sentences(self, text: str) -> list[list[str]]:
        """The words of each sentence of a text; line ends are ends of paragraphs."""
        _check_text(text)
        with self._lock:
            found = [words for line in clean_text(text).splitlines() for words in self._splitter.sentences(line)]
            self._forget_some()
        return found

    def typed(self, text: str) -> Typed:
        """The sentence under way at the end of a text, and the start of a word under the cursor."""
        _check_text(text)
        before, chunk = _split_last_chunk(_window(text))
        lines = clean_text(before).splitlines()
        line = lines[-1] if lines and not before.endswith(("\n", "\r")) else ""
        with self._lock:
            words = self._splitter.under_way(line)
            self._forget_some()
        pieces = split_words(clean_chunk(chunk))
        if pieces and not pieces[-1][-1].isalnum() and "'" not in pieces[-1]:
            pieces.append("")  # a mark is a whole word, and another one begins behind it
        *whole, prefix = pieces or [""]
        return Typed((*words, *map(self.fold, whole)), prefix, _length_typed(chunk, prefix))

    def chunk(self, chunk: str) -> list[str]:
        """The words of a text without blanks: `Mary's` is two."""
        _check_text(chunk)
        return [self.fold(word) for word in split_words(clean_chunk(chunk))]

    def fold(self, word: str) -> str:
        """A word as the vocabulary has it."""
        folded = fold_number(word, self.rules.numbers)
        return folded.lower() if self.rules.lower_case else folded

    def _forget_some(self) -> None:
        if len(self._splitter.lexicon) > MOST_TYPES:
            self._splitter.forget()


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        kind = type(text).__name__
        raise InputError(f"a text was expected, not a value of type {kind}; give a str (words are joined by blanks)")


def _window(text: str) -> str:
    """The end of a text, MOST_CHARACTERS at the most, from a blank on.

    Its start moves in large steps, so that one key more changes only the end of a long text, and the states of the words before
    are still remembered.
    """
    if len(text) <= MOST_CHARACTERS:
        return text
    start = -(-(len(text) - MOST_CHARACTERS) // _STEP) * _STEP
    blank = _BLANK.search(text, start)
    return text[blank.end() if blank else start :]


def _split_last_chunk(text: str) -> tuple[str, str]:
    """A text up to its last blank, and the letters behind it."""
    place = next((place for place in range(len(text), 0, -1) if text[place - 1].isspace()), 0)
    return text[:place], text[place:]


def _length_typed(chunk: str, prefix: str) -> int:
    """How many of the last characters of a chunk became the prefix."""
    if chunk.endswith(prefix):
        return len(prefix)
    return next(
        (length for length in range(len(chunk)) if clean_chunk(chunk[len(chunk) - length :]) == prefix), len(chunk)
    )
