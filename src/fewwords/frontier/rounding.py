"""Models with word tables in 8 or 4 bits: the parts of a file as the packer would write them, and the rounded weights.

Quantiser, scales, vocabulary, biases, encoder and container are those of `packing/`, so that a byte is a byte for every
method. Matrices that a word's row goes through (projections, quotients) are few and matter for all words: they always have
8 bits. Weights of single words (hashed tables) are stored as biases are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fewwords.frontier.dense_twin import dense_weights
from fewwords.layers.tables.adaptive import AdaptiveTable
from fewwords.layers.tables.hashed import HashedTable
from fewwords.layers.tables.layers import TableEmbedding, TableOutput
from fewwords.layers.tables.low_rank import LowRankTable
from fewwords.layers.tables.quotient import QuotientTable
from fewwords.layers.tables.word_table import WordTable
from fewwords.models.neural.model import NeuralModel
from fewwords.models.packed.file import PackedParts
from fewwords.models.packed.matrix import Floats, all_rows
from fewwords.models.packed.parts import Part, Reader, matrix_part, read_matrix, read_vector, vector_part
from fewwords.models.packed.words import encode_words
from fewwords.packing.make_parts import encoder_parts, table_parts
from fewwords.packing.quantise import quantise_matrix
from fewwords.packing.recipe import Recipe
from fewwords.vocabulary import NUM_SPECIAL

SHARED_BITS = 8


@dataclass
class Rounding:
    """Parts of a file, filled one by one; each call returns the numbers that a reader of the file would get."""

    parts: dict[str, Part] = field(default_factory=dict)

    def matrix(self, name: str, values: Floats, bits: int) -> Floats:
        """A matrix [rows, columns] of weights."""
        self.parts[name] = matrix_part(*quantise_matrix(values, bits), bits)
        return self._matrix(name, values.shape)

    def table(self, name: str, values: Floats, recipe: Recipe) -> Floats:
        """A matrix whose rows are words by rank: the most frequent may have more bits."""
        found = table_parts(name, values, recipe)
        self.parts |= found
        num_head = found[f"{name}.head"][1]["rows"] if f"{name}.head" in found else 0
        head = [self._matrix(f"{name}.head", (num_head, values.shape[1]))] if num_head else []
        return np.concatenate([*head, self._matrix(name, (len(values) - num_head, values.shape[1]))])

    def vector(self, name: str, values: Floats, bits: int, num_special: int = 0) -> Floats:
        """A list of numbers."""
        self.parts[name] = vector_part(values, bits, num_special)
        return read_vector(self._reader(name), len(values), num_special)

    def _matrix(self, name: str, shape: tuple[int, ...]) -> Floats:
        return all_rows(read_matrix(self._reader(name), (shape[0], shape[1])))

    def _reader(self, name: str) -> Reader:
        arrays, facts = self.parts[name]
        return Reader({f"{name}.{key}": array for key, array in arrays.items()}, facts, name)

    def rest(
        self, model: NeuralModel, weights: Mapping[str, Floats], recipe: Recipe, inputs: Mapping[str, Floats]
    ) -> dict[str, Floats]:
        """Words, encoder and biases of a model with the dense `weights`; returns the rounded ones."""
        self.parts["words"] = (dict(encode_words(model.vocabulary)), {})
        found = {"output.bias": self.vector("bias", weights["output.bias"], recipe.biases, NUM_SPECIAL)}
        encoder = {name: weight for name, weight in weights.items() if name.startswith("encoder.")}
        short = {name.removeprefix("encoder."): weight for name, weight in encoder.items()}
        self.parts |= encoder_parts(short, recipe, inputs)
        for name, weight in encoder.items():
            if weight.ndim == 1:
                found[name] = read_vector(self._reader(name), len(weight))
            else:
                found[name] = self._matrix(name, (weight.size // weight.shape[-1], weight.shape[-1])).reshape(
                    weight.shape
                )
        return found

    def num_bytes(self, model: NeuralModel) -> int:
        """The size of the whole file."""
        packed = PackedParts(model.network.settings, model.num_words, self.parts)
        return len(packed.to_bytes(rules=model.rules, card="", made_from={}))


def round_tables(model: NeuralModel, recipe: Recipe, inputs: Mapping[str, Floats]) -> tuple[dict[str, Floats], int]:
    """The dense weights of a model whose word tables and all else are rounded, and the bytes of its file.

    The `inputs` of its encoder show which errors matter, as for `pack`.
    """
    weights = dense_weights(model)
    rounding = Rounding()
    found = rounding.rest(model, weights, recipe, inputs)
    network = model.network
    for name, layer in (("embedding", network.embedding), ("output", network.output)):
        if name == "output" and network.settings.tied:
            continue
        if isinstance(layer, (TableEmbedding, TableOutput)):
            rows = _round_table(rounding, name, layer.table, recipe)
        else:
            rows = rounding.table(name, weights[f"{name}.weight"], recipe)
        found[f"{name}.weight"] = rows
    return found, rounding.num_bytes(model)


def _round_table(rounding: Rounding, name: str, table: WordTable, recipe: Recipe) -> Floats:
    """The rows [num_words, size] of a table with rounded numbers."""
    numbers = {key: parameter.detach().numpy() for key, parameter in table.named_parameters()}
    if isinstance(table, AdaptiveTable):
        bands = enumerate(band for _, _, band in table.spans)
        return np.concatenate([_round_table(rounding, f"{name}.{number}", band, recipe) for number, band in bands])
    if isinstance(table, LowRankTable):
        if "projection" not in numbers:
            return rounding.table(name, numbers["factors"], recipe)
        projection = rounding.matrix(f"{name}.projection", numbers["projection"], SHARED_BITS)
        factors: Floats = rounding.table(name, numbers["factors"], recipe) @ projection
        return factors
    if isinstance(table, HashedTable):
        rounded = {"buckets": rounding.matrix(name, numbers["buckets"], recipe.tables)}
        flat = rounding.vector(f"{name}.weights", numbers["weights"].reshape(-1), recipe.biases)
        rounded["weights"] = flat.reshape(numbers["weights"].shape)
    elif isinstance(table, QuotientTable):
        rounded = {"remainders": rounding.matrix(name, numbers["remainders"], recipe.tables)}
        rounded["quotients"] = rounding.matrix(f"{name}.quotients", numbers["quotients"], SHARED_BITS)
    else:
        raise TypeError(f"{type(table).__name__}: no way to round it")
    return _rows_with(table, rounded)


def _rows_with(table: WordTable, numbers: Mapping[str, Floats]) -> Floats:
    """All rows of a table with other numbers."""
    import torch

    tensors = {name: torch.from_numpy(each) for name, each in numbers.items()}
    with torch.no_grad():
        ids = torch.arange(table.num_words)
        rows: Floats = torch.func.functional_call(table, tensors, (ids,)).numpy()
    return rows
