"""The parts of a packed model from a network of float32, by a recipe, and what each part costs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fewwords.models.packed.file import PackedParts
from fewwords.models.packed.matrix import Floats, all_rows
from fewwords.models.packed.model import PackedModel
from fewwords.models.packed.parts import Part, Reader, codes_part, matrix_part, read_vector, vector_part
from fewwords.models.packed.words import encode_words
from fewwords.packing.quantise import ENCODER_GROUP, Moments, dequantise, quantise_matrix, quantise_values
from fewwords.packing.recipe import ENCODER_BIASES, Recipe
from fewwords.vocabulary import NUM_SPECIAL

_HEAD_BITS = 8
_LEAST_ROWS = 4  # times the head, for a head to be apart


@dataclass(frozen=True)
class PackedPart:
    """A part of the file: its bytes and, but for words and descriptions, how many numbers they hold."""

    name: str
    num_bytes: int
    num_numbers: int | None = None


def make_parts(model: PackedModel, recipe: Recipe, inputs: Mapping[str, Floats]) -> PackedParts:
    """Quantise a model; the `inputs` of the encoder's matrices, by name, make their products more exact."""
    network = model.network
    parts: dict[str, Part] = {"words": (dict(encode_words(model.vocabulary)), {})}
    parts |= table_parts("embedding", all_rows(network.embedding), recipe)
    if not network.settings.tied:
        parts |= table_parts("output", all_rows(network.output), recipe)
    parts["bias"] = vector_part(network.bias, recipe.biases, NUM_SPECIAL)
    if model.codes is not None:
        parts["codes"] = codes_part(model.codes, *quantise_values(model.codes.values, recipe.values))
    parts |= encoder_parts(network.encoder.weights, recipe, inputs)
    return PackedParts(network.settings, model.num_words, parts)


def encoder_parts(weights: Mapping[str, Floats], recipe: Recipe, inputs: Mapping[str, Floats]) -> dict[str, Part]:
    """The parts of an encoder; `inputs` [N, columns] are what its matrices meet, as far as that is known."""
    parts: dict[str, Part] = {}
    vectors = {name: weight for name, weight in weights.items() if weight.ndim == 1}
    for name, weight in weights.items():
        if weight.ndim > 1:
            flat, met = weight.reshape(-1, weight.shape[-1]), inputs.get(name)
            levels, steps = quantise_matrix(flat, recipe.encoder, _moments(met), ENCODER_GROUP)
            parts[f"encoder.{name}"] = matrix_part(levels, steps, recipe.encoder)
            if met is not None:  # the bias takes over the mean error
                bias = name.replace("weight", "bias")
                vectors[bias] = vectors[bias] + (flat - dequantise(levels, steps)) @ met.mean(0)
    return {**parts, **{f"encoder.{name}": vector_part(each, ENCODER_BIASES) for name, each in vectors.items()}}


def _moments(inputs: Floats | None) -> Moments | None:
    """The second moments about the mean."""
    return None if inputs is None else np.cov(inputs.T, bias=True)


def table_parts(name: str, values: Floats, recipe: Recipe) -> dict[str, Part]:
    """The parts of a table whose rows are words by rank: the head, if it is apart, and the other rows."""
    num_head = head_rows(len(values), recipe)
    parts = {name: matrix_part(*quantise_matrix(values[num_head:], recipe.tables), recipe.tables)}
    if num_head:
        arrays, facts = matrix_part(*quantise_matrix(values[:num_head], _HEAD_BITS), _HEAD_BITS)
        parts[f"{name}.head"] = arrays, {**facts, "rows": num_head}
    return parts


def head_rows(num_rows: int, recipe: Recipe) -> int:
    """The rows of a table that are stored apart, in 8 bits."""
    return recipe.head if num_rows >= _LEAST_ROWS * recipe.head else 0


def round_table(values: Floats, recipe: Recipe) -> Floats:
    """The numbers that `table_parts` stores for a table."""
    num_head = head_rows(len(values), recipe)
    head = dequantise(*quantise_matrix(values[:num_head], _HEAD_BITS))
    return np.concatenate([head, dequantise(*quantise_matrix(values[num_head:], recipe.tables))])


def round_encoder_matrix(values: Floats, recipe: Recipe) -> Floats:
    """The numbers that `encoder_parts` stores for a matrix without knowing its inputs."""
    flat = values.reshape(-1, values.shape[-1])
    return dequantise(*quantise_matrix(flat, recipe.encoder, wanted_group=ENCODER_GROUP)).reshape(values.shape)


def round_biases(values: Floats, recipe: Recipe) -> Floats:
    """The numbers that `make_parts` stores for the biases of the words."""
    arrays, facts = vector_part(values, recipe.biases, NUM_SPECIAL)
    return read_vector(
        Reader({f"bias.{name}": each for name, each in arrays.items()}, facts, "bias"), len(values), NUM_SPECIAL
    )


def round_code_values(values: Floats, recipe: Recipe) -> Floats:
    """The numbers that `make_parts` stores for the values of codes; those that are not above zero are left out of codes."""
    rounded, is_kept = np.zeros_like(values), values > 0
    levels, table = quantise_values(values[is_kept], recipe.values)
    rounded[is_kept] = table[levels]
    return rounded


def account(packed: PackedParts, model: PackedModel, num_bytes: int) -> tuple[PackedPart, ...]:
    """What each part costs of a file of `num_bytes`; the rest is its description."""
    memory = model.memory
    numbers: dict[str, int | None] = {
        "words": None,
        "embedding": memory.embedding,
        "output": memory.prediction,
        "encoder": memory.encoding,
        "bias": memory.biases,
        "codes": memory.codes,
    }
    sizes = dict.fromkeys(numbers, 0)
    for name, (arrays, _) in packed.parts.items():
        sizes[name.partition(".")[0]] += sum(array.nbytes for array in arrays.values())
    found = [PackedPart(name, size, numbers[name]) for name, size in sizes.items() if size]
    return (*found, PackedPart("description", num_bytes - sum(sizes.values())))
