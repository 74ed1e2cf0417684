"""The settings of `prepare`: everything that decides which tokens come out, and nothing that does not."""

from dataclasses import dataclass

from fewwords.corpus.words import Numbers
from fewwords.errors import InputError


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
        if self.numbers not in ("keep", "digits", "token"):
            raise InputError(f"--numbers {self.numbers}: choose keep, digits or token")
        if not 0 <= self.seed < 1 << 63:
            raise InputError(f"--seed {self.seed}: choose a number from 0 to 2^63 - 1")
