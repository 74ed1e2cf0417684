"""Points of the frontier: what a trained model costs in bytes and has in perplexity, in float32 and rounded.

Every byte is counted: weights, scales, codes, biases, words and header. The perplexity is that of the very numbers in
these bytes. In float32 a number has four bytes, an index of a code too.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fewwords.corpus.token_corpus import PartName, TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.perplexity import part_perplexity
from fewwords.evaluation.text import read_part
from fewwords.frontier.block_svd import block_svd
from fewwords.frontier.dense_twin import dense_model, twin_inputs
from fewwords.frontier.ngram_packing import pack_to
from fewwords.frontier.ngram_pruning import removal_losses
from fewwords.frontier.product_quantisation import quantise_products
from fewwords.frontier.rounding import round_tables
from fewwords.models.kneser_ney.model import KneserNey
from fewwords.models.load import load
from fewwords.models.model import Model, Sentence
from fewwords.models.neural.model import NeuralModel
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.models.packed.matrix import Floats
from fewwords.models.packed.model import PackedModel
from fewwords.models.packed.words import encode_words
from fewwords.packing.inputs import encoder_inputs
from fewwords.packing.make_parts import make_parts
from fewwords.packing.pack import INPUT_WORDS
from fewwords.packing.recipe import LADDER, RECIPES, TRAINED, Recipe
from fewwords.progress import say
from fewwords.runtime import load as load_with_numpy

DEV_WORDS, TEST_WORDS = 20_000, 200_000
NGRAM_BUDGETS = (1e6, 2e6, 4e6, 8e6)
# What is made of a trained dense model: columns of a sub-space, and bands of words with their ranks as shares of the size.
PRODUCT_WIDTHS = (4, 8)
SVD_BANDS: tuple[tuple[tuple[int, ...], tuple[float, ...]], ...] = (
    ((2_000, 8_000), (1.0, 0.2, 0.04)),
    ((5_000, 15_000), (1.0, 0.4, 0.12)),
    ((10_000, 20_000), (1.0, 0.6, 0.3)),
)
SMALL_TABLES = LADDER[1]  # the encoder in 8 bits: 0.2 MB more than in 4, for 1.4 % of perplexity (docs/log.md)
ROUNDINGS = (RECIPES[8], SMALL_TABLES, RECIPES[4])


@dataclass(frozen=True, kw_only=True)
class Point:
    """One model of a size: `mb` are 1,000,000 bytes, `run` is the training run that it comes from."""

    method: str
    settings: dict[str, Any]
    mb: float
    ppl: float | None
    dev_ppl: float | None
    train_words: int
    ours: bool
    run: str

    def to_json(self) -> dict[str, Any]:
        """The point for a JSON file."""
        return asdict(self)


@dataclass(frozen=True)
class Measure:
    """Where points are measured, and what they are called: the perplexity of the first words of dev and of test.

    No `test_words` leave test alone: for trials, which only choose. `training` has what is told of every point's training.
    """

    work: Path
    method: str
    ours: bool
    run: str
    test_words: int = TEST_WORDS
    dev_words: int = DEV_WORDS
    training: Mapping[str, Any] = field(default_factory=dict)

    def point(self, model: Model, num_bytes: float, method: str | None = None, **settings: Any) -> Point:
        """The point of a model."""
        settings |= self.training
        dev = self._perplexity(model, "dev", self.dev_words)
        test = self._perplexity(model, "test", self.test_words) if self.test_words else None
        found = Point(
            method=method or self.method,
            settings=settings,
            mb=num_bytes / 1e6,
            ppl=test,
            dev_ppl=dev,
            train_words=model.trained_words or 0,
            ours=self.ours,
            run=self.run,
        )
        told = "" if test is None else f", test {test:.2f}"
        say(f"{self.run}: {found.method} {settings}: {found.mb:.3f} MB, dev {dev:.2f}{told}")
        return found

    def _perplexity(self, model: Model, name: PartName, max_words: int) -> float:
        part = TokenCorpus.open(self.work).part(name, model.num_words)
        return part_perplexity(model, part, max_words=max_words).value

    def sentences(self, model: Model) -> list[Sentence]:
        """Sentences of train that show which errors matter."""
        return [each.ids for each in read_part(TokenCorpus.open(self.work), "train", model.vocabulary, INPUT_WORDS)]


def points_of(folder: Path, measure: Measure, *, after_training: bool = False, is_rounded: bool = False) -> list[Point]:
    """The points of a model folder: float32, 8 bits, 4 bits with an encoder of 8, and 4 bits.

    Of a model that was trained with rounded weights: 4 bits. Of a Kneser-Ney model: float32, and one for each budget.

    `after_training` adds what can be made of a dense model: product quantisation, and an SVD by frequency.
    """
    model = load(folder)
    if isinstance(model, KneserNey):
        return _ngram_points(model, measure)
    if not isinstance(model, NeuralModel):
        raise InputError(f"{folder}: no neural and no Kneser-Ney model; name another folder")
    points = [] if is_rounded else [measure.point(model, float_bytes(model), bits=32)]
    sentences = measure.sentences(model)
    plain = load_with_numpy(folder) if model.network.settings.is_plain else None
    inputs = twin_inputs(model, sentences) if plain is None else encoder_inputs(plain.network, sentences)
    for recipe in (TRAINED,) if is_rounded else ROUNDINGS:
        if plain is not None:
            rounded, num_bytes = _packed(plain, recipe, inputs)
        else:
            weights, num_bytes = round_tables(model, recipe, inputs)
            rounded = dense_model(model, weights)
        points.append(measure.point(rounded, num_bytes, **_bits(recipe)))
    return [*points, *(_compressed_points(model, measure, sentences, inputs) if after_training else [])]


def _bits(recipe: Recipe) -> dict[str, Any]:
    return {"bits": recipe.tables, "encoder_bits": recipe.encoder}


def float_bytes(model: NeuralModel) -> int:
    """Four bytes a number, without the normaliser, which is for training only, and the words."""
    numbers = model.memory.total - model.memory.normaliser
    return 4 * numbers + sum(int(array.nbytes) for array in encode_words(model.vocabulary).values())


def _packed(original: PackedModel, recipe: Recipe, inputs: Mapping[str, Floats]) -> tuple[NeuralModel, int]:
    """A packed model in PyTorch, and the bytes of its file, as `pack` writes it but without a card."""
    parts = make_parts(original, recipe, inputs)
    num_bytes = len(parts.to_bytes(rules=original.rules, card="", made_from={}))
    return in_pytorch(replace(original, network=parts.network(), num_normaliser=0)), num_bytes


def _ngram_points(model: KneserNey, measure: Measure) -> list[Point]:
    points = [measure.point(model, model.size.num_bytes, bits=32)]
    losses = removal_losses(model.trie, model.vocabulary.counts)
    for budget in NGRAM_BUDGETS:
        packed = pack_to(model, budget, losses)
        ngrams = list(packed.model.trie.sizes)
        points.append(measure.point(packed.model, packed.num_bytes, bits=8, ngrams=ngrams))
    return points


def _compressed_points(
    model: NeuralModel, measure: Measure, sentences: list[Sentence], inputs: Mapping[str, Floats]
) -> list[Point]:
    points, size = [], model.network.settings.embedding_size
    for width in PRODUCT_WIDTHS:
        if size % width == 0 and model.network.settings.hidden_size % width == 0:
            weights, num_bytes = quantise_products(model, width, SMALL_TABLES, inputs)
            found = dense_model(model, weights)
            settings = {"width": width, "bits": 8, "encoder_bits": SMALL_TABLES.encoder}
            points.append(measure.point(found, num_bytes, "product quantisation", **settings))
    for words, shares in SVD_BANDS:
        if sum(words) >= model.num_words:
            continue
        ranks = svd_ranks(size, shares)
        smaller = block_svd(model, words, ranks)
        inputs = twin_inputs(smaller, sentences)
        weights, num_bytes = round_tables(smaller, SMALL_TABLES, inputs)
        bands = {"band_words": list(words), "band_ranks": list(ranks)}
        found = dense_model(smaller, weights)
        points.append(measure.point(found, num_bytes, "block SVD", **bands, **_bits(SMALL_TABLES)))
    return points


def svd_ranks(size: int, shares: tuple[float, ...]) -> tuple[int, ...]:
    """Ranks of bands from their shares of the size."""
    return tuple(max(1, round(share * size)) for share in shares)
