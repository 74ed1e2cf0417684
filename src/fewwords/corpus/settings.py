"""The settings of `prepare`: everything that decides which tokens come out, and nothing that does not."""

from dataclasses import dataclass

from fewwords.errors import InputError
from fewwords.text.rules import TextRules
from fewwords.text.segment import Limits
from fewwords.text.words import Numbers


@dataclass(frozen=True)
class Settings:
    """How text becomes sentences; the defaults are the paper's where it says (released code: 3 to 64 words)."""

    tokenized: bool = False  # words are separated by blanks and a line is a sentence: nothing is cleaned or folded
    lower_case: bool = True
    numbers: Numbers = "keep"
    min_words: int = 3
    max_words: int | None = 64  # None: sentences of any length
    keep_fragments: bool = False  # headings and lines without a final mark in Wikipedia text
    dedup: bool = False
    strict: bool = False  # stop at invalid UTF-8 instead of replacing and counting it
    seed: int = 1

    def __post_init__(self) -> None:
        if self.min_words < 1:
            raise InputError(f"--min-words {self.min_words}: a sentence has at least 1 word")
        if self.max_words is not None and self.max_words < self.min_words:
            raise InputError(f"--max-words {self.max_words} is less than --min-words {self.min_words}; swap them")
        TextRules(self.lower_case, self.numbers)  # raises for an unknown choice
        if not 0 <= self.seed < 1 << 63:
            raise InputError(f"--seed {self.seed}: choose a number from 0 to 2^63 - 1")

    @property
    def rules(self) -> TextRules:
        """How text becomes words."""
        return TextRules(self.lower_case, self.numbers)

    @property
    def limits(self) -> Limits:
        """Which sentences are kept."""
        return Limits(self.min_words, self.max_words, self.keep_fragments)
