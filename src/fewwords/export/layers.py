"""The embedding and the output layer as nodes of a graph, dense or coded (sections 3.2 and 3.3).

The codes of the rare words are two arrays [K, rare], base words and values, padded with zeros to the K of the longest code. A rare
word's vector is a sum of K gathered rows. Scores are one product over the base words; those of the rare words are gathered from
it by `GatherElements`, weighted and added up.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from fewwords.codes.sparse_codes import index_type
from fewwords.errors import InputError
from fewwords.export.graph import Graph
from fewwords.layers.output import CodedOutput
from fewwords.layers.tables.layers import TableOutput
from fewwords.models.neural.language_model import LanguageModel

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float32]


def floats(tensor: "Tensor") -> Floats:
    """A parameter as an array."""
    return np.asarray(tensor.detach().float().cpu().numpy())


class Words:
    """What a network knows about its words, written into graphs."""

    def __init__(self, network: LanguageModel) -> None:
        output = network.output
        if isinstance(output, TableOutput) or not network.settings.is_plain:
            raise InputError(f"{network.variant}: graphs are made of models with dense or coded words only")
        self.output_table = floats(output.base if isinstance(output, CodedOutput) else output.weight)
        self.output_name = "embedding" if network.settings.tied else "output"
        self.embedding_table = floats(network.embedding_table)
        self.bias = floats(output.bias)
        self.num_words = network.num_words
        self.codes = None if network.codes is None else padded_codes(network)

    def embed(self, graph: Graph, ids: str) -> str:
        """The vectors [n, size] of the words `ids` [n]."""
        table = ("embedding", self.embedding_table)
        num_base, size = self.embedding_table.shape
        if num_base == self.num_words:
            return graph.rows(*table, ids)
        indices, values = self._code_arrays(graph)
        rare = graph.add("Max", graph.add("Sub", ids, graph.ints(num_base)), graph.ints(0))
        flat = graph.add("Reshape", graph.add("Gather", indices, rare, axis=1), graph.ints([-1]))
        shape = graph.ints([len(self._codes[0]), -1, size])
        terms = graph.add("Reshape", graph.rows(*table, flat), shape)  # [K, n, size]
        weights = graph.add("Unsqueeze", graph.add("Gather", values, rare, axis=1), graph.ints([2]))
        mixed = graph.add("ReduceSum", graph.add("Mul", terms, weights), graph.ints([0]), keepdims=0)
        own = graph.rows(*table, graph.add("Min", ids, graph.ints(num_base - 1)))
        is_base = graph.add("Unsqueeze", graph.add("Less", ids, graph.ints(num_base)), graph.ints([1]))
        return graph.add("Where", is_base, own, mixed)

    def log_probs(self, graph: Graph, contexts: str) -> str:
        """ln p [n, num_words] of all words after contexts [n, size]."""
        bias = graph.array("bias", self.bias)
        table = graph.weights(self.output_name, self.output_table)
        if len(self.output_table) == self.num_words:
            return graph.add("LogSoftmax", graph.add("Gemm", contexts, table, bias, transB=1), axis=1)
        has_coded_bias = len(self.bias) < self.num_words
        base = graph.add("Gemm", contexts, table, *([bias] if has_coded_bias else []), transB=1)
        indices, values = self._code_arrays(graph)
        first = graph.add("Slice", graph.add("Shape", contexts), graph.ints([0]), graph.ints([1]))
        flat = graph.add("Reshape", indices, graph.ints([1, -1]))
        everywhere = graph.add("Expand", flat, graph.add("Concat", first, graph.ints([1]), axis=0))
        terms = graph.add("GatherElements", base, everywhere, axis=1)
        terms = graph.add("Reshape", terms, graph.ints([0, *self._codes[0].shape]))  # [n, K, rare]
        rare = graph.add("ReduceSum", graph.add("Mul", terms, values), graph.ints([1]), keepdims=0)
        scores = graph.add("Concat", base, rare, axis=1)
        return graph.add("LogSoftmax", scores if has_coded_bias else graph.add("Add", scores, bias), axis=1)

    @property
    def _codes(self) -> tuple[NDArray[np.generic], Floats]:
        assert self.codes is not None, "fewer rows than words without codes"
        return self.codes

    def _code_arrays(self, graph: Graph) -> tuple[str, str]:
        """Base words int32 [K, rare] and values [K, rare]."""
        indices, values = self._codes
        stored = graph.array("codes.indices", indices)
        return graph.shared("Cast", stored, to=TensorProto.INT32), graph.weights("codes.values", values, axis=1)


def padded_codes(network: LanguageModel) -> tuple[NDArray[np.generic], Floats]:
    """Base words and values [K, rare] of the rare words, tuned or not; those of shorter codes are followed by zeros."""
    codes = network.codes
    assert codes is not None
    lengths = codes.offsets[codes.num_base :].diff().cpu().numpy()
    used = np.arange(lengths.max(initial=1)) < lengths[:, None]
    indices, values = np.zeros(used.shape, index_type(codes.num_base)), np.zeros(used.shape, np.float32)
    indices[used] = codes.indices[codes.num_base :].cpu().numpy()
    values[used] = floats(codes.values)
    return indices.T, values.T
