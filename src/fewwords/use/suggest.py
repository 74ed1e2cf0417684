"""Suggestions: the most probable next words, or the most probable ways to go on with the word under the cursor."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fewwords.text.join import blank_between, write_word
from fewwords.use.reading import Typed
from fewwords.vocabulary import NUM_SPECIAL, Vocabulary


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


class Completer:
    """Finds the words of a vocabulary that begin with some letters."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._words = vocabulary.words

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Ids in the order of the words; special words are left out."""
        ids = sorted(range(NUM_SPECIAL, len(self._words)), key=self._words.__getitem__)
        return np.array(ids, np.int64)

    def ids(self, prefix: str) -> NDArray[np.int64]:
        """The ids of all words that begin with `prefix`; of all words for an empty one."""
        first = self._place(prefix)
        # behind every word that begins so: U+10FFFF is no character of any text
        last = self._place(prefix + "\U0010ffff")
        return self._order[first:last]

    def _place(self, text: str) -> int:
        low, high = 0, len(self._order)
        while low < high:
            middle = (low + high) // 2
            if self._words[self._order[middle]] < text:
                low = middle + 1
            else:
                high = middle
        return low


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
