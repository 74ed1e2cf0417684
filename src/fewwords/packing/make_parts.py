"""The parts of a packed model from a network of float32, by a recipe, and what each part costs."""

from dataclasses import dataclass

from fewwords.models.packed.file import PackedParts
from fewwords.models.packed.matrix import Floats, all_rows
from fewwords.models.packed.model import PackedModel
from fewwords.models.packed.parts import Part, codes_part, matrix_part, vector_part
from fewwords.models.packed.words import encode_words
from fewwords.packing.biases import corrected_biases
from fewwords.packing.inputs import Inputs
from fewwords.packing.quantise import ENCODER_GROUP, quantise_matrix, quantise_values
from fewwords.packing.recipe import ENCODER_BIASES, Recipe
from fewwords.packing.refine import NextWords, refine
from fewwords.vocabulary import NUM_SPECIAL

_HEAD_BITS = 8
_LEAST_ROWS = 4  # times the head, for a head to be apart


@dataclass(frozen=True)
class PackedPart:
    """A part of the file: its bytes and, but for words and descriptions, how many numbers they hold."""

    name: str
    num_bytes: int
    num_numbers: int | None = None


def make_parts(model: PackedModel, recipe: Recipe, inputs: Inputs | None = None) -> PackedParts:
    """Quantise a model; `inputs`, what its matrices meet on real text, make their products more exact."""
    network = model.network
    tied = network.settings.tied
    parts: dict[str, Part] = {"words": (dict(encode_words(model.vocabulary)), {})}
    parts |= _table("embedding", all_rows(network.embedding), recipe, inputs, predicts=tied)
    if not tied:
        parts |= _table("output", all_rows(network.output), recipe, inputs, predicts=True)
    if model.codes is not None:
        parts["codes"] = codes_part(model.codes, *quantise_values(model.codes.values, recipe.values))
    for name, weight in network.encoder.weights.items():
        if weight.ndim > 1:
            moments = None if inputs is None else inputs.moments.get(f"encoder.{name}")
            flat = weight.reshape(-1, weight.shape[-1])
            quantised = quantise_matrix(flat, recipe.encoder, moments, ENCODER_GROUP)
            parts[f"encoder.{name}"] = matrix_part(*quantised, recipe.encoder)
    biases = {f"encoder.{name}": weight for name, weight in network.encoder.weights.items() if weight.ndim == 1}
    exact = _with_biases(parts, {**biases, "bias": network.bias}, recipe)
    packed = PackedParts(network.settings, model.num_words, exact)
    if inputs is None:
        return packed
    corrected = _with_biases(parts, corrected_biases(network, packed.network(), inputs), recipe)
    return PackedParts(network.settings, model.num_words, {**exact, **corrected})


def _table(name: str, values: Floats, recipe: Recipe, inputs: Inputs | None, *, predicts: bool) -> dict[str, Part]:
    """The parts of an embedding or an output: the head, if it is apart, and the other rows."""
    num_head = recipe.head if len(values) >= _LEAST_ROWS * recipe.head else 0
    moments = None if inputs is None else inputs.moments.get(name)
    levels, steps = quantise_matrix(values[num_head:], recipe.tables, moments)
    if predicts and inputs is not None and recipe.tables < _HEAD_BITS:
        refine(values[num_head:], levels, steps, recipe.tables, NextWords(inputs, inputs.network.codes), num_head)
    parts = {name: matrix_part(levels, steps, recipe.tables)}
    if num_head:
        arrays, facts = matrix_part(*quantise_matrix(values[:num_head], _HEAD_BITS, moments), _HEAD_BITS)
        parts[f"{name}.head"] = arrays, {**facts, "rows": num_head}
    return parts


def _with_biases(parts: dict[str, Part], biases: dict[str, Floats], recipe: Recipe) -> dict[str, Part]:
    vectors = {
        name: vector_part(values, recipe.biases, NUM_SPECIAL) if name == "bias" else vector_part(values, ENCODER_BIASES)
        for name, values in biases.items()
    }
    return {**parts, **vectors}


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
