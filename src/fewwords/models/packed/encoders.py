"""The encoders of section 4.3 in numpy: LSTM, GRU and log-bilinear, with the equations and weights of PyTorch's.

A state is a tuple of arrays [layers or context words, sentences, size], as in `models/neural/`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from fewwords.models.neural.variants import ModelSettings
from fewwords.models.packed.matrix import Floats

State = tuple[Floats, ...]
Weights = Mapping[str, Floats]


class Encoder(ABC):
    """Word vectors in, context vectors out; `weights` have the names and shapes that `shapes` tells."""

    def __init__(self, settings: ModelSettings, weights: Weights) -> None:
        self.settings, self.weights = settings, weights

    @classmethod
    @abstractmethod
    def shapes(cls, settings: ModelSettings) -> dict[str, tuple[int, ...]]:
        """The names of the weights, those of a model folder, and their shapes."""

    @classmethod
    def num_second_biases(cls, settings: ModelSettings) -> int:
        """How many of them are PyTorch's second bias vectors, which the paper's table 1 does not count."""
        return 0

    @property
    def context_words(self) -> int | None:
        """How many of the last words decide the state; None where all of a sentence's do."""
        return None

    @abstractmethod
    def start(self, num_sentences: int) -> State:
        """The state before the first word."""

    @abstractmethod
    def context(self, state: State) -> Floats:
        """The context [num_sentences, size] of a state."""

    @abstractmethod
    def read(self, vectors: Floats, state: State) -> tuple[Floats, State]:
        """Contexts [T, num_sentences, size] after each vector [T, num_sentences, input_size], and the last state."""


class Recurrent(Encoder):
    """Layers with a state of one array per letter of `state_letters`, h first."""

    name: ClassVar[str]
    num_gates: ClassVar[int]
    state_letters: ClassVar[str]

    @classmethod
    def shapes(cls, settings: ModelSettings) -> dict[str, tuple[int, ...]]:
        """Two matrices and two biases for each layer, a projection where there are more cells, and the learned start."""
        size, gates = settings.hidden_size, cls.num_gates * settings.num_cells
        found: dict[str, tuple[int, ...]] = {}
        for layer in range(settings.num_layers):
            inputs = size if layer else settings.embedding_size
            for kind, columns in (("ih", inputs), ("hh", size)):
                found[f"{cls.name}.weight_{kind}_l{layer}"] = (gates, columns)
                found[f"{cls.name}.bias_{kind}_l{layer}"] = (gates,)
            if settings.cell_size is not None:
                found[f"{cls.name}.weight_hr_l{layer}"] = (size, settings.num_cells)
        starts = cls.state_letters if settings.boundary == "paper" else ""
        return {**found, **{f"start_{each}": (settings.num_layers, settings.state_size(each)) for each in starts}}

    @classmethod
    def num_second_biases(cls, settings: ModelSettings) -> int:
        """One vector for each layer."""
        return cls.num_gates * settings.num_cells * settings.num_layers

    def start(self, num_sentences: int) -> State:
        """The learned start, or zeros."""
        found = []
        for letter in self.state_letters:
            shape = (self.settings.num_layers, num_sentences, self.settings.state_size(letter))
            learned = self.weights.get(f"start_{letter}")
            found.append(np.zeros(shape, np.float32) if learned is None else np.broadcast_to(learned[:, None], shape))
        return tuple(found)

    def context(self, state: State) -> Floats:
        """h of the last layer."""
        last: Floats = state[0][-1]
        return last

    def read(self, vectors: Floats, state: State) -> tuple[Floats, State]:
        """All words of a layer before the next layer."""
        after: list[list[Floats]] = []
        for layer in range(self.settings.num_layers):
            from_input, from_hidden = (self._weights_and_bias(kind, layer) for kind in ("ih", "hh"))
            inputs, (weight, bias) = vectors @ from_input[0].T + from_input[1], from_hidden
            projection = self.weights.get(f"{self.name}.weight_hr_l{layer}")
            parts = [part[layer] for part in state]
            vectors = np.empty((*inputs.shape[:2], self.settings.hidden_size), np.float32)
            for time, to_gates in enumerate(inputs):
                parts = self.step(to_gates, parts[0] @ weight.T + bias, parts)
                if projection is not None:
                    parts[0] = parts[0] @ projection.T
                vectors[time] = parts[0]
            after.append(parts)
        return vectors, tuple(np.stack(parts) for parts in zip(*after))

    def _weights_and_bias(self, kind: str, layer: int) -> tuple[Floats, Floats]:
        return self.weights[f"{self.name}.weight_{kind}_l{layer}"], self.weights[f"{self.name}.bias_{kind}_l{layer}"]

    @abstractmethod
    def step(self, from_input: Floats, from_hidden: Floats, state: list[Floats]) -> list[Floats]:
        """The state after a word, from what comes to the gates [num_sentences, num_gates * size]."""


