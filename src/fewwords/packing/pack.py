"""`pack`: the folder of a neural model becomes one packed file (`.few`); needs numpy alone.

Reads the folder and, where there is a text, its words. They tell which errors matter, and what packing costs in
perplexity.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fewwords import __version__
from fewwords.corpus.token_corpus import PartName, TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.evaluate import check_texts
from fewwords.evaluation.perplexity import sentences_perplexity
from fewwords.evaluation.text import read_part, read_sentences
from fewwords.models.model import Sentence
from fewwords.models.packed.matrix import FloatMatrix, Floats
from fewwords.models.packed.model import PackedModel
from fewwords.packing.inputs import encoder_inputs
from fewwords.packing.make_parts import PackedPart, account, make_parts
from fewwords.packing.recipe import LADDER, RECIPES, Recipe
from fewwords.progress import Progress
from fewwords.runtime import load
from fewwords.store.files import atomic_write, check_file

INPUT_WORDS = 100_000
DEFAULT_WORDS = 20_000


@dataclass(frozen=True)
class Packed:
    """What was packed: the parts, which make up the file, and perplexities, if there was a text to measure them on."""

    path: Path
    recipe: Recipe
    parts: tuple[PackedPart, ...]
    num_float_bytes: int  # of the same numbers in float32
    perplexity_before: float | None
    perplexity_after: float | None

    @property
    def num_bytes(self) -> int:
        """The size of the file."""
        return sum(part.num_bytes for part in self.parts)


def pack(
    model: str | Path,
    output: str | Path,
    *,
    bits: int | None = None,
    size_mb: float | None = None,
    texts: Sequence[str] = (),
    work: str | Path | None = None,
    max_words: int = DEFAULT_WORDS,
    card: str | Path | None = None,
    force: bool = False,
) -> Packed:
    """Pack the model folder `model` into the file `output`, with 8 or 4 `bits` (8 if nothing is said), or for a size.

    With `size_mb`, the best recipe that makes a file of at most so many megabytes (1,000,000 bytes) is taken. `texts`, or
    the corpus in `work`, show what the encoder's weights meet (100,000 words, of its train part), and perplexity is measured on
    `max_words` words (of dev). `card` is a text file that tells what the model is, for those who will use it; without one it is
    the README.md of the folder. Raises InputError for a model that cannot be packed and a size that no recipe reaches.
    """
    path = Path(output)
    if path.exists() and not force:
        raise InputError(f"{path}: is there already", remedy=("replace it with `force`", "name another file"))
    recipes = _recipes(bits, size_mb)
    told = _card(model, card)
    original = load(model)
    if not isinstance(original.network.embedding, FloatMatrix):
        raise InputError(f"{model}: is packed already; pack the model folder that it was made from")
    measured: list[Sentence] = []
    inputs: dict[str, Floats] = {}
    if texts or work is not None:
        measured = _sentences(original, texts, work, "dev", max_words)
        inputs = encoder_inputs(original.network, _sentences(original, texts, work, "train", INPUT_WORDS))
    most_bytes = math.inf if size_mb is None else 1e6 * size_mb
    before = after = None
    for recipe in recipes:
        parts = make_parts(original, recipe, inputs)
        packed = replace(original, network=parts.network(), num_normaliser=0)
        content = parts.to_bytes(rules=original.rules, card=told, made_from=_made_from(original, recipe))
        if measured and len(content) <= most_bytes:
            before = before or _perplexity(original, measured, "before")
            after = _perplexity(packed, measured, "after")
            made_from = _made_from(original, recipe, {"before": before, "after": after, "words": max_words})
            content = parts.to_bytes(rules=original.rules, card=told, made_from=made_from)  # longer by the figures
        if len(content) <= most_bytes:
            break
    else:
        missing = math.ceil((len(content) - most_bytes) / 1e3) / 1e3
        raise InputError(
            f"{model}: the smallest file is {missing:.3f} MB over `size_mb` {size_mb:g}; allow more, or train a model of "
            "fewer words, base words or values"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(content)
    return Packed(path, recipe, account(parts, packed, len(content)), 4 * original.num_numbers, before, after)


def _card(model: str | Path, card: str | Path | None) -> str:
    if card is not None:
        check_file(Path(card), "name a text file with `card`")
    path = Path(model, "README.md") if card is None else Path(card)
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _recipes(bits: int | None, size_mb: float | None) -> Sequence[Recipe]:
    if bits is not None and size_mb is not None:
        raise InputError("give either `bits` or `size_mb`: a size decides the bits")
    if bits is not None and bits not in RECIPES:
        raise InputError(f"`bits` {bits}: choose {' or '.join(map(str, RECIPES))}")
    if size_mb is not None:
        if not size_mb > 0:
            raise InputError(f"`size_mb` {size_mb}: choose more than 0")
        return LADDER
    return [RECIPES[bits or 8]]


def _sentences(
    model: PackedModel, texts: Sequence[str], work: str | Path | None, part: PartName, max_words: int
) -> list[Sentence]:
    """The first sentences of a part of the corpus, or of each of the texts."""
    sources = check_texts(texts, work, max_words)
    if work is not None:
        return [each.ids for each in read_part(TokenCorpus.open(work), part, model.vocabulary, max_words)]
    read = (read_sentences(source, model.vocabulary, model.rules, max_words=max_words) for source in sources)
    return [each.ids for sentences in read for each in sentences]


def _perplexity(model: PackedModel, sentences: list[Sentence], when: str) -> float:
    with Progress(f"perplexity {when} packing", sum(map(len, sentences)), "words") as progress:
        return sentences_perplexity(model, sentences, advance=progress.advance).value


def _made_from(model: PackedModel, recipe: Recipe, perplexity: dict[str, Any] | None = None) -> dict[str, Any]:
    """The result of the training, and how the file was packed; what else the folder tells is too long for it."""
    packed = {"version": __version__, "bits": vars(recipe), "perplexity": perplexity}
    return {"result": model.made_from.get("result"), "packed": packed}
