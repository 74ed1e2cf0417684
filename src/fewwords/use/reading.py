"""What somebody has typed so far: the words of the sentence under way, and the start of a word under the cursor.

Text is cut into words as the model's corpus was. A blank at the end means that a new word begins; without one the last letters are
the start of a word. Only the sentence under way counts, because the state of a model starts anew with each.
"""

from dataclasses import dataclass
from threading import Lock

from fewwords.text.clean import clean_chunk, clean_text
from fewwords.text.rules import TextRules
from fewwords.text.sentences import SentenceSplitter
from fewwords.text.words import fold_number, split_words

MOST_TYPES = 1_000_000  # words that are remembered
MOST_CHARACTERS = 20_000  # of the text before the cursor that are looked at; no sentence is as long


@dataclass(frozen=True)
class Typed:
    """The `words` of the sentence under way, as the model reads them, and the `prefix` of the next as it was typed."""

    words: tuple[str, ...]
    prefix: str


class Reader:
    """Cuts text by the rules of a model; remembers chunks from call to call."""

    def __init__(self, rules: TextRules) -> None:
        self.rules = rules
        self._splitter = SentenceSplitter(lower_case=rules.lower_case, numbers=rules.numbers)
        self._lock = Lock()  # the splitter numbers the words that it meets

    def sentences(self, text: str) -> list[list[str]]:
        """The words of each sentence of a text; line ends are ends of paragraphs."""
        with self._lock:
            found = [words for line in clean_text(text).splitlines() for words in self._splitter.sentences(line)]
            if len(self._splitter.lexicon) > MOST_TYPES:
                self._splitter.forget()
        return found

    def typed(self, text: str) -> Typed:
        """The sentence under way at the end of a text, and the start of a word under the cursor."""
        text = text[-MOST_CHARACTERS:]
        last_blank = max((place for place, letter in enumerate(text) if letter.isspace()), default=-1)
        before, chunk = text[: last_blank + 1], text[last_blank + 1 :]
        lines = clean_text(before).splitlines()
        line = lines[-1] if lines and not before.endswith(("\n", "\r")) else ""
        with self._lock:
            words = self._splitter.under_way(line)
        pieces = split_words(clean_chunk(chunk))
        if pieces and not pieces[-1][-1].isalnum() and "'" not in pieces[-1]:
            pieces.append("")  # a mark is a whole word, and another one begins behind it
        *whole, prefix = pieces or [""]
        return Typed((*words, *map(self.fold, whole)), prefix)

    def fold(self, word: str) -> str:
        """A word as the vocabulary has it."""
        folded = fold_number(word, self.rules.numbers)
        return folded.lower() if self.rules.lower_case else folded
