"""From a block of text to kept sentences: decode, clean, split, filter, count what was dropped and why."""

import sys
from collections import Counter
from dataclasses import dataclass, field

from fewwords.text.formats import Block, decode, paragraphs
from fewwords.text.lexicon import Lexicon
from fewwords.text.rules import TextRules
from fewwords.text.sentences import SentenceSplitter
from fewwords.vocabulary import END, START

LONGEST_HEADING = 5
TOO_SHORT, TOO_LONG = "too short", "too long"
HEADING, FRAGMENT, OVERLONG = "heading", "fragment", "overlong word"
DUPLICATE = "duplicate"


@dataclass(frozen=True)
class Limits:
    """Which sentences are kept: by number of words, and whether Wikipedia's fragments (headings, list items) are."""

    min_words: int = 1
    max_words: int | None = None
    keep_fragments: bool = True


@dataclass
class Tally:
    """What happened to the text: per reason, how many sentences and words were dropped; replaced bytes by source."""

    sentences: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    invalid_bytes: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str, num_sentences: int, num_words: int) -> None:
        """Count dropped sentences."""
        self.sentences[reason] += num_sentences
        self.words[reason] += num_words

    def add(self, other: "Tally") -> None:
        """Add another tally's counts."""
        self.sentences.update(other.sentences)
        self.words.update(other.words)
        self.invalid_bytes.update(other.invalid_bytes)


class Segmenter:
    """Turns blocks into kept sentences, with one cache of chunks for all blocks, and keeps the tally.

    `strict` stops at invalid UTF-8 instead of replacing and counting it.
    """

    def __init__(self, rules: TextRules, limits: Limits | None = None, *, strict: bool = False) -> None:
        self._limits, self._strict = limits or Limits(), strict
        self._splitter = SentenceSplitter(lower_case=rules.lower_case, numbers=rules.numbers)
        self.tally = Tally()

    @property
    def lexicon(self) -> Lexicon:
        """The words that the encoded sentences refer to."""
        return self._splitter.lexicon

    def forget(self) -> None:
        """Free the memory of the lexicon; sentences encoded before can no longer be decoded."""
        self._splitter.forget()

    def segment(self, block: Block) -> tuple[bytes, list[int]]:
        """The kept sentences one after another, as ids of the lexicon, and the length of each in words."""
        text, num_invalid = decode(block, self._strict)
        if num_invalid:
            self.tally.invalid_bytes[block.source] += num_invalid
        sentences: list[bytes] = []
        lengths: list[int] = []
        if block.format == "tokenized":
            self._tokenized(text, sentences, lengths)
        else:
            self._running_text(block, text, sentences, lengths)
        return b"".join(sentences), lengths

    def _tokenized(self, text: str, sentences: list[bytes], lengths: list[int]) -> None:
        for line in text.split("\n"):
            # sentence marks are implied; inside a line they would be ids that no model expects there
            sentence = [word for word in line.split() if word not in (START, END)]
            if sentence and self._fits(len(sentence)):
                sentences.append(self.lexicon.encode(sentence))
                lengths.append(len(sentence))

    def _running_text(self, block: Block, text: str, sentences: list[bytes], lengths: list[int]) -> None:
        prose_only = block.format in ("wikiextractor", "mediawiki", "json lines") and not self._limits.keep_fragments
        split = self._splitter.split
        least, most = self._limits.min_words, self._limits.max_words or sys.maxsize
        for paragraph in paragraphs(block, text):
            # WikiExtractor leaves section headings as short lines of their own, with a full stop at the end.
            if prose_only and len(paragraph) < 80 and len(paragraph.split()) <= LONGEST_HEADING:
                if paragraph and not paragraph.isspace():
                    self.tally.drop(HEADING, 1, len(paragraph.split()))
                continue
            for encoded, complete in split(paragraph):
                num_words = len(encoded) // 4
                if self._splitter.saw_overlong and not self._splitter.is_usable(encoded):
                    self.tally.drop(OVERLONG, 1, num_words)
                elif prose_only and not complete:
                    self.tally.drop(FRAGMENT, 1, num_words)
                elif least <= num_words <= most or self._fits(num_words):
                    sentences.append(encoded)
                    lengths.append(num_words)

    def _fits(self, num_words: int) -> bool:
        limits = self._limits
        if num_words < limits.min_words:
            self.tally.drop(TOO_SHORT, 1, num_words)
            return False
        if limits.max_words is not None and num_words > limits.max_words:
            self.tally.drop(TOO_LONG, 1, num_words)
            return False
        return True
