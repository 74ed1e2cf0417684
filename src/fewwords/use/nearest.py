"""The nearest words of a word by the vectors that a model has learned: the rows of its embedding.

Rows are computed, from codes and base where the embedding is coded, for some thousand words at a time, so that memory depends
on the vocabulary only by the k best words.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.models.model import Model
from fewwords.vectors.neighbours import near_spelling
from fewwords.vocabulary import NUM_SPECIAL

WORDS_PER_CHUNK = 8192


def nearest_words(model: Model, words: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
    """For each word the k words of the largest cosine, the best first; special words are no neighbours.

    Of a mixture, the first component with vectors answers. Raises InputError for a model without vectors and for a word
    outside the vocabulary.
    """
    if k < 1:
        raise InputError(f"`k` {k}: choose 1 or more words")
    owner = next((part for part in model.parts if part.word_vectors(np.empty(0, np.int64)) is not None), None)
    if owner is None:
        raise InputError(f"{model.variant}: has no word vectors, so no word is near another; choose a neural model")
    vocabulary = model.vocabulary
    ids = np.array([_find(model, word) for word in words], np.int64)
    chosen = _unit_rows(owner, ids)
    best, cosines = np.empty((len(ids), 0), np.int64), np.empty((len(ids), 0), np.float32)
    for first in range(NUM_SPECIAL, len(vocabulary), WORDS_PER_CHUNK):
        others = np.arange(first, min(first + WORDS_PER_CHUNK, len(vocabulary)))
        found = chosen @ _unit_rows(owner, others).T
        found[ids[:, None] == others] = -np.inf
        best = np.concatenate([best, np.broadcast_to(others, found.shape)], axis=1)
        cosines = np.concatenate([cosines, found], axis=1)
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        best, cosines = np.take_along_axis(best, order, axis=1), np.take_along_axis(cosines, order, axis=1)
    return [
        [(vocabulary.words[other], float(cosine)) for other, cosine in zip(*row) if cosine > -np.inf]
        for row in zip(best.tolist(), cosines.tolist())
    ]


def _unit_rows(model: Model, ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """Vectors of length 1, or of zeros, [n, size]."""
    rows = model.word_vectors(ids)
    assert rows is not None
    lengths = np.sqrt(np.einsum("ve,ve->v", rows, rows))
    lengths[lengths == 0] = 1
    unit: NDArray[np.float32] = rows / lengths[:, None]
    return unit


def _find(model: Model, word: str) -> int:
    found = model.vocabulary.ids.get(word)
    if found is None:
        near = near_spelling(word, model.vocabulary.words[NUM_SPECIAL:])
        raise InputError(
            f"{word}: not among the {model.num_words:,} words of the model; "
            + (f"did you mean {near}?" if near else "choose another")
        )
    return found
