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

    `text` is what to show; `insert` is what to put in place of the last `replaces` characters that were typed: the start of the
    word, or a blank that does not belong there (before a comma). Where a blank is missing, `insert` begins with it.
    Probabilities of completions are those of the whole word, given the words before and nothing of the letters.
    """

    word: str
    text: str
    insert: str
    probability: float
    replaces: int

    def take(self, text: str) -> str:
        """The text that it was made for with this word in it, and a blank where the next word wants one."""
        return text[: len(text) - self.replaces] + self.insert + " " * blank_between([self.word], "a")


def top_words(log_probs: NDArray[np.floating], ids: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The k most probable of some ids, the best first; equal ones by rank."""
    if k < len(ids):
        among = log_probs.take(ids)
        ids = ids[np.flatnonzero(among >= np.partition(among, len(ids) - k)[len(ids) - k])]
    best: NDArray[np.int64] = ids[np.lexsort((ids, -log_probs[ids]))][:k]
    return best


def write_suggestions(
    ids: Sequence[int], log_probs: NDArray[np.float32], typed: Typed, vocabulary: Vocabulary, text: str
) -> list[Suggestion]:
    """Words as a person would write them after a text, which was read as `typed`."""
    found = []
    num_blanks = len(text) - len(text.rstrip())
    for word, log_prob in ((vocabulary.words[index], float(log_probs[index])) for index in ids):
        written = write_word(word, is_first=not typed.words)
        if typed.prefix:
            written = typed.prefix + written[len(typed.prefix) :]  # the letters stay as they were typed
            blank, replaces = "", typed.prefix_length
        else:
            parted = blank_between(typed.words, word)
            blank = " " if parted and not num_blanks else ""
            replaces = num_blanks if typed.words and not parted else 0
        found.append(Suggestion(word, written, blank + written, float(np.exp(log_prob)), replaces))
    return found