class LSTM(Recurrent):
    """Four gates; the state is h and c."""

    name, num_gates, state_letters = "lstm", 4, "hc"

    def step(self, from_input: Floats, from_hidden: Floats, state: list[Floats]) -> list[Floats]:
        """c' = f c + i g; h' = o tanh c'."""
        enter, forget, new, leave = np.split(from_input + from_hidden, 4, axis=-1)
        c = _sigmoid(forget) * state[1] + _sigmoid(enter) * np.tanh(new)
        return [_sigmoid(leave) * np.tanh(c), c]


class GRU(Recurrent):
    """Three gates; the state is h."""

    name, num_gates, state_letters = "gru", 3, "h"

    def step(self, from_input: Floats, from_hidden: Floats, state: list[Floats]) -> list[Floats]:
        """h' = (1 - z) n + z h, with n = tanh(from the input + r times from h)."""
        reset, update, new = np.split(from_input, 3, axis=-1)
        reset_h, update_h, new_h = np.split(from_hidden, 3, axis=-1)
        keep = _sigmoid(update + update_h)
        return [(1 - keep) * np.tanh(new + _sigmoid(reset + reset_h) * new_h) + keep * state[0]]


class LogBilinear(Encoder):
    """The last `context_size` vectors, oldest first, each through the matrix of its distance."""

    @property
    def context_words(self) -> int:
        """All the words that the state holds."""
        return self.settings.context_size

    @classmethod
    def shapes(cls, settings: ModelSettings) -> dict[str, tuple[int, ...]]:
        """A matrix and a padding vector for each word of the context."""
        words, inputs = settings.context_size, settings.embedding_size
        return {"matrices": (words, inputs, settings.hidden_size), "padding": (words, inputs)}

    def start(self, num_sentences: int) -> State:
        """The padding."""
        padding = self.weights["padding"]
        return (np.broadcast_to(padding[:, None], (len(padding), num_sentences, padding.shape[1])),)

    def context(self, state: State) -> Floats:
        """The sum over the vectors of the state."""
        found: Floats = self._contexts(state[0])[0]
        return found

    def read(self, vectors: Floats, state: State) -> tuple[Floats, State]:
        """A window that moves over all vectors."""
        known = np.concatenate([state[0], vectors])
        return self._contexts(known[1:]), (known[-self.settings.context_size :],)

    def _contexts(self, vectors: Floats) -> Floats:
        matrices = self.weights["matrices"]
        num_contexts = len(vectors) - len(matrices) + 1
        parts = (vectors[place : place + num_contexts] @ matrix for place, matrix in enumerate(matrices))
        return np.asarray(sum(parts), np.float32)


ENCODERS: dict[str, type[Encoder]] = {"lstm": LSTM, "gru": GRU, "log-bilinear": LogBilinear}


def _sigmoid(values: Floats) -> Floats:
    """1 / (1 + exp(-x)), by a function that cannot overflow."""
    found: Floats = 0.5 * np.tanh(0.5 * values) + 0.5
    return found
