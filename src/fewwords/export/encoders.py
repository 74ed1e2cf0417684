"""The encoders as nodes of a graph: LSTM and GRU by the operators of those names, the log-bilinear model as a convolution.

Each mirrors `fewwords.models.neural.base_encoder`: time is first and sentences second, in states too. PyTorch and ONNX order the
gates differently: i f g o and i o f c for the LSTM, r z n and z r h for the GRU.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from fewwords.errors import InputError
from fewwords.export.graph import Graph
from fewwords.export.layers import floats
from fewwords.models.neural.language_model import LanguageModel

State = list[str]


class GraphEncoder(ABC):
    """Word vectors in, context vectors out."""

    state_names: ClassVar[tuple[str, ...]]

    def __init__(self, network: LanguageModel) -> None:
        self.encoder = network.encoder
        self.starts = [floats(part) for part in network.encoder.start_state(1)]  # [first, 1, size] each

    def start_state(self, graph: Graph, num_sentences: str) -> State:
        """The state before the first word, for `num_sentences` [1] sentences."""
        shape = graph.add("Concat", graph.ints([1]), num_sentences, graph.ints([1]), axis=0)
        return [graph.add("Expand", self.start(graph, place), shape) for place in range(len(self.starts))]

    def start(self, graph: Graph, place: int) -> str:
        """A part of the state before the first word, for one sentence."""
        return graph.array(f"start.{self.state_names[place]}", self.starts[place])

    @abstractmethod
    def context(self, graph: Graph, state: State) -> str:
        """The context [n, size] of a state."""

    @abstractmethod
    def forward(self, graph: Graph, vectors: str, state: State) -> tuple[str, State]:
        """Contexts [T, n, size] after each of the vectors [T, n, input_size], and the last state."""


class _Recurrent(GraphEncoder):
    operator: ClassVar[str]
    gates: ClassVar[tuple[int, ...]]  # PyTorch's, in the order of ONNX
    attributes: ClassVar[dict[str, int]] = {}

    def __init__(self, network: LanguageModel) -> None:
        super().__init__(network)
        self.size = network.settings.hidden_size
        self.weights = {name: floats(each) for name, each in network.encoder.layer.named_parameters()}  # type: ignore[union-attr]

    def context(self, graph: Graph, state: State) -> str:
        """h of the last layer."""
        return graph.add("Gather", state[0], graph.ints(-1))

    def forward(self, graph: Graph, vectors: str, state: State) -> tuple[str, State]:
        """One node for each layer."""
        num_layers = len(self.starts[0])
        after: list[list[str]] = []
        for layer in range(num_layers):
            before = [graph.add("Gather", part, graph.ints([layer])) for part in state]
            inputs = [vectors, *self._layer(graph, layer), "", *before]
            hidden, *last = graph.add_many(
                self.operator, inputs, 1 + len(state), hidden_size=self.size, **self.attributes
            )
            after.append(last)
            vectors = self.show(graph, graph.add("Squeeze", hidden, graph.ints([1])), layer)
        return vectors, [graph.add("Concat", *parts, axis=0) for parts in zip(*after)]

    def show(self, graph: Graph, hidden: str, layer: int) -> str:
        """h of what a layer gives."""
        return hidden

    def _layer(self, graph: Graph, layer: int) -> list[str]:
        """The weights of input and recurrence, [1, gates * size, inputs], and the biases of both, [1, 2 * gates * size]."""
        parts = {}
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            gates = np.split(self.weights[f"{name}_l{layer}"], len(self.gates))
            parts[name] = np.concatenate([gates[place] for place in self.gates])[None]
        biases = np.concatenate([parts["bias_ih"], parts["bias_hh"]], axis=1)
        matrices = [graph.weights(f"{name}_l{layer}", parts[name], axis=1) for name in ("weight_ih", "weight_hh")]
        return [*matrices, graph.array(f"bias_l{layer}", biases)]


class _Lstm(_Recurrent):
    operator, gates, state_names = "LSTM", (0, 3, 1, 2), ("h", "c")


class _ProjectedLstm(_Lstm):
    """An LSTM whose h is a projection P of its output s, which ONNX does not know: the state is s, and W h is (W P) s."""

    def __init__(self, network: LanguageModel) -> None:
        super().__init__(network)
        if network.settings.boundary == "paper":
            raise InputError(f"{network.variant}: an LSTM with `cell_size` and a learned start has no form in ONNX")
        self.size = network.settings.num_cells
        self.starts = [np.zeros((len(part), 1, self.size), np.float32) for part in self.starts]

    def context(self, graph: Graph, state: State) -> str:
        """h of the last layer."""
        return self.show(graph, super().context(graph, state), len(self.starts[0]) - 1)

    def show(self, graph: Graph, hidden: str, layer: int) -> str:
        """P s."""
        return graph.add("MatMul", hidden, graph.shared("Transpose", self._projection(graph, layer), perm=[1, 0]))

    def _layer(self, graph: Graph, layer: int) -> list[str]:
        """The same, with the recurrence W P."""
        inputs, recurrence, biases = super()._layer(graph, layer)
        return [inputs, graph.shared("MatMul", recurrence, self._projection(graph, layer)), biases]

    def _projection(self, graph: Graph, layer: int) -> str:
        return graph.weights(f"weight_hr_l{layer}", self.weights[f"weight_hr_l{layer}"])


class _Gru(_Recurrent):
    operator, gates, state_names = "GRU", (1, 0, 2), ("h",)
    attributes: ClassVar[dict[str, int]] = {"linear_before_reset": 1}


class _LogBilinear(GraphEncoder):
    state_names = ("vectors",)

    def __init__(self, network: LanguageModel) -> None:
        super().__init__(network)
        self.kernel = floats(network.encoder.matrices).transpose(2, 1, 0)  # type: ignore[arg-type]  # [size, input_size, context]

    def context(self, graph: Graph, state: State) -> str:
        """The matrices of all distances at once."""
        return graph.add("Squeeze", self._contexts(graph, state[0]), graph.ints([0]))

    def forward(self, graph: Graph, vectors: str, state: State) -> tuple[str, State]:
        """A context for each run of as many vectors as the model looks back."""
        known = graph.add("Concat", state[0], vectors, axis=0)
        context_size = self.kernel.shape[2]
        ends = graph.ints([np.iinfo(np.int64).max])
        after_first = graph.add("Slice", known, graph.ints([1]), ends)
        return self._contexts(graph, after_first), [graph.add("Slice", known, graph.ints([-context_size]), ends)]

    def _contexts(self, graph: Graph, vectors: str) -> str:
        channels = graph.add("Transpose", vectors, perm=[1, 2, 0])
        found = graph.add("Conv", channels, graph.weights("matrices", self.kernel))
        return graph.add("Transpose", found, perm=[2, 0, 1])


_ENCODERS: dict[str, type[GraphEncoder]] = {"lstm": _Lstm, "gru": _Gru, "log-bilinear": _LogBilinear}


def graph_encoder(network: LanguageModel) -> GraphEncoder:
    """The encoder of a network; raises InputError for one that has no form in ONNX."""
    name = network.settings.encoder
    if name not in _ENCODERS:
        raise InputError(
            f"{network.variant}: there is no ONNX form of {name}; choose a model of {', '.join(_ENCODERS)}"
        )
    return _ProjectedLstm(network) if network.settings.cell_size else _ENCODERS[name](network)
