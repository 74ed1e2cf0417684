"""The page of a packed model, in a headless Chromium: the same numbers as Python, the same words, and what a person does."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from browser import WHY_NOT, Browser, is_here, open_browser

from fewwords.codes.controls import random_codes
from fewwords.errors import InputError
from fewwords.evaluation.text import read_sentences
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.models.packed.matrix import SplitMatrix
from fewwords.models.shipped import ENGLISH
from fewwords.packing.pack import pack
from fewwords.page.make import make_page
from fewwords.runtime import PackedModel, load
from fewwords.text.rules import TextRules
from fewwords.text.sources import find_sources
from fewwords.use.reading import Reader
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary

WORDS = (
    "the of and in to a was is for on as with by he that at from his it an are were which be this also had has have , . "
    "i 's \" ( ) - ? university history california library libraries librarians said naïve café 東京 𐐷 algorithm algorithms "
    "mr. u.s. no. inc. don't 1990 3.5 10:30 at&t … -- ..."
).split()
NUM_BASE, NONZEROS, SIZE = 24, 4, 20
NETWORKS = {
    "coded and tied, 4 bits": ("lstm-z-w", {}, 4),
    "coded, 8 bits": ("lstm-z-w", {"tied": False}, 8),
    "coded biases": ("lstm-z-wb", {}, 4),
    "dense, more bits for frequent words": ("lstm-z", {"tied": False}, 4, 2100),
    "two layers from a learned state": ("lstm-z", {"num_layers": 2, "boundary": "paper"}, 8),
    "more cells": ("lstm-z-w", {"cell_size": 30, "num_layers": 2, "boundary": "paper"}, 8),
    "gru": ("gru-z-w", {"boundary": "paper"}, 4),
    "log-bilinear": ("lbl5-w", {}, 8),
}
TEXTS = [
    "",
    "The hist",
    "The history of ",
    "Mr. Smith said that",
    "He was there. The U.S. Army is in",
    "He was there. The",
    "It ended in No. 5 of the list",
    "Is it so? No. It is",
    "It's Mary's li",
    'He said "the library',
    "(see e.g. the algorithms of Acme Inc. and",
    "Acme Inc. The",
    "in the U.S. The",
    "at&t don't pay 3.5 at 10:30 -- or 1,000...",
    "naïve café – “quoted” ‘so’ north-eastern,",
    "one line\nanother li",
    "one line\n",
    "pp. 12 and vol. 3 of J. S. Bach",
    "www.example.org/a or a.b@example.org is",
    "1. The first",
    "東京 𐐷",
    "The end. ",
    "The end.",
    "The end.) ",
    "wait ... what",
]


def packed_file(folder: Path, variant: str, changes: dict[str, object], bits: int, num_more: int = 0) -> Path:
    """A packed model with random weights over some words."""
    torch.manual_seed(5)
    words = [*SPECIAL_WORDS, *WORDS, *(f"word{number}" for number in range(num_more))]
    settings = settings_of(variant, embedding_size=SIZE, hidden_size=SIZE, **changes)
    codes = random_codes(len(words), NUM_BASE, NONZEROS, seed=1) if settings.is_coded else None
    network = LanguageModel(settings, len(words), codes).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    vocabulary = Vocabulary(words, np.arange(len(words), 0, -1))
    model = NeuralModel(network, vocabulary, codes, TextRules(), {"result": {"dev_perplexity": 12.5}})
    save_neural(folder / "model", model, "A card with </script> & <b>.")
    return pack(folder / "model", folder / "model.few", bits=bits).path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not is_here():
        pytest.skip(WHY_NOT)
    with open_browser() as found:
        yield found


def open_page(browser: Browser, packed: Path) -> PackedModel:
    page = make_page(packed, packed.with_suffix(".html"))
    browser.open(page)
    browser.wait_for("window.page")
    return load(packed)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_page_computes_what_python_does(tmp_path: Path, browser: Browser, name: str) -> None:
    model = open_page(browser, packed_file(tmp_path, *NETWORKS[name]))
    words, seen = np.random.default_rng(2).integers(0, model.num_words, 8).tolist(), []
    state = model.start()
    for word in words:
        seen.append(model.log_probs(state))
        state = model.feed(state, word)
    script = """const { model } = page; let state = model.start(); return arguments[0].map((word) => {
        const found = Array.from(model.logProbs(state)); state = model.feed(state, word); return found; })"""
    found = np.array(browser.run(script, words))
    np.testing.assert_allclose(found, np.array(seen), atol=1e-4)
    assert len({round(row[3], 4) for row in found}) > 1  # the words that are read count
    assert isinstance(model.network.output, SplitMatrix) == ("frequent" in name)
    assert browser.run("return page.model.words") == list(model.vocabulary.words)


def test_the_model_that_comes_with_fewwords_on_200_real_contexts(tmp_path: Path, browser: Browser) -> None:
    browser.open(make_page(output=tmp_path / "keyboard.html"))
    browser.wait_for("window.page")
    model = load(ENGLISH)
    script = """const { model } = page; let state = model.start(); const [words, step] = arguments;
        return words.map((word, place) => { const all = model.logProbs(state); state = model.feed(state, word);
        return Array.from(all).filter((_, id) => id % step === place % step); })"""
    step, num_contexts = 10, 0
    (source, *_) = find_sources(["builtin:sotu"])
    for sentence in read_sentences(source, model.vocabulary, model.rules):
        words = sentence.ids.tolist()[:40]
        found, state = browser.run(script, words, step), model.start()
        for place, word in enumerate(words):
            np.testing.assert_allclose(found[place], model.log_probs(state)[place % step :: step], atol=1e-3)
            state = model.feed(state, word)
        num_contexts += len(words)
        if num_contexts >= 200:
            break
    assert num_contexts >= 200


def test_text_is_cut_into_words_as_in_python(tmp_path: Path, browser: Browser) -> None:
    model = open_page(browser, packed_file(tmp_path, *NETWORKS["coded, 8 bits"]))
    reader = Reader(model.rules)
    for text in TEXTS:
        found = browser.run("return typedSoFar(arguments[0], page.model.rules)", text)
        typed = reader.typed(text)
        assert (text, found["words"], found["prefix"]) == (text, list(typed.words), typed.prefix)


def test_a_person_types_takes_a_suggestion_and_opens_a_word(tmp_path: Path, browser: Browser) -> None:
    model = open_page(browser, packed_file(tmp_path, *NETWORKS["coded and tied, 4 bits"]))
    browser.type("#text", "The libr")
    shown = browser.run("return page.suggestions.map((each) => each.written)")
    assert sorted(shown) == ["librarians", "libraries", "library"]  # all that begin so, and only they
    assert sum(browser.run("return page.suggestions.map((each) => each.probability)")) == pytest.approx(1, abs=1e-6)
    browser.click(f".suggestion:nth-child({shown.index('librarians') + 1})")
    assert browser.run("return document.getElementById('text').value") == "The librarians "
    browser.type("#text", "zzz")
    assert browser.run("return document.getElementById('none').hidden") is False
    browser.type("#text", " ")
    browser.click("#words .word:nth-child(2)")
    code = model.codes
    assert code is not None
    indices, values = code.row(model.vocabulary.ids["librarians"])
    said = [
        (model.vocabulary.words[int(indices[place])], f"{values[place]:.2f}")
        for place in np.argsort(-values, kind="stable")
    ]
    bars = browser.run(
        "return [...document.querySelectorAll('#bars li')].map((bar) => [bar.firstChild.textContent, bar.lastChild.textContent])"
    )
    assert sorted(map(tuple, bars)) == sorted(said)
    assert [weight for _, weight in bars] == sorted((weight for _, weight in said), reverse=True)
    browser.run("document.getElementById('close').click()")
    assert browser.run("return document.activeElement.textContent") == "librarians"  # the focus is back


def test_the_keyboard_alone_is_enough(tmp_path: Path, browser: Browser) -> None:
    open_page(browser, packed_file(tmp_path, *NETWORKS["coded and tied, 4 bits"]))
    browser.type("#text", "The lib")
    first = browser.run("return page.suggestions[0].written")
    browser.type("#text", "\ue014")  # the right arrow
    assert browser.run("return document.getElementById('text').value") == f"The {first} "
    browser.type("#text", "lib")
    second = browser.run("return page.suggestions[1].written")
    browser.type("#text", "\ue00a2\ue000")  # alt + 2
    assert browser.run("return document.getElementById('text').value") == f"The {first} {second} "
    shown = "[...document.querySelectorAll('button:not([hidden])')]"
    labels = browser.run(f"return {shown}.map((each) => each.getAttribute('aria-label') || each.textContent)")
    assert all(label.strip() for label in labels)


@pytest.mark.parametrize("width", [320, 390, 1200])
def test_the_page_fits_its_screen(tmp_path: Path, browser: Browser, width: int) -> None:
    browser.resize(width, 800)
    open_page(browser, packed_file(tmp_path, *NETWORKS["coded and tied, 4 bits"]))
    browser.type("#text", "The librarians of california " + "x" * 80 + " ")
    browser.click("#words .word:nth-child(2)")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")


def test_the_page_is_one_file_without_a_network_and_little_larger_than_the_model(tmp_path: Path) -> None:
    packed = packed_file(tmp_path, *NETWORKS["coded and tied, 4 bits"])
    content = make_page(packed, tmp_path / "page.html").read_text()
    assert "src=" not in content
    assert "http://" not in content.replace("?|ftp)://", "")
    assert "default-src 'none'" in content
    assert "&lt;/script&gt; &amp; &lt;b&gt;" in content  # the card is text, whatever it says
    assert content.count("</script>") == 2


def test_a_file_that_is_no_packed_model_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "notes.few").write_text(json.dumps({"format": "another"}))
    for name in ("notes.few", "missing.few"):
        with pytest.raises(InputError, match=name):
            make_page(tmp_path / name, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
