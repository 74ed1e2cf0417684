"""`model.json` is not trusted: whatever a value of it is changed to, the model is refused in a line or is the same."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fewwords.codes import random_codes
from fewwords.errors import InputError
from fewwords.models.kneser_ney.folder import save_kneser_ney
from fewwords.models.kneser_ney.model import KneserNey
from fewwords.models.kneser_ney.trie import Trie
from fewwords.models.load import load
from fewwords.models.mixture.folder import save_mixture
from fewwords.models.mixture.mixture import Mixture
from fewwords.models.model import Model
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.store.files import sha256_of
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary

NUM_WORDS = 25
VOCABULARY = Vocabulary([*SPECIAL_WORDS, *(f"w{i}" for i in range(22))], np.arange(NUM_WORDS, 0, -1))
MADE_FROM = {"corpus": {"sources": ["a"], "settings": {"lower_case": True, "numbers": "keep"}}, "result": {"words": 5}}
HOSTILE: tuple[Any, ...] = (None, "x", True, -1, 3, 10**18, -1e300, [1], {}, {"a": 1})


def save_network(folder: Path, variant: str) -> NeuralModel:
    torch.manual_seed(1)
    settings = settings_of(variant, embedding_size=4, hidden_size=4)
    codes = random_codes(NUM_WORDS, 12, 3, seed=5) if settings.is_coded else None
    model = NeuralModel(LanguageModel(settings, NUM_WORDS, codes).eval(), VOCABULARY, codes, made_from=MADE_FROM)
    save_neural(folder, model, "")
    return model


def save_unigrams(folder: Path) -> KneserNey:
    words, log10_probs = np.arange(NUM_WORDS, dtype=np.uint32), np.full(NUM_WORDS, -1.4, np.float32)
    none = np.empty(0, np.float32)
    trie = Trie(words, log10_probs, none, np.array([NUM_WORDS], np.int64), (NUM_WORDS,))
    model = KneserNey(VOCABULARY, trie, {"order": 1, "interpolate": True, "prune": [0], "words": 9}, MADE_FROM)
    save_kneser_ney(folder, model)
    return model


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of each kind of model."""
    place = tmp_path_factory.mktemp("hostile")
    network, unigrams = save_network(place / "coded", "lstm-z-w"), save_unigrams(place / "kn1")
    save_network(place / "dense", "lbl5")
    mixture = Mixture((network, unigrams), (0.25, 0.75), VOCABULARY, MADE_FROM)
    save_mixture(place / "mix", mixture, [place / "coded", place / "kn1"], "")
    return {kind: place / kind for kind in ("coded", "dense", "kn1", "mix")}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield from places(each, (*path, name))


def changed(value: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    copy = {"root": json.loads(json.dumps(value))}
    *above, last = ("root", *path)
    part: Any = copy
    for name in above:
        part = part[name]
    change(part, last)
    return copy.get("root")


def put(hostile: Any) -> Callable[[Any, Any], None]:
    return lambda part, name: part.__setitem__(name, hostile)


def score(model: Model) -> bytes:
    return next(iter(model.score_sentences([np.array([3, 4, 9])])))[1].tobytes()


@pytest.mark.parametrize("kind", ["coded", "dense", "kn1", "mix"])
def test_any_value_changed_is_refused_or_harmless(folders: dict[str, Path], kind: str, tmp_path: Path) -> None:
    shutil.copytree(folders[kind], tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    facts = json.loads(path.read_text())
    expected = score(load(tmp_path / "m"))
    refused = 0
    changes = [put(each) for each in HOSTILE] + [lambda part, name: part.pop(name)]
    for place in places(facts):
        for change in changes:
            path.write_text(json.dumps(changed(facts, place, change)))
            told = ""
            try:
                model = load(tmp_path / "m")
            except InputError as error:
                refused, told = refused + 1, str(error)
            if told:
                assert told.startswith(str(tmp_path / "m")), told
                assert "\n" not in told
            else:
                # for the record, of the text, a setting that this model does not need, or a card, which may be edited
                assert place[0] in ("made_from", "version", "text", "settings") or place[-1].endswith("README.md"), (
                    place
                )
                assert score(model) == expected, place
    assert refused > 100


@pytest.mark.parametrize("kind", ["coded", "dense", "kn1", "mix"])
def test_every_file_must_be_named_and_every_named_file_there(
    folders: dict[str, Path], kind: str, tmp_path: Path
) -> None:
    shutil.copytree(folders[kind], tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    facts = json.loads(path.read_text())
    for name in (name for name in facts["sha256"] if not name.endswith("README.md")):
        others = {other: digest for other, digest in facts["sha256"].items() if other != name}
        path.write_text(json.dumps({**facts, "sha256": others}))
        with pytest.raises(InputError, match=f"does not name {name}"):
            load(tmp_path / "m")
    for name in ("nothing.txt", "components", "a/" * 30, "é" * 300, "é" * 40, f"{'é' * 40}/" * 19):
        path.write_text(json.dumps({**facts, "sha256": {**facts["sha256"], name: "0"}}))
        with pytest.raises(InputError, match=r"missing, or no file|too long to be one"):
            load(tmp_path / "m")


def test_pipes_are_not_waited_for(folders: dict[str, Path], tmp_path: Path) -> None:
    for name in ("model.json", "model.safetensors", "codes.safetensors", "words.tsv", "README.md"):
        shutil.copytree(folders["coded"], tmp_path / name)
        (tmp_path / name / name).unlink()
        os.mkfifo(tmp_path / name / name)
        with pytest.raises(InputError, match=f"{name}: (not a file|missing, or no file)"):
            load(tmp_path / name)


@pytest.mark.parametrize("lines", [NUM_WORDS - 1, NUM_WORDS + 1])
@pytest.mark.parametrize("kind", ["coded", "dense", "kn1", "mix"])
def test_a_vocabulary_of_another_size_is_refused(
    folders: dict[str, Path], kind: str, lines: int, tmp_path: Path
) -> None:
    """With its hash and its fingerprint repaired, as an attacker would."""
    shutil.copytree(folders[kind], tmp_path / "m")
    words = Vocabulary([*VOCABULARY.words, "new"][:lines], np.ones(lines, np.int64))
    words.save(tmp_path / "m" / "words.tsv")
    facts = json.loads((tmp_path / "m" / "model.json").read_text())
    facts["vocabulary"], facts["sha256"]["words.tsv"] = words.fingerprint, sha256_of(tmp_path / "m" / "words.tsv")
    for num_words in (NUM_WORDS, lines):
        (tmp_path / "m" / "model.json").write_text(json.dumps({**facts, "num_words": num_words}))
        with pytest.raises(InputError, match=str(tmp_path)):
            load(tmp_path / "m")


def test_a_mix_within_itself_ends(folders: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(folders["mix"], tmp_path / "m")
    shutil.rmtree(tmp_path / "m" / "components" / "1")
    (tmp_path / "m" / "components" / "1").symlink_to(tmp_path / "m")
    facts = json.loads((tmp_path / "m" / "model.json").read_text())
    facts["sha256"] = {name: digest for name, digest in facts["sha256"].items() if not name.startswith("components/1")}
    (tmp_path / "m" / "model.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match="does not name components/1/"):
        load(tmp_path / "m")
