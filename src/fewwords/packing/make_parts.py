"""The parts of a packed model from a network of float32, by a recipe, and what each part costs."""

from collections.abc import Mapping
from dataclasses import dataclass

from fewwords.models.packed.file import PackedParts
from fewwords.models.packed.matrix import Matrix, all_rows
from fewwords.models.packed.model import PackedModel
from fewwords.models.packed.parts import Part, codes_part, matrix_part, vector_part
from fewwords.models.packed.words import encode_words
from fewwords.packing.quantise import Moments, quantise_matrix, quantise_values
from fewwords.packing.recipe import ENCODER_BIASES, Recipe
from fewwords.vocabulary import NUM_SPECIAL


@dataclass(frozen=True)
class PackedPart:
    """A part of the file: its bytes and, but for words and descriptions, how many numbers they hold."""

    name: str
    num_bytes: int
    num_numbers: int | None = None


def make_parts(model: PackedModel, recipe: Recipe, moments: Mapping[str, Moments]) -> PackedParts:
    """Quantise a model; `moments` of the inputs of some matrices, by part, make their products more exact."""
    network = model.network
    parts: dict[str, Part] = {"words": (dict(encode_words(model.vocabulary)), {})}
    parts["embedding"] = _matrix(network.embedding, recipe.tables, moments.get("embedding"))
    if not network.settings.tied:
        parts["output"] = _matrix(network.output, recipe.tables, moments.get("output"))
    for name, weight in network.encoder.weights.items():
        part = f"encoder.{name}"
        if weight.ndim == 1:
            parts[part] = vector_part(weight, ENCODER_BIASES)
        else:
            levels = quantise_matrix(weight.reshape(-1, weight.shape[-1]), recipe.encoder, moments.get(part))
            parts[part] = matrix_part(*levels, recipe.encoder)
    parts["bias"] = vector_part(network.bias, recipe.biases, NUM_SPECIAL)
    if model.codes is not None:
        parts["codes"] = codes_part(model.codes, *quantise_values(model.codes.values, recipe.values))
    return PackedParts(network.settings, model.num_words, parts)


def _matrix(matrix: Matrix, bits: int, moments: Moments | None) -> Part:
    return matrix_part(*quantise_matrix(all_rows(matrix), bits, moments), bits)


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
