"""A packed model file (`.few`): everything that a neural model needs, in one file. docs/format.md has it byte by byte.

Strings: `format`, `settings`, `layout` (how each part is stored), `text` (rules), `made_from`, all but the first JSON, and
`card`. Parts: `words`, `embedding`, `output` unless tied, `bias`, `codes` if coded, and each weight of the encoder.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.models.neural.variants import ModelSettings
from fewwords.models.packed import container
from fewwords.models.packed.encoders import ENCODERS
from fewwords.models.packed.matrix import Floats, Matrix, SplitMatrix, all_rows
from fewwords.models.packed.model import PackedModel
from fewwords.models.packed.network import Network
from fewwords.models.packed.parts import Part, Reader, read_codes, read_matrix, read_vector
from fewwords.models.packed.words import decode_words
from fewwords.store.json_text import parse_json, to_json_text
from fewwords.store.typed import read_object, read_value
from fewwords.text.rules import TextRules
from fewwords.vocabulary import NUM_SPECIAL

FORMAT = "fewwords packed 1"
MOST_WORDS = 1 << 24
_LARGEST_SETTING = 1 << 16
_MOST_LAYERS = 64


def encoder_shapes(settings: ModelSettings) -> dict[str, tuple[int, ...]]:
    """The weights of the encoder; raises InputError for an encoder or word tables that only PyTorch has."""
    if not settings.is_plain:
        raise InputError(f"{settings.embedding} and {settings.output} word tables run with PyTorch only")
    if settings.encoder not in ENCODERS:
        raise InputError(f"an encoder {settings.encoder} runs with PyTorch only; there are {', '.join(ENCODERS)} here")
    return ENCODERS[settings.encoder].shapes(settings)


@dataclass(frozen=True, eq=False)
class PackedParts:
    """A packed model before it is a file: arrays and integers of each part."""

    settings: ModelSettings
    num_words: int
    parts: Mapping[str, Part]

    @property
    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {f"{part}.{name}": array for part, (found, _) in self.parts.items() for name, array in found.items()}

    @property
    def _facts(self) -> dict[str, dict[str, int]]:
        return {part: facts for part, (_, facts) in self.parts.items() if facts}

    def network(self) -> Network:
        """The network that a reader of the file gets."""
        return _network(self.settings, self.num_words, _readers(self._arrays, self._facts, set()))

    def to_bytes(self, *, rules: TextRules, card: str, made_from: Mapping[str, Any]) -> bytes:
        """The content of the file."""
        described = {
            "settings": self.settings.to_json(),
            "layout": {"num_words": self.num_words, "parts": self._facts},
            "text": rules.to_json(),
            "made_from": made_from,
        }
        texts = {name: to_json_text(value) for name, value in described.items()}
        return container.to_bytes(self._arrays, {"format": FORMAT, **texts, "card": card})


def load_packed(path: Path) -> PackedModel:
    """Read a packed file; raises InputError naming it if it is not one, was cut or changed, or does not fit together."""
    try:
        arrays, texts = container.read(path)
        if texts.get("format") != FORMAT:
            raise InputError(f"not of the format {FORMAT!r}")
        layout, settings = _json(texts, "layout"), _settings(_json(texts, "settings"))
        num_words = Reader({}, layout, "layout").number("num_words", NUM_SPECIAL, MOST_WORDS)
        taken: set[str] = set()
        parts = _readers(arrays, layout.get("parts"), taken)
        vocabulary = decode_words(
            {name: parts("words").array(name, "u1") for name in ("shared", "rests", "ranks")}, num_words
        )
        network = _network(settings, num_words, parts)
        if extra := set(arrays) - taken:
            raise InputError(f"it has an array {min(extra)[:40]!r} that is not the model's")
        facts = {"size": path.stat().st_size, "bits": parts("embedding").facts["bits"], "card": texts.get("card", "")}
        return PackedModel(
            network, vocabulary, read_object(TextRules, _json(texts, "text")), _made_from(texts), facts=facts
        )
    except InputError as error:
        raise InputError(f"{path}: {error}; copy the file again, or pack the model again") from None


def _json(texts: Mapping[str, str], name: str) -> dict[str, Any]:
    found = parse_json(texts.get(name, ""))
    if not isinstance(found, dict):
        raise InputError(f"its {name} are missing or damaged")
    return found


@dataclass(frozen=True)
class _Packing:
    """How the file was packed."""

    version: str
    bits: dict[str, Any]
    perplexity: dict[str, float | None] | None


def _made_from(texts: Mapping[str, str]) -> dict[str, Any]:
    found = _json(texts, "made_from")
    read_value(dict[str, Any] | None, found.get("result"), "result")
    read_value(_Packing, found.get("packed"), "packed")
    return found


def _settings(values: dict[str, Any]) -> ModelSettings:
    """The settings, within bounds that keep a file from asking for endless work."""
    settings = read_object(ModelSettings, values)
    for name, value in settings.to_json().items():
        if type(value) is int and value > (_MOST_LAYERS if name == "num_layers" else _LARGEST_SETTING):
            raise InputError(f"its setting {name!r} is too large")
    return settings


def _readers(arrays: Mapping[str, NDArray[Any]], facts: Any, taken: set[str]) -> Callable[[str], Reader]:
    """A reader for each part by its name; the names of the arrays that are read go to `taken`."""
    if not isinstance(facts, dict) or not all(isinstance(each, dict) for each in facts.values()):
        raise InputError("its layout has no parts")
    return lambda part: Reader(arrays, facts.get(part, {}), part, taken)


def _network(settings: ModelSettings, num_words: int, parts: Callable[[str], Reader]) -> Network:
    shapes = encoder_shapes(settings)
    codes = read_codes(parts("codes"), num_words) if settings.is_coded else None
    num_base = num_words if codes is None else codes.num_base
    rows = {"dense": num_words, "coded": num_base}
    embedding = _table(parts, "embedding", (rows[settings.embedding], settings.embedding_size))
    output = embedding
    if not settings.tied:
        output = _table(parts, "output", (rows[settings.output], settings.hidden_size))
    bias = read_vector(parts("bias"), num_base if settings.coded_bias else num_words, NUM_SPECIAL)
    weights = {name: _weight(parts(f"encoder.{name}"), shape) for name, shape in shapes.items()}
    return Network(settings, num_words, embedding, ENCODERS[settings.encoder](settings, weights), output, bias, codes)


def _table(parts: Callable[[str], Reader], name: str, shape: tuple[int, int]) -> Matrix:
    """The matrix of an embedding or an output, whose first rows may be apart, in the part `NAME.head`."""
    head = parts(f"{name}.head")
    if not head.facts:
        return read_matrix(parts(name), shape)
    num_head = head.number("rows", 1, shape[0])
    return SplitMatrix(
        read_matrix(head, (num_head, shape[1])), read_matrix(parts(name), (shape[0] - num_head, shape[1]))
    )


def _weight(reader: Reader, shape: tuple[int, ...]) -> Floats:
    """A weight of the encoder, which is small and read for every word, as float32."""
    if len(shape) == 1:
        return read_vector(reader, shape[0])
    return all_rows(read_matrix(reader, (prod(shape[:-1]), shape[-1]))).reshape(shape)
