"""A mixture: its probabilities, its folder, and what cannot be mixed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from kneser_ney_oracle import make_part, make_vocabulary

from fewwords.codes.controls import random_codes
from fewwords.errors import InputError
from fewwords.evaluation.evaluate import evaluate
from fewwords.models.kneser_ney import KneserNey, estimate
from fewwords.models.load import load
from fewwords.models.mixture.folder import save_mixture
from fewwords.models.mixture.mixture import Mixture
from fewwords.models.model import Model
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.vocabulary import END_ID

SIZE = 12
VOCABULARY = make_vocabulary(SIZE)
TEXT = [[3, 4, 5, 3], [5, 4], [3, 4, 5, 6, 7], [8, 9, 10, 11, 3, 4], [0, 3, 4], [7], []]
SENTENCES = [np.array(words, np.int64) for words in TEXT]


def n_gram(order: int) -> KneserNey:
    return estimate(make_part(TEXT, SIZE), order, vocabulary=VOCABULARY, discount_fallback=(0.5, 1, 1.5))


def neural(**changes: object) -> NeuralModel:
    settings = settings_of("lstm-z-w", embedding_size=4, hidden_size=5, **changes)
    torch.manual_seed(1)
    codes = random_codes(SIZE, 6, 2, seed=1)
    network = LanguageModel(settings, SIZE, codes).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter)
    return NeuralModel(network, VOCABULARY, codes)


def mixture(*weights: float) -> Mixture:
    return Mixture(
        (neural(), n_gram(2), n_gram(1))[: len(weights)], weights, VOCABULARY, {"corpus": {"sources": ["x"]}}
    )


def scores(model: Model, sentences: list[np.ndarray] = SENTENCES) -> list[np.ndarray]:
    return [log_probs for _, log_probs in model.score_sentences(sentences)]


def test_the_sum_of_the_components() -> None:
    mixed = mixture(0.2, 0.5, 0.3)
    parts = [scores(component) for component in mixed.components]
    for place, log_probs in enumerate(scores(mixed)):
        expected = sum(w * np.exp(part[place]) for w, part in zip(mixed.weights, parts))
        np.testing.assert_allclose(np.exp(log_probs), expected)
        assert len(log_probs) == len(TEXT[place]) + 1
    assert [words.tolist() for words, _ in mixed.score_sentences(SENTENCES)] == TEXT


@pytest.mark.parametrize("context", [[], [3], [3, 4, 5], [0, 11]])
def test_probabilities_sum_to_one(context: list[int]) -> None:
    mixed = mixture(0.6, 0.4)
    words = [np.array([*context, word]) for word in range(SIZE) if word != END_ID]
    log_probs = [log_probs[len(context)] for log_probs in scores(mixed, [*words, np.array(context, np.int64)])]
    assert np.exp(log_probs).sum() == pytest.approx(1, abs=1e-6)


def test_a_model_mixed_with_itself_is_that_model_and_weights_of_zero_count_for_nothing() -> None:
    model = n_gram(2)
    for mixed in (
        Mixture((model, model), (0.3, 0.7), VOCABULARY),
        Mixture((neural(), model), (0.0, 1.0), VOCABULARY),
        Mixture((model, Mixture((model, model), (0.5, 0.5), VOCABULARY)), (0.1, 0.9), VOCABULARY),
    ):
        for mine, theirs in zip(scores(mixed), scores(model), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_long_texts_come_in_windows_and_every_word_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = mixture(0.2, 0.5, 0.3)
    whole = scores(mixed)
    monkeypatch.setattr("fewwords.models.neural.by_length.WINDOW_WORDS", 4)
    told: list[int] = []
    windowed = mixed.score_sentences(iter(SENTENCES), batch_words=3, advance=told.append)
    for mine, (_, theirs) in zip(whole, windowed, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    assert sum(told) == sum(map(len, TEXT))


def test_what_cannot_be_mixed() -> None:
    with pytest.raises(ValueError, match="predict </s>"):
        Mixture((n_gram(1), neural(boundary="paper")), (0.5, 0.5), VOCABULARY)
    with pytest.raises(ValueError, match="different vocabularies"):
        Mixture((n_gram(1), n_gram(1)), (0.5, 0.5), make_vocabulary(SIZE + 1))
    with pytest.raises(InputError, match=r"sum to 1\.1"):
        Mixture((n_gram(1), n_gram(2)), (0.5, 0.6), VOCABULARY)


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """The folders of the components, with files that are not the models'."""
    made = [tmp_path / "neural", tmp_path / "two", tmp_path / "one"]
    model = neural()
    save_neural(made[0], model, "a card\n")
    n_gram(2).save(made[1], "a card\n")
    n_gram(1).save(made[2])
    (made[0] / "checkpoint").mkdir()
    (made[0] / "checkpoint" / "state").write_text("large")
    (made[1] / "training.jsonl").write_text("{}\n")
    return made


