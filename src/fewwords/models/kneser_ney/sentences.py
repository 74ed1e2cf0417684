"""Sentences laid out for the loops: all words one after another, and the length of each sentence."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fewwords.corpus.token_corpus import Part

Ids = NDArray[np.int64]
PIECE_WORDS = 1 << 20


def part_pieces(part: Part) -> Iterator[tuple[Ids, Ids]]:
    """Words and lengths of the sentences of a part, about PIECE_WORDS words at a time."""
    offsets = part.file.offsets
    first = 0
    while first < part.num_sentences:
        reach = int(np.searchsorted(offsets, offsets[first] + PIECE_WORDS, side="right")) - 1
        last = min(max(reach, first + 1), part.num_sentences)
        bounds = np.asarray(offsets[first : last + 1])
        yield part.tokens(int(bounds[0]), int(bounds[-1])), bounds[1:] - bounds[:-1]
        first = last


def list_pieces(sentences: Iterable[Ids]) -> Iterator[tuple[Ids, Ids]]:
    """Words and lengths of sentences, each ids [length], about PIECE_WORDS words at a time."""
    waiting: list[Ids] = []
    num_words = 0
    for sentence in sentences:
        waiting.append(np.asarray(sentence, np.int64))
        num_words += len(waiting[-1]) + 1
        if num_words >= PIECE_WORDS:
            yield np.concatenate(waiting), np.array([len(each) for each in waiting])
            waiting, num_words = [], 0
    if waiting:
        yield np.concatenate(waiting), np.array([len(each) for each in waiting])
