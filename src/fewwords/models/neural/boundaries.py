"""Where a sentence begins and ends for a neural model, decided in this one place.

With the boundary "end" a sentence is read from `<s>`, and `</s>` is predicted after its last word. With "paper", as in
the authors' code, the first word is predicted from a learned state before any input, and the end is not predicted.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from fewwords.models.neural.variants import Boundary
from fewwords.vocabulary import END_ID, START_ID


class Reading(NamedTuple):
    """What a model reads and predicts, time first: `inputs` [T', n] and `targets` [T, n].

    If there is one more target than inputs, the first is predicted from the state before any input.
    """

    inputs: Tensor
    targets: Tensor

    @property
    def predicts_before_reading(self) -> bool:
        """Whether the first target is predicted from the state before any input."""
        return len(self.targets) > len(self.inputs)


def read(sentences: Tensor, boundary: Boundary) -> Reading:
    """Inputs and targets of sentences of one length, ids [num_sentences, length]."""
    words = sentences.t()
    if boundary == "paper":
        return Reading(words[:-1], words)
    num_sentences = words.shape[1]
    start, end = (words.new_full((1, num_sentences), word) for word in (START_ID, END_ID))
    return Reading(torch.cat([start, words]), torch.cat([words, end]))


def first_input(boundary: Boundary) -> int | None:
    """The word that is read before a sentence begins, if there is one."""
    return None if boundary == "paper" else START_ID


def never_predicted(boundary: Boundary) -> tuple[int, ...]:
    """The words that are never targets: `<s>`, and `</s>` too where the end of a sentence is not predicted."""
    return (START_ID, END_ID) if boundary == "paper" else (START_ID,)
