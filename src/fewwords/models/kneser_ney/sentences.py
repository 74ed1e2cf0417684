"""Sentences laid out for the loops: all words one after another, and the length of each sentence."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fewwords.corpus.token_corpus import Part
from fewwords.errors import InputError

Ids = NDArray[np.int64]
PIECE_WORDS = 1 << 20


def first_sentences(part: Part, max_words: int | None) -> int:
    """How many sentences at the start of a part have at most `max_words` words together; one at least."""
    if part.num_sentences == 0:
        raise InputError(f"the part {part.name} is empty; prepare the corpus with more text")
    if max_words is None:
        return part.num_sentences
    if max_words < 1:
        raise InputError(f"{max_words} words: choose 1 or more")
    return max(1, int(np.searchsorted(part.file.offsets, max_words, side="right")) - 1)


def part_pieces(part: Part, num_sentences: int) -> Iterator[tuple[Ids, Ids]]:
    """Words and lengths of the first sentences of a part, about PIECE_WORDS words at a time."""
    offsets = part.file.offsets
    first = 0
    while first < num_sentences:
        reach = int(np.searchsorted(offsets, offsets[first] + PIECE_WORDS, side="right")) - 1
        last = min(max(reach, first + 1), num_sentences)
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
