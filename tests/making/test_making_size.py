"""Models for a size in megabytes: the arithmetic against packed files, the choice, and the whole command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import fewwords
from fewwords.codes.controls import random_codes
from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError
from fewwords.making.choice import choose
from fewwords.making.minutes import FEWEST_DEV_WORDS
from fewwords.making.size import MAX_NONZEROS, SHAPES, Shape, choose_shape, packed_bytes
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.packing.pack import DEFAULT_WORDS, pack
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary


def codes_of(shape: Shape) -> SparseCodes:
    """Random codes, of lengths from 1 to twice the mean where it is below the limit."""
    random, num_base = np.random.default_rng(1), shape.base_size + 3
    whole = random_codes(shape.vocabulary_size, num_base, MAX_NONZEROS, seed=1)
    lengths = np.full(whole.num_rare, MAX_NONZEROS)
    if shape.mean_nonzeros < MAX_NONZEROS:
        lengths = random.integers(1, 2 * int(shape.mean_nonzeros), whole.num_rare)
    kept = (random.random((whole.num_rare, MAX_NONZEROS)).argsort(1).argsort(1) < lengths[:, None]).reshape(-1)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return SparseCodes(offsets, whole.indices[kept], random.random(kept.sum(), np.float32) + 0.01, num_base)


@pytest.mark.parametrize("shape", [Shape(6_000, 600, 8, 80), Shape(4_000, 1_000, 4, 60, 90), SHAPES[-1]])
def test_the_arithmetic_is_that_of_packed_files(shape: Shape, tmp_path: Path) -> None:
    sizes = {"embedding_size": shape.size, "hidden_size": shape.size, "cell_size": shape.cell_size}
    codes = codes_of(shape)
    torch.manual_seed(1)
    network = LanguageModel(settings_of("lstm-z-w", **sizes), shape.vocabulary_size, codes).eval()
    random = np.random.default_rng(2)
    letters = random.choice(list("etaoinshrd"), (shape.vocabulary_size * 2, 7))
    words = [*SPECIAL_WORDS, *dict.fromkeys("".join(each) for each in letters)][: shape.vocabulary_size]
    model = NeuralModel(network, Vocabulary(words, np.ones(len(words), np.int64)), codes)
    save_neural(tmp_path / "model", model, "a card of the usual length " * 110)
    assert pack(tmp_path / "model", tmp_path / "model.few", bits=4).num_bytes == pytest.approx(
        packed_bytes(shape), rel=0.08
    )


def test_shapes_go_from_large_to_small_and_the_first_that_fits_is_taken() -> None:
    sizes = [packed_bytes(shape) for shape in SHAPES]
    assert sizes == sorted(sizes, reverse=True)
    for mb in (0.1, 0.5, 1, 2, 4, 100):
        found = choose_shape(mb, 50_000, None, None)
        assert packed_bytes(found) <= 1e6 * mb
        place = SHAPES.index(found)
        assert place == 0 or packed_bytes(SHAPES[place - 1]) > 0.97e6 * mb
    assert choose_shape(1, 50_000, None, None).vocabulary_size == 50_000
    with pytest.raises(InputError, match=r"`size_mb` 0.01: the smallest model of this text has about 0.05 MB"):
        choose_shape(0.01, 50_000, None, None)


def test_what_is_given_stays_and_the_rest_shrinks() -> None:
    counts = np.full(70_000, 9)
    found = choose(90_000_000, counts, size_mb=1.5, vocabulary_size=40_000)
    assert found.vocabulary_size == 40_000
    assert packed_bytes(found.shape or SHAPES[0]) <= 1.5e6
    assert choose(90_000_000, counts, size_mb=1.5, base_size=700).base_size == 700
    few_words = choose(90_000_000, counts[:3_000], size_mb=8)
    assert (few_words.vocabulary_size, few_words.base_size) == (3_000, 999)


def test_a_model_is_packed_into_the_size_and_used(text: Path, tmp_path: Path) -> None:
    made = fewwords.make(text, tmp_path / "model", size_mb=0.05, threads=1)
    assert made.packed is not None
    assert made.packed.path == tmp_path / "model.few"
    assert made.packed.path.stat().st_size <= 50_000
    assert made.choice.shape is not None
    settings = fewwords.load(made.folder).model.network.settings
    assert settings.hidden_size == made.choice.shape.size < 200
    assert settings.tune_codes
    assert fewwords.load(made.folder).model.made_from["training"]["quantise_aware"] == 4  # the last stretch
    assert fewwords.load(made.packed.path).suggest("Ba ", 3)
    assert made.packed.perplexity_after is not None


def test_a_short_time_measures_packing_on_fewer_words(text: Path, tmp_path: Path) -> None:
    made = fewwords.make(text, tmp_path / "model", size_mb=0.05, minutes=0.01, threads=1)
    assert made.packed is not None
    packing = fewwords.load(made.packed.path).model.made_from["packed"]
    assert packing["perplexity"]["words"] == FEWEST_DEV_WORDS < DEFAULT_WORDS


def test_the_command_tells_what_it_chose(text: Path, command: Callable[..., Any], tmp_path: Path) -> None:
    outcome = command("make", text, "--output", tmp_path / "model", "--size-mb", "0.06", "--threads", "1")
    assert outcome.code == 0, outcome.err
    assert "model.few" in outcome.out
    assert "base words" in outcome.out
    assert "fits 0.06 MB" in outcome.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size_mb": 0}, "greater than 0"),
        ({"size_mb": 1, "model": "kn3"}, "kn3 has no sizes to choose from"),
        ({"size_mb": 1, "model": "lstm-z"}, "lstm-z has no sizes"),
        ({"size_mb": 0.001}, "the smallest model of this text"),
    ],
)
def test_bad_sizes_are_refused_and_leave_nothing(text: Path, tmp_path: Path, options: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        fewwords.make(text, tmp_path / "model", threads=1, **options)
    assert not (tmp_path / "model").exists()


def test_a_file_of_others_is_not_replaced(text: Path, tmp_path: Path) -> None:
    (tmp_path / "model.few").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        fewwords.make(text, tmp_path / "model", size_mb=1)
    assert (tmp_path / "model.few").read_text() == "mine"
