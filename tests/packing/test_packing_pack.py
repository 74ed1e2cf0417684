"""`pack`: a folder in, one file out, with an account of every byte."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fewwords
from fewwords.corpus import TokenCorpus, prepare
from fewwords.errors import InputError
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.model import NeuralModel
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.models.packed.matrix import all_rows
from fewwords.packing.pack import pack
from fewwords.packing.recipe import LADDER, RECIPES
from packed_models import make_neural, packed_model


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory, prose: Callable[..., str]) -> Path:
    folder = tmp_path_factory.mktemp("work")
    (folder / "text.txt").write_text(prose(600))
    prepare([str(folder / "text.txt")], folder, dev_words=400, test_words=400)
    return folder


@pytest.fixture(scope="module")
def folder(work: Path) -> Path:
    """A neural model over the words of the corpus."""
    model = make_neural("lstm-z-w", num_words=150, size=20)
    vocabulary = TokenCorpus.open(work).vocabulary(150)
    save_neural(work / "model", NeuralModel(model.network, vocabulary, model.codes), "# Card\n")
    return work / "model"


@pytest.mark.parametrize("bits", [8, 4])
def test_every_byte_is_accounted_for(folder: Path, bits: int, tmp_path: Path) -> None:
    packed = pack(folder, tmp_path / "m.few", bits=bits)
    assert packed.num_bytes == packed.path.stat().st_size
    parts = {part.name: part for part in packed.parts}
    assert parts["embedding"].num_numbers == 21 * 20
    assert packed.num_bytes < packed.num_float_bytes
    assert packed.perplexity_before is packed.perplexity_after is None


def test_the_most_frequent_words_have_more_bits(tmp_path: Path) -> None:
    model = make_neural("lstm-z", num_words=4 * RECIPES[4].head)
    packed = packed_model(model, tmp_path, 4)
    errors = np.abs(all_rows(packed.network.output) - model.network.output.weight.detach().numpy()).mean(1)
    assert errors[: RECIPES[4].head].max() < errors[RECIPES[4].head :].min()
    answers = [found.log_probs(found.feed(found.start(), 1000)) for found in (packed, in_pytorch(packed))]
    np.testing.assert_allclose(*answers, atol=2e-5)


def test_the_same_model_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    first, second = (pack(folder, tmp_path / name, bits=4).path.read_bytes() for name in ("a.few", "b.few"))
    assert first == second


def test_perplexity_is_that_of_evaluate(folder: Path, work: Path, tmp_path: Path) -> None:
    packed = pack(folder, tmp_path / "m.few", bits=4, work=work, max_words=300)
    for model, perplexity in ((folder, packed.perplexity_before), (packed.path, packed.perplexity_after)):
        evaluated = fewwords.evaluate(model, work=work, part="dev", max_words=300)
        assert evaluated.total.perplexity.value == pytest.approx(perplexity, rel=1e-4)
    assert fewwords.load(packed.path).model.made_from["packed"]["perplexity"]["after"] == packed.perplexity_after
    evaluated = fewwords.evaluate(packed.path, work=work, part="dev", max_words=300)
    assert evaluated.files == {"m.few": packed.num_bytes}


def test_text_instead_of_a_corpus(folder: Path, work: Path, tmp_path: Path) -> None:
    packed = pack(folder, tmp_path / "m.few", bits=8, texts=[str(work / "text.txt")], max_words=200)
    assert packed.perplexity_before is not None
    assert packed.perplexity_after == pytest.approx(packed.perplexity_before, rel=0.02)


def test_a_size_chooses_the_best_recipe_that_fits(folder: Path, tmp_path: Path) -> None:
    for limit, recipe in ((1.0, LADDER[0]), (0.0080, LADDER[1]), (0.0060, LADDER[-1])):
        packed = pack(folder, tmp_path / f"{limit}.few", size_mb=limit)
        assert packed.recipe == recipe
        assert packed.num_bytes <= 1e6 * limit
    with pytest.raises(InputError, match=r"is 0\.00\d MB over `size_mb` 0\.001"):
        pack(folder, tmp_path / "small.few", size_mb=0.001)
    assert not (tmp_path / "small.few").exists()


def test_the_size_is_that_of_the_finished_file(folder: Path, prose: Callable[..., str], tmp_path: Path) -> None:
    """The perplexities that are written last count too."""
    (tmp_path / "text.txt").write_text(prose(10))
    texts = [str(tmp_path / "text.txt")]
    whole = pack(folder, tmp_path / "whole.few", texts=texts)
    packed = pack(folder, tmp_path / "m.few", size_mb=(whole.num_bytes - 1) / 1e6, texts=texts)
    assert packed.path.stat().st_size == packed.num_bytes < whole.num_bytes
    assert (whole.recipe, packed.recipe) == LADDER[:2]
    assert packed.perplexity_before == whole.perplexity_before
    smallest = pack(folder, tmp_path / "smallest.few", size_mb=0.0061, texts=texts)
    assert smallest.recipe == LADDER[-1]
    with pytest.raises(InputError, match=r"is 0\.001 MB over"):
        pack(folder, tmp_path / "none.few", size_mb=(smallest.num_bytes - 1) / 1e6, texts=texts)


def test_the_ladder_goes_down() -> None:
    assert LADDER[0] == RECIPES[8]
    assert RECIPES[4] in LADDER
    for better, worse in zip(LADDER, LADDER[1:]):
        assert all(high >= low for high, low in list(zip(vars(better).values(), vars(worse).values()))[:4])


def test_what_cannot_be_packed(folder: Path, tmp_path: Path) -> None:
    packed = packed_model(make_neural("lstm-z-w"), tmp_path, 8)
    assert packed.facts["bits"] == 8
    with pytest.raises(InputError, match="packed already"):
        pack(tmp_path / "model.few", tmp_path / "again.few")
    with pytest.raises(InputError, match="is there already"):
        pack(folder, tmp_path / "model.few")
    with pytest.raises(InputError, match="choose 8 or 4"):
        pack(folder, tmp_path / "m.few", bits=5)
    with pytest.raises(InputError, match="either `bits` or `size_mb`"):
        pack(folder, tmp_path / "m.few", bits=4, size_mb=1)
    with pytest.raises(InputError, match="more than 0"):
        pack(folder, tmp_path / "m.few", size_mb=float("nan"))
    with pytest.raises(InputError, match="no such model"):
        pack(tmp_path / "nothing", tmp_path / "m.few")


def test_the_command(folder: Path, work: Path, tmp_path: Path, command: Callable[..., object]) -> None:
    file = tmp_path / "m.few"
    done = command("pack", folder, "--output", file, "--bits", 4, "--work", work, "--max-words", 100)
    assert done.code == 0, done.err
    assert "perplexity after packing" in done.out
    assert f"{file.stat().st_size:,}" in done.out
    assert command("suggest", file, "the ").code == 0
    assert "packed perplexity" in command("info", file).out
    assert "perplexity" in command("evaluate", file, "--work", work, "--max-words", 50).out
    done = command("pack", folder, "--output", file)
    assert (done.code, len(done.errors)) == (2, 1)
    assert "--force" in done.errors[0]
    done = command("mix", file, folder, "--work", work, "--output", tmp_path / "mix")
    assert (done.code, "packed file" in done.errors[0]) == (2, True)


def test_the_benchmark_counts_all_models_alike(folder: Path, work: Path) -> None:
    script = Path(__file__).parents[2] / "benchmarks/pack.py"
    command = [sys.executable, script, "--quick", "--work", work, "--model", folder, "--dense", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout.splitlines()[-1])
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    assert figures["dense_mb"] == figures["float_mb"] == round(size / 1e6, 4)


def test_a_state_of_a_packed_model_stays_what_it_is(folder: Path, tmp_path: Path) -> None:
    model = fewwords.load(pack(folder, tmp_path / "m.few", bits=4).path)
    state = model.feed(model.start(), "the")
    before = model.log_probs(state).copy()
    model.feed(state, "the")
    np.testing.assert_array_equal(model.log_probs(state), before)
