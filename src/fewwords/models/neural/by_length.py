"""Sentences of one length go through a network together, which changes no sentence's score.

Each sentence starts from a new state. Results come in the order of the sentences; so that many wait for their like, a
window of sentences is held at a time.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.models.model import Scored, Sentence

WINDOW_WORDS = 1 << 18  # words that wait to be batched with sentences of equal length


def score_by_length(
    sentences: Iterable[Sentence],
    target_log_probs: Callable[[NDArray[np.int64], int], NDArray[np.float64]],
    batch_words: int,
    advance: Callable[[int], None] | None,
) -> Iterator[Scored]:
    """The sentences in order with ln p of their targets, which `target_log_probs` gives for sentences of one length."""
    if batch_words < 1:
        raise InputError(f"a batch of {batch_words} words: choose 1 or more")
    for window in _windows(sentences):
        scores: list[NDArray[np.float64]] = [np.empty(0)] * len(window)
        for group in equal_lengths([len(sentence) for sentence in window], batch_words):
            ids = np.stack([window[index] for index in group])
            for index, row in zip(group, target_log_probs(ids, batch_words)):
                scores[index] = row
            if advance is not None:
                advance(ids.size)
        yield from zip(window, scores)


def _windows(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    window: list[Sentence] = []
    num_words = 0
    for sentence in sentences:
        window.append(sentence)
        num_words += len(sentence)
        if num_words >= WINDOW_WORDS:
            yield window
            window, num_words = [], 0
    if window:
        yield window


def equal_lengths(lengths: list[int], batch_words: int) -> Iterator[list[int]]:
    """The places of sentences of one length, at most `batch_words` words in total."""
    by_length: dict[int, list[int]] = {}
    for index, length in enumerate(lengths):
        by_length.setdefault(length, []).append(index)
    for length, places in sorted(by_length.items()):
        step = max(1, batch_words // max(1, length))
        yield from (places[first : first + step] for first in range(0, len(places), step))
