"""Kneser-Ney's counts of the n-grams of a part (Chen and Goodman 1999; Kneser and Ney 1995).

At the highest order the count of an n-gram is how often it occurs. Below, it is the number of distinct words that
precede it, that is, of distinct n-grams of the next order that end in it. An n-gram that starts with `<s>` has nothing
to its left and keeps its number of occurrences.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fewwords.corpus.token_corpus import Part
from fewwords.models.kneser_ney.keys import DirectKeys, Ids, Keys, RankedKeys, fits_directly
from fewwords.models.kneser_ney.sentences import part_pieces
from fewwords.models.kneser_ney.sorted_runs import Counted, count_keys
from fewwords.progress import Progress
from fewwords.vocabulary import START_ID

PIECE_ROWS = 1 << 20


@dataclass(frozen=True)
class NgramCounts:
    """The n-grams of one order in ascending order, with their counts.

    `padding` are the rows that start with `<s>` `<s>`: they help to find the lower orders and are not n-grams of this
    one.
    """

    keys: Keys
    rows: Ids
    counts: Ids
    padding: slice

    @property
    def num_ngrams(self) -> int:
        """N-grams, without the padding."""
        return len(self.rows) - int(self.padding.stop - self.padding.start)

    @property
    def stretches(self) -> tuple[slice, slice]:
        """The rows without the padding."""
        return slice(0, self.padding.start), slice(self.padding.stop, len(self.rows))


@dataclass
class NgramCounter:
    """Counts n-grams over a part, read through its vocabulary."""

    part: Part
    memory_bytes: int
    folder: Path | None = None
    _known_keys: dict[int, Keys] = field(default_factory=dict)

    def adjusted(self, order: int) -> list[NgramCounts]:
        """Kneser-Ney's counts of the orders 1 to `order`, in that order."""
        found = [self.occurrences(order)]
        while found[0].keys.order > 1:
            found.insert(0, self._lower(found[0]))
        return found

    def occurrences(self, order: int) -> NgramCounts:
        """How often each n-gram of one order occurs."""
        keys = self._keys_of(order)
        with Progress(f"counting {order}-grams", self.part.num_words, "words") as progress:
            counted = count_keys(
                self._windows(keys, progress),
                self.part.num_words + self.part.num_sentences,
                memory_bytes=self.memory_bytes,
                folder=self.folder,
                merged=lambda rows: progress.advance(0, status="merging blocks from disk"),
            )
        return _ngram_counts(keys, counted)

    def _windows(self, keys: Keys, progress: Progress) -> Iterator[Ids]:
        for tokens, lengths in part_pieces(self.part):
            yield keys.of_windows(tokens, lengths)
            progress.advance(len(tokens))

    def _lower(self, upper: NgramCounts) -> NgramCounts:
        """The counts of the next lower order."""
        order = upper.keys.order - 1
        keys = self._keys_of(order)

        def pieces(progress: Progress) -> Iterator[Ids]:
            for start in range(0, len(upper.rows), PIECE_ROWS):
                piece = upper.rows[start : start + PIECE_ROWS]
                yield upper.keys.without_first(piece, keys)
                progress.advance(len(piece))

        with Progress(f"counting what comes before {order}-grams", len(upper.rows), f"{order + 1}-grams") as progress:
            counted = count_keys(
                pieces(progress),
                len(upper.rows),
                memory_bytes=self.memory_bytes,
                folder=self.folder,
                merged=lambda rows: progress.advance(0, status="merging blocks from disk"),
            )
        if order > 1:
            # to the left of `<s>` there is only padding, so these rows match the padding one to one, in order
            start, stop = np.searchsorted(
                counted.keys, [keys.lower_bound(START_ID, 0), keys.lower_bound(START_ID + 1, 0)]
            )
            counted.counts[start:stop] = upper.counts[upper.padding]
        return _ngram_counts(keys, counted)

    def _keys_of(self, order: int) -> Keys:
        """How n-grams of an order are written as numbers; takes passes over the text if ranks are needed."""
        if order not in self._known_keys:
            size = self.part.vocabulary_size
            if fits_directly(size, order):
                self._known_keys[order] = DirectKeys(size, order)
            else:
                head, tail = self.occurrences(-(-order // 2)), self.occurrences(order // 2)
                self._known_keys[order] = RankedKeys(head.keys, tail.keys, _with_padding(head), _with_padding(tail))
        return self._known_keys[order]


def _ngram_counts(keys: Keys, counted: Counted) -> NgramCounts:
    start = stop = 0
    if keys.order > 2:
        bounds = [keys.lower_bound(START_ID, START_ID), keys.lower_bound(START_ID, START_ID + 1)]
        start, stop = map(int, np.searchsorted(counted.keys, bounds))
    return NgramCounts(keys, counted.keys, counted.counts, slice(start, stop))


def _with_padding(half: NgramCounts) -> Ids:
    """The rows with `<s>` … `<s>` added: no n-gram of the text ends there, but the first half of one can."""
    padding = half.keys.pack(np.full((half.keys.order, 1), START_ID, np.int64))
    return np.insert(half.rows, np.searchsorted(half.rows, padding), padding)
