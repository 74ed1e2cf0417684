"""Suggestions: the most probable next words, or the most probable ways to go on with the word under the cursor."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewwords.text.join import blank_between, write_word
from fewwords.use.reading import Typed
from fewwords.vocabulary import Vocabulary


@dataclass(frozen=True)
class Suggestion:
    """A word of the vocabulary, how it is written at this place, and its probability.

    `text` is what to show; `insert` is what to put in place of the `prefix` that was typed, with a blank before it where one is
    missing. Probabilities of completions are those of the whole word, given the words before and nothing of the letters.
    """

    word: str
    text: str
    insert: str
    probability: float


def top_words(log_probs: NDArray[np.float32], ids: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The k most probable of some ids, the best first; equal ones by rank."""
    if k < len(ids):
        lost = -log_probs[ids]
        ids = ids[lost <= np.partition(lost, k - 1)[k - 1]]
    best: NDArray[np.int64] = ids[np.lexsort((ids, -log_probs[ids]))][:k]
    return best


def write_suggestions(
    ids: Sequence[int], log_probs: NDArray[np.float32], typed: Typed, vocabulary: Vocabulary, *, after_blank: bool
) -> list[Suggestion]:
    """Words as a person would write them after what was typed; `after_blank`: the text ends in a blank or is empty."""
    found = []
    for word, log_prob in ((vocabulary.words[index], float(log_probs[index])) for index in ids):
        text = write_word(word, is_first=not typed.words)
        if typed.prefix:
            text = typed.prefix + text[len(typed.prefix) :]  # the letters stay as they were typed
        blank = "" if after_blank or typed.prefix or not blank_between(typed.words, word) else " "
        found.append(Suggestion(word, text, blank + text, float(np.exp(log_prob))))
    return found
