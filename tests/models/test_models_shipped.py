"""The model that comes with fewwords: small, found by its name, and the same numbers in numpy as in PyTorch."""

import io
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fewwords
from fewwords.errors import InputError
from fewwords.evaluation.text import read_sentences
from fewwords.models.model import Sentence
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.models.shipped import ENGLISH, find_model
from fewwords.runtime import PackedModel, load
from fewwords.text.sources import find_sources
from packed_models import make_neural, packed_model


@pytest.fixture(scope="module")
def english() -> PackedModel:
    return load(ENGLISH)


def real_sentences(model: PackedModel, number: int) -> list[Sentence]:
    """Sentences of presidents' addresses, which it was not trained on."""
    (source, *_) = find_sources(["builtin:sotu"])
    return [each.ids for each in itertools.islice(read_sentences(source, model.vocabulary, model.rules), number)]


def test_it_has_50000_words_in_less_than_1_9_megabytes_and_says_where_it_comes_from(english: PackedModel) -> None:
    path = find_model(ENGLISH)
    assert path.stat().st_size <= 1_900_000
    assert english.num_words == 50_000
    card = str(english.facts["card"])
    for told in ("CC BY-SA 3.0", "Wikipedia", "perplexity", "fewwords train", "lower"):
        assert told in card
    assert card == Path(__file__).parents[2].joinpath("docs", "english.md").read_text(encoding="utf-8")
    measured = english.made_from["packed"]["perplexity"]
    assert measured["after"] < 90


def test_numpy_computes_what_pytorch_does_on_real_contexts(english: PackedModel) -> None:
    twin = in_pytorch(english)
    for ids in real_sentences(english, 12):
        ours, theirs = english.start(), twin.start()
        for word in ids[:8].tolist():
            found, wanted = english.log_probs(ours), twin.log_probs(theirs)
            np.testing.assert_allclose(found, wanted, atol=1e-4)
            assert np.argsort(-found)[:5].tolist() == np.argsort(-wanted)[:5].tolist()
            assert float(np.exp(found.astype(np.float64)).sum()) == pytest.approx(1, abs=1e-4)
            ours, theirs = english.feed(ours, word), twin.feed(theirs, word)


def test_it_suggests_and_explains() -> None:
    model = fewwords.load()
    assert "states" in [each.text.lower() for each in model.suggest("He moved to the United ")]
    assert all(each.text.startswith("pres") for each in model.suggest("He was elected pres"))
    assert len(model.explain("librarians").weights) > 1
    assert model.score("He was born in London.") > model.score("London born he in was.")


def test_a_path_of_the_same_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(ENGLISH).num_words == 50_000
    packed_model(make_neural("lstm-z-w"), tmp_path, 4)
    (tmp_path / "model").rename(tmp_path / ENGLISH)
    assert load(ENGLISH).num_words == 60
    with pytest.raises(InputError, match="other: no such model; make one with fewwords make, or use english"):
        load("other")


def test_the_commands_take_it_where_no_model_is_named(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("He moved to the United \n"))
    assert "states" in command("suggest").out.lower()
    assert "50,000" in command("info").out
    assert command("info", "--card").out.strip() == str(load(ENGLISH).facts["card"]).strip()
    assert re.match(r"librarians = 0\.\d+ ", command("explain", ENGLISH, "librarians").out)
    assert "keyboard.html" in command("page").out
    assert (tmp_path / "keyboard.html").stat().st_size < 1.4 * find_model(ENGLISH).stat().st_size