@pytest.fixture
def saved(folders: list[Path], tmp_path: Path) -> Path:
    save_mixture(tmp_path / "mix", mixture(0.2, 0.5, 0.3), folders, "a card\n")
    return tmp_path / "mix"


def test_save_and_load(saved: Path, folders: list[Path], folder_bytes: Callable[[Path], dict[str, bytes]]) -> None:
    for folder in folders:
        shutil.rmtree(folder)  # the mix needs nothing else
    again = load(saved)
    made = mixture(0.2, 0.5, 0.3)
    assert isinstance(again, Mixture)
    assert again.weights == made.weights
    assert [component.variant for component in again.components] == ["lstm-z-w", "kn2", "kn1"]
    assert again.made_from == made.made_from
    assert again.vocabulary.fingerprint == VOCABULARY.fingerprint
    for mine, theirs in zip(scores(again), scores(made), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    whole = {"README.md", "model.json", "words.tsv"}
    assert set(folder_bytes(saved)) == whole | {
        f"components/{name}"
        for name in (
            *(f"1/{each}" for each in (*whole, "model.safetensors", "codes.safetensors")),
            *(f"2/{each}" for each in (*whole, "model.safetensors")),
            *("3/words.tsv", "3/model.json", "3/model.safetensors"),
        )
    }


def test_what_it_costs(saved: Path, folder_bytes: Callable[[Path], dict[str, bytes]]) -> None:
    model = load(saved)
    assert isinstance(model, Mixture)
    assert model.num_numbers == sum(component.num_numbers for component in model.components) + 3
    (saved / "text.txt").write_text("word")
    found = evaluate(saved, [str(saved / "text.txt")], tokenized=True).files
    (saved / "text.txt").unlink()
    assert found == {name: len(content) for name, content in folder_bytes(saved).items()}


def test_a_mix_of_a_mix(saved: Path, folders: list[Path], tmp_path: Path) -> None:
    model = load(saved)
    outer = Mixture((model, n_gram(1)), (0.5, 0.5), VOCABULARY)
    save_mixture(tmp_path / "outer", outer, [saved, folders[2]], "")
    shutil.rmtree(saved)
    for mine, theirs in zip(scores(load(tmp_path / "outer")), scores(mixture(0.1, 0.25, 0.65)), strict=True):
        np.testing.assert_allclose(mine, theirs)
    assert (tmp_path / "outer" / "components" / "1" / "components" / "2" / "model.json").exists()


@pytest.mark.parametrize(
    "name", ["components/1/codes.safetensors", "components/2/model.safetensors", "components/3/model.json", "words.tsv"]
)
def test_changed_and_missing_files_are_named(saved: Path, name: str) -> None:
    path = saved / name
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"mix/{name}: not the file"):
        load(saved)
    path.unlink()
    with pytest.raises(InputError, match=rf"mix/{name}: missing"):
        load(saved)


