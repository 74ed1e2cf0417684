"""The settings of `prepare`: everything that decides which tokens come out, and nothing else."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fewwords.errors import InputError
from fewwords.option import Option
from fewwords.text.rules import TextRules
from fewwords.text.words import Numbers

if TYPE_CHECKING:
    from fewwords.text.segment import Limits


@dataclass(frozen=True)
class Settings:
    """How text becomes sentences; the defaults are the paper's where known (its released code: 3 to 64 words)."""

    tokenized: Annotated[
        bool, Option("One sentence per line, words separated by spaces: nothing is cleaned or folded.")
    ] = False
    lower_case: bool = True
    numbers: Annotated[Numbers, Option("Numbers as they are, with every digit 0, or all as the word <num>.")] = "keep"
    min_words: Annotated[int, Option("Drop shorter sentences.")] = 3
    max_words: Annotated[int | None, Option("Drop longer sentences; 0 keeps any length.")] = 64  # None: any length
    keep_fragments: Annotated[bool, Option("In Wikipedia text, keep headings and lines without a final mark.")] = False
    dedup: Annotated[bool, Option("Drop sentences that occurred before.")] = False
    strict: Annotated[
        bool, Option("Stop at invalid UTF-8, and at a folder that cannot be read, instead of counting it.")
    ] = False
    seed: Annotated[int, Option("Seed of the shuffle.")] = 1

    def __post_init__(self) -> None:
        if self.min_words < 1:
            raise InputError(f"`min_words` {self.min_words}: a sentence has at least 1 word")
        if self.max_words is not None and self.max_words < self.min_words:
            raise InputError(f"`max_words` {self.max_words} is less than `min_words` {self.min_words}; swap them")
        TextRules(self.lower_case, self.numbers)  # raises for an unknown choice
        if not 0 <= self.seed < 1 << 63:
            raise InputError(f"`seed` {self.seed}: choose a number from 0 to 2^63 - 1")

    @property
    def rules(self) -> TextRules:
        """How text becomes words."""
        return TextRules(self.lower_case, self.numbers)

    @property
    def limits(self) -> "Limits":
        """Which sentences are kept."""
        from fewwords.text.segment import Limits  # which loads numpy

        return Limits(self.min_words, self.max_words, self.keep_fragments)
