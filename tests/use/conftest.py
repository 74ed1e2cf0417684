"""A small English corpus and models of every kind on it."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from fewwords.codes.controls import random_codes
from fewwords.corpus import TokenCorpus, prepare
from fewwords.models.kneser_ney import estimate
from fewwords.models.mixture.folder import save_mixture
from fewwords.models.mixture.mixture import Mixture
from fewwords.models.model import Model
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.use.text_model import TextModel

SIZE = 60


def _text() -> str:
    chance = random.Random(2)
    people, verbs, things = (
        ["the cat", "a dog", "Mary", "the old man"],
        ["saw", "liked", "found"],
        ["fish", "it", "food"],
    )
    lines = []
    for _ in range(600):
        tail = chance.choice([".", "!", ", and it was good.", " (again)."])
        line = f"{chance.choice(people)} {chance.choice(verbs)} {chance.choice(people)}'s {chance.choice(things)}{tail}"
        lines.append(line[0].upper() + line[1:])
    return "\n".join(lines)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> TokenCorpus:
    folder = tmp_path_factory.mktemp("use")
    (folder / "text.txt").write_text(_text())
    return prepare([str(folder / "text.txt")], folder / "work", dev_words=100, test_words=300)


def _neural(corpus: TokenCorpus, variant: str) -> NeuralModel:
    torch.manual_seed(1)
    vocabulary = corpus.vocabulary()
    settings = settings_of(variant, embedding_size=6, hidden_size=6)
    codes = random_codes(len(vocabulary), 12, 2, seed=1) if settings.is_coded else None
    network = LanguageModel(settings, len(vocabulary), codes).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return NeuralModel(network, vocabulary, codes, corpus.rules)


def _n_gram(corpus: TokenCorpus) -> Model:
    return estimate(corpus.part("train"), 3, vocabulary=corpus.vocabulary(), discount_fallback=(0.5, 1, 1.5))


KINDS: dict[str, Callable[[TokenCorpus], Model]] = {
    "lstm-z-w": lambda corpus: _neural(corpus, "lstm-z-w"),
    "lbl5": lambda corpus: _neural(corpus, "lbl5"),
    "kn3": _n_gram,
    "mix": lambda corpus: Mixture((_neural(corpus, "gru-z-w"), _n_gram(corpus)), (0.1, 0.9), corpus.vocabulary()),
}


@pytest.fixture(scope="session", params=KINDS)
def model(request: pytest.FixtureRequest, corpus: TokenCorpus) -> TextModel:
    return TextModel(KINDS[request.param](corpus))


@pytest.fixture(scope="session")
def model_folder(model: TextModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model of each kind."""
    return _save(model.model, tmp_path_factory.mktemp("models"))


def _save(model: Model, place: Path) -> Path:
    if isinstance(model, NeuralModel):
        save_neural(place / "neural", model, "a model")
        return place / "neural"
    if isinstance(model, Mixture):
        save_mixture(place / "mix", model, [_save(part, place) for part in model.components], "a mix")
        return place / "mix"
    model.save(place / "kn")  # type: ignore[attr-defined]
    return place / "kn"


@pytest.fixture(scope="session")
def n_gram(corpus: TokenCorpus) -> TextModel:
    return TextModel(_n_gram(corpus))


@pytest.fixture(scope="session")
def coded(corpus: TokenCorpus) -> TextModel:
    return TextModel(_neural(corpus, "lstm-z-w"))


@pytest.fixture(scope="session")
def folder(corpus: TokenCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a Kneser-Ney model."""
    place = tmp_path_factory.mktemp("model") / "kn3"
    _n_gram(corpus).save(place)  # type: ignore[attr-defined]
    return place
