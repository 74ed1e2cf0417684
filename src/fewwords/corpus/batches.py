"""Equal-length batches: sentences of one length, no padding (as in the authors' code).

The corpus is already shuffled, so it is enough to group sentences by length within windows of consecutive sentences,
and to shuffle the windows, the sentences in them and the batches, each from (seed, epoch, window) alone. So a position
is three small numbers, and continuing from one costs no more than making one window again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.vocabulary import UNKNOWN_ID

if TYPE_CHECKING:
    from fewwords.corpus.token_corpus import Part

WINDOW_SENTENCES = 1 << 17


@dataclass(frozen=True)
class Position:
    """A place in the endless sequence of batches."""

    epoch: int = 0
    window: int = 0
    batch: int = 0


@dataclass(frozen=True)
class Batch:
    """Sentences of one length: `ids` [num_sentences, length] int64, and the position after them."""

    ids: NDArray[np.int64]
    next: Position


def make_batches(part: "Part", batch_words: int, *, seed: int, position: Position) -> Iterator[Batch]:
    """Batches of at most `batch_words` words (but at least one sentence), epoch after epoch, starting at `position`."""
    if batch_words < 1:
        raise InputError(f"a batch of {batch_words} words: choose 1 or more")
    if part.num_sentences == 0:
        raise InputError(f"the part {part.name} is empty; prepare the corpus with more text")
    num_windows = -(-part.num_sentences // WINDOW_SENTENCES)
    epoch, first_window, skip = position.epoch, position.window, position.batch
    while True:
        order = np.random.default_rng((seed, epoch)).permutation(num_windows)
        for window in range(first_window, num_windows):
            random = np.random.default_rng((seed, epoch, window))
            batches = _window_batches(part, int(order[window]), batch_words, random)
            for number in range(skip, len(batches)):
                following = Position(epoch, window, number + 1)
                if number + 1 == len(batches):
                    is_last = window + 1 == num_windows
                    following = Position(epoch + 1) if is_last else Position(epoch, window + 1)
                yield Batch(_read(part, batches[number]), following)
            skip = 0
        epoch, first_window = epoch + 1, 0


def _window_batches(
    part: "Part", window: int, batch_words: int, random: np.random.Generator
) -> list[NDArray[np.int64]]:
    """The sentences of each batch of a window."""
    first = window * WINDOW_SENTENCES
    lengths = np.diff(part.file.offsets[first : first + WINDOW_SENTENCES + 1])
    shuffled = random.permutation(len(lengths))
    by_length = shuffled[np.argsort(lengths[shuffled], kind="stable")]
    sorted_lengths = lengths[by_length]
    borders = np.flatnonzero(np.diff(sorted_lengths)) + 1
    batches: list[NDArray[np.int64]] = []
    for group in np.split(by_length, borders):
        step = max(1, batch_words // int(lengths[group[0]]))
        batches.extend(group[start : start + step] + first for start in range(0, len(group), step))
    return [batches[index] for index in random.permutation(len(batches))]


def _read(part: "Part", sentences: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = part.file.offsets[sentences]
    length = int(part.file.offsets[sentences[0] + 1] - starts[0])
    places = starts[:, None] + np.arange(length)
    ids: NDArray[np.int64] = part.file.tokens[places].astype(np.int64)
    ids[ids >= part.vocabulary_size] = UNKNOWN_ID
    return ids
