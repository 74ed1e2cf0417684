"""The vocabulary: words by rank, their counts, the special words.

Words are ranked by falling count in the training part, ties by code point; the three special words come first. A
word's rank is its id everywhere, so a vocabulary of V words is simply the first V ranks, special words included, and
any rank past V reads as `<unk>`. On disk it is `words.tsv`: rank, word and count, separated by tabs.
"""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError, Stage
from fewwords.store.files import atomic_write, check_file

UNKNOWN, START, END = "<unk>", "<s>", "</s>"
SPECIAL_WORDS = (UNKNOWN, START, END)
UNKNOWN_ID, START_ID, END_ID = range(3)
NUM_SPECIAL = len(SPECIAL_WORDS)
_COUNT = re.compile("[0-9]{1,18}")


@dataclass(frozen=True)
class Vocabulary:
    """Words by rank with their counts in the training part; `counts` [V] int64."""

    words: Sequence[str]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.ids

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word -> id."""
        return {word: rank for rank, word in enumerate(self.words)}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the words in order: vocabularies with the same fingerprint give words the same ids."""
        return hashlib.sha256("\n".join(self.words).encode()).hexdigest()

    @cached_property
    def alphabetical(self) -> NDArray[np.int64]:
        """The ids of all words but the special ones, in the order of their code points, [V - 3]."""
        return np.array(sorted(range(NUM_SPECIAL, len(self.words)), key=self.words.__getitem__), np.int64)

    def starting_with(self, prefix: str) -> slice:
        """Which of `alphabetical` begin with `prefix`; all of them for an empty one."""
        # behind every word that begins so: U+10FFFF is no character of any text
        ends = (prefix, f"{prefix}\U0010ffff")
        return slice(*(bisect_left(self.alphabetical, end, key=self.words.__getitem__) for end in ends))

    def encode(self, words: Iterable[str]) -> list[int]:
        """The ids of words; those outside the vocabulary become `<unk>`."""
        return [self.ids.get(word, UNKNOWN_ID) for word in words]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The words of ids."""
        return [self.words[rank] for rank in ids]

    def head(self, size: int) -> "Vocabulary":
        """The first `size` words, special words included, with the counts of the rest added to `<unk>`."""
        if not NUM_SPECIAL < size <= len(self):
            raise InputError(
                f"a vocabulary of {size:,} words was asked for, but there are {len(self):,}, {NUM_SPECIAL} of them "
                f"special; choose a size from {NUM_SPECIAL + 1} to {len(self):,}"
            )
        counts = self.counts[:size].copy()
        counts[UNKNOWN_ID] += self.counts[size:].sum()
        return Vocabulary(self.words[:size], counts)

    def save(self, path: Path) -> None:
        """Write `words.tsv`."""
        with atomic_write(path) as file:
            for rank, (word, count) in enumerate(zip(self.words, self.counts.tolist())):
                file.write(f"{rank}\t{word}\t{count}\n".encode())

    @classmethod
    def load(cls, path: Path, size: int | None = None) -> "Vocabulary":
        """Read `words.tsv`, or its first `size` words; raises InputError naming the first bad line."""
        words: list[str] = []
        counts: list[int] = []
        check_file(path, Stage("prepare"))
        try:
            with path.open(encoding="utf-8", newline="\n") as file:
                for line in islice(file, size):
                    rank, word, count = line.rstrip("\n").split("\t")
                    if rank != str(len(words)) or not _COUNT.fullmatch(count):
                        raise ValueError
                    words.append(word)
                    counts.append(int(count))
        except ValueError:
            place = f"{path}: line {len(counts) + 1}"
            raise InputError(f"{place} is not 'rank, word, count'", remedy=Stage("prepare")) from None
        if tuple(words[:NUM_SPECIAL]) != SPECIAL_WORDS:
            raise InputError(f"{path}: the special words {' '.join(SPECIAL_WORDS)} do not come first")
        if len(set(words)) < len(words):
            raise InputError(f"{path}: a word is there twice", remedy=Stage("prepare"))
        return cls(words, np.array(counts, dtype=np.int64))
