"""A model folder: the same model to the bit, and nothing else is taken for one."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from fewwords.codes import random_codes
from fewwords.errors import InputError
from fewwords.layers import DenseEmbedding
from fewwords.models.load import load
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.models.neural.without_start import WithoutStart
from fewwords.store.files import sha256_of
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary
from two_files import write_old_codes

NUM_WORDS = 25
CODES = random_codes(NUM_WORDS, 12, 3, seed=5)
VOCABULARY = Vocabulary([*SPECIAL_WORDS, *(f"w{i}" for i in range(22))], np.arange(NUM_WORDS, 0, -1))
SENTENCES = torch.tensor([[5, 9, 24, 3], [20, 4, 0, 13]])


def save(folder, variant="lstm-z-w", **changes):
    torch.manual_seed(2)
    settings = settings_of(variant, **{"embedding_size": 6, "hidden_size": 6, **changes})
    codes = CODES if settings.is_coded else None
    model = LanguageModel(settings, NUM_WORDS, codes).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.rand_like(parameter))
    save_neural(folder, NeuralModel(model, VOCABULARY, codes, made_from={"by": "a test"}), "# card\n")
    return model


@pytest.mark.parametrize(
    ("variant", "changes"),
    [
        ("lstm-s", {}),
        ("lstm-z", {"tied": True, "num_layers": 2}),
        ("lstm-z-wb", {"boundary": "paper"}),
        ("lstm-z-w", {"tied": True, "tune_codes": True, "dropout": 0.3, "normaliser": "constant"}),
        ("lstm-z-w", {"cell_size": 40}),
        ("lbl5", {"context_size": 3}),
        ("lbl5-w", {"boundary": "paper"}),
    ],
)
def test_save_and_load_to_the_bit(tmp_path, variant, changes):
    model = save(tmp_path / "m", variant, **changes)
    saved = load(tmp_path / "m")
    assert saved.network.settings == model.settings
    assert saved.vocabulary.words == VOCABULARY.words
    assert saved.made_from == {"by": "a test"}
    assert not saved.network.training
    ours, theirs = model.state_dict(), saved.network.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    contexts, targets = model.predictions(SENTENCES)
    again = saved.network.predictions(SENTENCES)
    assert torch.equal(contexts, again.contexts)
    log_probs = (m.output.log_probs_of(contexts.detach(), targets) for m in (model, saved.network))
    assert torch.equal(*log_probs)
    if model.settings.tied:
        assert saved.network.embedding_table is getattr(
            saved.network.output, "base", getattr(saved.network.output, "weight", None)
        )


def test_tuned_codes_are_saved_as_they_are_now_without_those_that_became_zero(tmp_path):
    model = LanguageModel(settings_of("lstm-z-w", embedding_size=6, hidden_size=6, tune_codes=True), NUM_WORDS, CODES)
    assert model.codes is not None
    with torch.no_grad():
        model.codes.values[:3] = torch.tensor([0.0, 0.25, 0.0])  # the first rare word's three
        model.codes.values[6:9] = 0.0  # all of the third's
    save_neural(tmp_path / "m", NeuralModel(model.eval(), VOCABULARY, CODES), "")
    saved = load(tmp_path / "m")
    assert saved.codes is not None
    assert saved.codes.row(12)[1].tolist() == [0.25]
    assert saved.codes.row(12)[0].tolist() == CODES.row(12)[0][1:2].tolist()
    assert saved.codes.row(13)[1].tolist() == CODES.row(13)[1].tolist()
    assert len(saved.codes.row(14)[0]) == 1
    assert saved.codes.row(14)[1] < 1e-30
    assert len(saved.codes.values) == len(CODES.values) - 4
    for ours, theirs in zip(model.predictions(SENTENCES), saved.network.predictions(SENTENCES)):
        torch.testing.assert_close(ours, theirs)
    assert "codes" not in " ".join(load_file(tmp_path / "m" / "model.safetensors"))


@pytest.mark.parametrize("name", ["model.safetensors", "codes.safetensors", "words.tsv"])
def test_missing_and_changed_files_are_named(tmp_path, name):
    save(tmp_path / "m")
    path = tmp_path / "m" / name
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"{name}: not the file"):
        load(tmp_path / "m")
    path.unlink()
    with pytest.raises(InputError, match=rf"{name}: missing"):
        load(tmp_path / "m")


def test_an_unfinished_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such model"):
        load(tmp_path / "m")
    save(tmp_path / "m")
    facts = json.loads((tmp_path / "m" / "model.json").read_text())
    (tmp_path / "m" / "model.json").write_text(json.dumps({**facts, "format": "other"}))
    with pytest.raises(InputError, match="not the description"):
        load(tmp_path / "m")
    (tmp_path / "m" / "model.json").write_text(json.dumps({**facts, "vocabulary": "0"}))
    with pytest.raises(InputError, match="not the vocabulary"):
        load(tmp_path / "m")
    (tmp_path / "m" / "model.json").write_text(
        json.dumps({**facts, "settings": {**facts["settings"], "num_layers": 2}})
    )
    with pytest.raises(InputError, match="does not fit"):
        load(tmp_path / "m")
    (tmp_path / "m" / "model.json").unlink()
    with pytest.raises(InputError, match="incomplete"):
        load(tmp_path / "m")


def test_saving_again_keeps_what_is_not_the_models(tmp_path):
    save(tmp_path / "m")
    (tmp_path / "m" / "training.jsonl").write_text("{}\n")
    model = save(tmp_path / "m", hidden_size=5)
    assert (tmp_path / "m" / "training.jsonl").read_text() == "{}\n"
    assert load(tmp_path / "m").network.settings == model.settings
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_model_whose_codes_have_two_files_still_loads(tmp_path):
    """Models of the older format "fewwords codes 1": codes.safetensors, and codes.json beside it."""
    save(tmp_path / "m")
    write_old_codes(CODES, tmp_path / "m" / "codes.safetensors")
    facts = json.loads((tmp_path / "m" / "model.json").read_text())
    names = [*facts["sha256"], "codes.json"]
    facts["sha256"] = {name: sha256_of(tmp_path / "m" / name) for name in names}
    (tmp_path / "m" / "model.json").write_text(json.dumps(facts))
    codes = load(tmp_path / "m").codes
    assert codes is not None
    assert (codes.num_base, codes.values.tobytes()) == (12, CODES.values.tobytes())


class KilledError(BaseException):
    """Stands for SIGKILL: nothing after it happens."""


def test_a_kill_at_any_moment_leaves_the_old_model_the_new_one_or_none(tmp_path, monkeypatch):
    """Stop the writer before each step that changes the disk; what is left loads or is refused, and is no obstacle."""
    countdown, outcomes = 1000, []

    def count(real):
        def counted(*arguments, **options):
            nonlocal countdown
            countdown -= 1
            if countdown < 0:
                raise KilledError
            return real(*arguments, **options)

        return counted

    for owner, names in ((Path, ("rename", "replace", "mkdir", "unlink")), (shutil, ("rmtree",))):
        for name in names:
            monkeypatch.setattr(owner, name, count(getattr(owner, name)))
    moment = 0
    while True:
        folder, countdown = tmp_path / str(moment) / "m", 1000
        save(folder)
        (folder / "training.jsonl").write_text("{}\n")
        countdown = moment
        try:
            save(folder, hidden_size=5)
            break
        except KilledError:
            countdown = 1000
        if (folder / "model.json").exists():
            outcomes.append(load(folder).network.settings.hidden_size)
        else:
            with pytest.raises(InputError, match="incomplete"):
                load(folder)
            outcomes.append(None)
        save(folder, hidden_size=4)
        assert load(folder).network.settings.hidden_size == 4
        assert [path.name for path in folder.parent.iterdir()] == ["m"]
        assert (folder / "training.jsonl").exists()
        moment += 1
    assert set(outcomes) == {6, None, 5}
    assert outcomes.count(None) <= 5  # only between the first and the last move


def test_a_full_disk_names_the_folder(tmp_path, monkeypatch):
    """safetensors tells of a full disk by an error of its own."""
    save(tmp_path / "m")

    def fail(*_):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("safetensors.torch.save_file", fail)
    with pytest.raises(OSError, match="No space left on device") as caught:
        save(tmp_path / "m", hidden_size=5)
    assert caught.value.filename == str(tmp_path / "m")
    assert load(tmp_path / "m").network.settings.hidden_size == 6
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_loading_draws_no_uniform_start() -> None:
    before = torch.get_rng_state()
    with WithoutStart():
        DenseEmbedding(50, 4)
    assert torch.equal(torch.get_rng_state(), before)
    DenseEmbedding(50, 4)
    assert not torch.equal(torch.get_rng_state(), before)
