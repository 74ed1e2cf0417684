"""An ONNX graph under construction: nodes, and the arrays that they read, as float32 or as 8-bit integers with scales.

With 8 bits a weight is level * scale, with levels from -127 to 127 (0 to 255 where no weight is negative) and one scale per row;
`DequantizeLinear` multiplies them in the graph. Only operators of opset 13 are used, which every onnxruntime since 2021 knows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from fewwords import __version__

OPSET, IR_VERSION = 13, 7
Shape = Sequence[int | str]


class Graph:
    """Nodes in order; tensors are strings, the names of what a node puts out. A body shares the arrays of its outer graph."""

    def __init__(self, bits: int, outer: "Graph | None" = None) -> None:
        self.bits = bits
        self.inputs: list[ValueInfoProto] = []
        self.outputs: list[ValueInfoProto] = []
        self._nodes: list[NodeProto] = []
        self._root: Graph = self if outer is None else outer._root
        self._arrays: dict[str, TensorProto] = {}  # of the root, by name
        self._shared: dict[tuple[str, ...], str] = {}  # of the root
        self._num_tensors = 0

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node with one output."""
        return self.add_many(operator, inputs, 1, **attributes)[0]

    def add_many(self, operator: str, inputs: Sequence[str], num_outputs: int, **attributes: Any) -> list[str]:
        """A node with several outputs."""
        root = self._root
        outputs = [f"{operator}_{root._num_tensors + place}" for place in range(num_outputs)]
        root._num_tensors += num_outputs
        self._nodes.append(helper.make_node(operator, list(inputs), outputs, **attributes))
        return outputs

    def shared(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node outside all bodies, added once: it depends on arrays of the model only."""
        root, key = self._root, (operator, *inputs)
        if key not in root._shared:
            root._shared[key] = root.add(operator, *inputs, **attributes)
        return root._shared[key]

    def array(self, name: str, values: NDArray[Any]) -> str:
        """An array of the model."""
        arrays = self._root._arrays
        if name not in arrays:
            arrays[name] = numpy_helper.from_array(values, name)
        return name

    def ints(self, values: ArrayLike, dtype: type[np.generic] = np.int64) -> str:
        """A small constant of integers: axes, shapes, ids."""
        found = np.asarray(values, dtype)
        return self.array(f"{found.dtype}_{found.tolist()}".replace(" ", ""), found)

    def weights(self, name: str, values: NDArray[np.float32], axis: int = 0) -> str:
        """All of an array of weights as floats; with 8 bits there is a scale for each index along `axis`."""
        if self.bits == 32:
            return self.array(name, values)
        return self.shared("DequantizeLinear", *self._levels(name, values, axis), axis=axis)

    def rows(self, name: str, values: NDArray[np.float32], ids: str) -> str:
        """The rows `ids` [n] of weights [rows, size] as floats; only they are widened."""
        if self.bits == 32:
            return self.add("Gather", self.array(name, values), ids)
        levels, scales = (self.add("Gather", each, ids) for each in self._levels(name, values, 0))
        return self.add("DequantizeLinear", levels, scales, axis=0)

    def _levels(self, name: str, values: NDArray[np.float32], axis: int) -> tuple[str, str]:
        levels, scales = quantise(values, axis)
        return self.array(name, levels), self.array(f"{name}.scales", scales)

    def body(self) -> "Graph":
        """A graph to be repeated within this one."""
        return Graph(self.bits, self)

    def put_in(self, name: str, kind: int, shape: Shape) -> str:
        """An input of the graph."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def put_out(self, tensor: str, name: str, kind: int, shape: Shape) -> None:
        """An output of the graph, under its own name."""
        self._nodes.append(helper.make_node("Identity", [tensor], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, list(shape)))

    def finish(self, name: str) -> GraphProto:
        """The graph, with its arrays if it is not a body."""
        return helper.make_graph(self._nodes, name, self.inputs, self.outputs, list(self._arrays.values()))

    def model(self, name: str, metadata: Mapping[str, str]) -> ModelProto:
        """The graph as a model."""
        model = helper.make_model(
            self.finish(name),
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="fewwords",
            producer_version=__version__,
        )
        helper.set_model_props(model, dict(metadata))
        return model


def quantise(values: NDArray[np.float32], axis: int) -> tuple[NDArray[np.integer[Any]], NDArray[np.float32]]:
    """Levels of the shape of `values`, and scales [size of `axis`]: values are about levels * scales along that axis."""
    others = tuple(place for place in range(values.ndim) if place != axis)
    largest = np.abs(values).max(axis=others, initial=0.0)
    kind, most = (np.int8, 127) if (values < 0).any() else (np.uint8, 255)
    scales = np.where(largest > 0, largest / most, 1).astype(np.float32)
    return np.rint(values / np.expand_dims(scales, others)).astype(kind), scales