def test_cards_may_be_edited(saved: Path) -> None:
    for path in (saved / "README.md", saved / "components" / "1" / "README.md"):
        path.write_text("more\n")
    load(saved)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": None}, r"model.json: .*\(settings.weights is None, not a list"),
        ({"weights": ["a"]}, r"model.json: .*\(settings.weights\[0\] is 'a', not a number\)"),
        ({"variant": "kn3"}, "model.json: .*other models than its components"),
        ({"components": ["kn2", "lstm-z-w", "kn1"]}, "model.json: .*other models than its components"),
        ({"weights": []}, "model.json: .*0 weights for 3 models"),
        ({"weights": [0.5, 0.2, 0.2]}, "model.json: .*sum to 0.9"),
        ({"components": ["kn2"] * 4}, "components/4: no such model"),
    ],
)
def test_weights_that_do_not_fit(saved: Path, settings: dict[str, object], message: str) -> None:
    facts = json.loads((saved / "model.json").read_text())
    (saved / "model.json").write_text(json.dumps({**facts, "settings": {**facts["settings"], **settings}}))
    with pytest.raises(InputError, match=message):
        load(saved)


@pytest.mark.parametrize("name", ["../two/model.safetensors", "components/../../two/words.tsv", "/etc/hostname"])
def test_a_folder_that_names_files_outside_is_refused(saved: Path, name: str) -> None:
    facts = json.loads((saved / "model.json").read_text())
    (saved / "model.json").write_text(json.dumps({**facts, "sha256": {name: "0"}}))
    with pytest.raises(InputError, match="outside the folder"):
        load(saved)


def test_saving_again_leaves_nothing_of_the_old_components(saved: Path, folders: list[Path]) -> None:
    (saved / "notes").write_text("mine")
    save_mixture(saved, Mixture((n_gram(2), n_gram(1)), (0.5, 0.5), VOCABULARY), folders[1:], "")
    assert sorted(path.name for path in (saved / "components").iterdir()) == ["1", "2"]
    assert not (saved / "components" / "1" / "codes.safetensors").exists()
    assert (saved / "notes").read_text() == "mine"
    load(saved)


def test_a_failure_leaves_the_old_mix_whole_and_no_half(
    saved: Path, folders: list[Path], folder_bytes: Callable[[Path], dict[str, bytes]]
) -> None:
    before = folder_bytes(saved)
    (folders[2] / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError):
        save_mixture(saved, mixture(0.1, 0.1, 0.8), folders, "")
    assert folder_bytes(saved) == before
    assert not list(saved.parent.glob(".*"))
    with pytest.raises(FileNotFoundError):
        save_mixture(saved.with_name("new"), mixture(0.1, 0.1, 0.8), folders, "")
    assert not saved.with_name("new").exists()


def test_a_folder_of_somebody_elses_is_not_removed(folders: list[Path], tmp_path: Path) -> None:
    theirs = tmp_path / "project" / "components" / "button.js"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("click")
    with pytest.raises(InputError, match="components: in the way"):
        save_mixture(tmp_path / "project", mixture(0.2, 0.5, 0.3), folders, "")
    assert theirs.read_text() == "click"
    assert [path.name for path in (tmp_path / "project").iterdir()] == ["components"]


def test_what_a_killed_mix_left_is_not_in_the_way(saved: Path, folders: list[Path]) -> None:
    """A kill between the moves of `components` and `model.json`."""
    (saved / "model.json").unlink()
    (saved / "components" / "1" / "words.tsv").unlink()
    with pytest.raises(InputError, match=r"incomplete .*; finish its training, or make it again"):
        load(saved)
    save_mixture(saved, Mixture((n_gram(2), n_gram(1)), (0.5, 0.5), VOCABULARY), folders[1:], "")
    assert sorted(path.name for path in (saved / "components").iterdir()) == ["1", "2"]
    load(saved)


def test_a_file_in_the_place_of_the_components(folders: list[Path], tmp_path: Path) -> None:
    (tmp_path / "mix").mkdir()
    (tmp_path / "mix" / "components").write_text("mine")
    with pytest.raises(InputError, match="components: in the way"):
        save_mixture(tmp_path / "mix", mixture(0.2, 0.5, 0.3), folders, "")
    assert (tmp_path / "mix" / "components").read_text() == "mine"
