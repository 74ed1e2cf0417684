"""Training with rounded weights: what is kept packs without loss, small moves add up, and runs resume to the same bits."""

import itertools
import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch

from fewwords.codes import random_codes
from fewwords.errors import InputError
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.variants import settings_of
from fewwords.models.packed.matrix import all_rows
from fewwords.packing.make_parts import make_parts
from fewwords.packing.pack import pack
from fewwords.packing.recipe import RECIPES, TRAINED
from fewwords.runtime import load
from fewwords.training.loop import train_neural as train
from fewwords.training.rounding import Rounding
from fewwords.training.settings import TrainingSettings
from fewwords.training.trainer import Trainer

SIZES = {"embedding_size": 40, "hidden_size": 40, "cell_size": 60}


def run(work: Path, folder: Path, settings: TrainingSettings, variant: str = "lstm-z-w", **model) -> Path:
    train(
        work,
        settings_of(variant, **{**SIZES, **model}),
        settings,
        vocabulary_size=23,
        base_size=12,
        output=folder,
        resume=True,
    )
    return folder


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize(("variant", "tied"), [("lstm-z-w", True), ("lstm-z-w", False), ("lstm-z", True)])
def test_the_weights_that_are_kept_are_those_that_pack_stores(work, tmp_path, quick, bits, variant, tied):
    tuned = {"tune_codes": True} if variant == "lstm-z-w" else {}
    folder = run(work, tmp_path / "m", quick(words=2_000, quantise_aware=bits), variant, tied=tied, **tuned)
    kept = load(folder)
    recipe = TRAINED if bits == 4 else RECIPES[8]
    packed = make_parts(kept, recipe, {}).network()
    stored = [(kept.network.embedding, packed.embedding), (kept.network.output, packed.output)]
    for ours, theirs in stored:
        np.testing.assert_allclose(all_rows(theirs), all_rows(ours), rtol=1e-6, atol=0)
    for name, weight in kept.network.encoder.weights.items():
        if weight.ndim > 1:
            np.testing.assert_allclose(packed.encoder.weights[name], weight, rtol=1e-6, atol=0)
    np.testing.assert_allclose(packed.bias, kept.network.bias, rtol=1e-6, atol=0)
    plain = load(run(work, tmp_path / "plain", quick(words=2_000), variant, tied=tied, **tuned))
    rounded = make_parts(plain, recipe, {}).network()
    # which is what rounding after training changes
    assert np.abs(all_rows(rounded.embedding) - all_rows(plain.network.embedding)).max() > 1e-4
    assert np.abs(rounded.bias - plain.network.bias).max() > 1e-4
    if variant == "lstm-z-w":
        np.testing.assert_array_equal(packed.codes.sparse_codes.values, kept.codes.values)


def test_a_model_in_8_bits_is_as_good_as_one_in_float32(work, tmp_path, quick):
    texts = {"work": work, "max_words": 400}
    rounded = pack(run(work, tmp_path / "8", quick(quantise_aware=8)), tmp_path / "8.few", bits=8, **texts)
    plain = pack(run(work, tmp_path / "32", quick()), tmp_path / "32.few", bits=8, **texts)
    assert rounded.perplexity_after == pytest.approx(plain.perplexity_before, rel=0.02)


def test_moves_too_small_to_change_a_level_add_up():
    torch.manual_seed(1)
    model = LanguageModel(settings_of("lstm-z-w", **SIZES), 30, random_codes(30, 15, 2, seed=1))
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    rounding = Rounding(model, 4)
    rounding.round()
    first = model.embedding.base.detach().clone()
    assert not torch.equal(first, before["embedding.base"])
    for _ in range(60):
        with torch.no_grad():
            for weight in model.parameters():
                weight += 1e-4
        rounding.round()
    offsets = rounding.state_tensors()
    assert set(offsets) == {
        f"{name}.offset"
        for name in before
        if name in ("embedding.base", "output.bias") or (name.startswith("encoder.") and "weight" in name)
    }
    for name, offset in offsets.items():
        weight = dict(model.named_parameters())[name.removesuffix(".offset")]
        torch.testing.assert_close(weight - offset, before[name.removesuffix(".offset")] + 60e-4, rtol=0, atol=1e-5)
    changed = model.embedding.base.detach() != first
    assert 0.1 < changed.float().mean() < 1


@pytest.mark.parametrize("stop_at", [7, 31])
def test_an_interrupted_run_resumes_to_the_same_bits(work, tmp_path, quick, monkeypatch, stop_at):
    settings = quick(quantise_aware=4)
    run(work, tmp_path / "whole", settings, tune_codes=True)
    real, calls = Trainer.step, itertools.count(1)

    def step(self, *arguments):
        if next(calls) == stop_at:
            os.kill(os.getpid(), signal.SIGINT)
        return real(self, *arguments)

    monkeypatch.setattr(Trainer, "step", step)
    with pytest.raises(KeyboardInterrupt):
        run(work, tmp_path / "parts", settings, tune_codes=True)
    with pytest.raises(InputError, match="`quantise_aware` 4, not None"):
        run(work, tmp_path / "parts", quick(), tune_codes=True)
    run(work, tmp_path / "parts", settings, tune_codes=True)
    whole, parts = (tmp_path / name / "model.safetensors" for name in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes()


def test_other_bits_are_refused():
    with pytest.raises(InputError, match="`quantise_aware` 5: choose 8 or 4 bits"):
        TrainingSettings(quantise_aware=5)


def test_offsets_of_another_model_are_refused():
    model = LanguageModel(settings_of("lstm-z", **SIZES), 30, None)
    rounding = Rounding(model, 8)
    good = rounding.state_tensors()
    name = next(iter(good))
    for bad in (
        {**good, name: torch.zeros(3)},
        {**good, "other.offset": torch.zeros(3)},
        {**good, name: good[name] + torch.nan},
    ):
        with pytest.raises(InputError, match="does not fit this model"):
            rounding.load_state_tensors(bad)
    with pytest.raises(InputError, match="incomplete"):
        rounding.load_state_tensors({key: good[key] for key in good if key != name})
