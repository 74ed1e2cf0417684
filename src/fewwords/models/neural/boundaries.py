"""Where a sentence begins and ends for a neural model, decided in this one place.

With the boundary "end" a sentence is read from `<s>`, and `</s>` is predicted after its last word. With "paper", as in
the authors' code, the first word is predicted from a learned state before any input, and the end is not predicted.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fewwords.models.neural.variants import Boundary
from fewwords.vocabulary import END_ID, START_ID

if TYPE_CHECKING:
    from torch import Tensor

Array = TypeVar("Array", NDArray[np.int64], "Tensor")


@dataclass(frozen=True)
class Reading(Generic[Array]):
    """What a model reads and predicts, time first: `inputs` [T', n] and `targets` [T, n].

    If there is one more target than inputs, the first is predicted from the state before any input.
    """

    inputs: Array
    targets: Array

    @property
    def predicts_before_reading(self) -> bool:
        """Whether the first target is predicted from the state before any input."""
        return len(self.targets) > len(self.inputs)


def read(sentences: Array, boundary: Boundary) -> Reading[Array]:
    """Inputs and targets of sentences of one length, ids [num_sentences, length], an array or a tensor."""
    words = sentences.T
    if boundary == "paper":
        return Reading(words[:-1], words)
    return Reading(_join(_row(START_ID, words), words), _join(words, _row(END_ID, words)))


def first_input(boundary: Boundary) -> int | None:
    """The word that is read before a sentence begins, if there is one."""
    return None if boundary == "paper" else START_ID


def never_predicted(boundary: Boundary) -> tuple[int, ...]:
    """The words that are never targets: `<s>`, and `</s>` too where the end of a sentence is not predicted."""
    return (START_ID, END_ID) if boundary == "paper" else (START_ID,)


def _row(word: int, words: Any) -> Any:
    """A row with the same word for each column of `words`."""
    shape = (1, words.shape[1])
    return np.full(shape, word) if isinstance(words, np.ndarray) else words.new_full(shape, word)


def _join(*parts: Any) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from torch import cat

    return cat(parts)
