"""What a person does on the page: types, takes suggestions, and opens words, with a mouse or with keys alone."""

import re
from pathlib import Path

import numpy as np
import pytest
from browser import Browser
from page_models import WORDS

from fewwords.runtime import load
from fewwords.use.reading import Reader

TAB, ENTER, ESCAPE, HOME, END = "\ue004", "\ue007", "\ue00c", "\ue011", "\ue010"


def test_a_person_types_takes_a_suggestion_and_opens_a_word(tmp_path: Path, keyboard: Browser) -> None:
    model = load(tmp_path / "model.few")
    keyboard.type("#text", "The libr")
    shown = keyboard.run("return page.suggestions.map((each) => each.written)")
    assert sorted(shown) == ["librarians", "libraries", "library"]  # all that begin so, and only they
    assert sum(keyboard.run("return page.suggestions.map((each) => each.probability)")) == pytest.approx(1, abs=1e-6)
    keyboard.click(f".suggestion:nth-child({shown.index('librarians') + 1})")
    assert keyboard.run("return document.getElementById('text').value") == "The librarians "
    keyboard.type("#text", "zzz")
    assert keyboard.run("return document.getElementById('none').hidden") is False
    keyboard.type("#text", " ")
    keyboard.click("#words .word:nth-child(2)")
    code = model.codes
    assert code is not None
    indices, values = code.row(model.vocabulary.ids["librarians"])
    said = [
        (model.vocabulary.words[int(indices[place])], f"{values[place]:.2f}")
        for place in np.argsort(-values, kind="stable")
    ]
    bars = keyboard.run(
        "return [...document.querySelectorAll('#bars li')].map((bar) => [bar.firstChild.textContent, bar.lastChild.textContent])"
    )
    assert sorted(map(tuple, bars)) == sorted(said)
    assert [weight for _, weight in bars] == sorted((weight for _, weight in said), reverse=True)
    assert f"Number {WORDS.index('librarians') + 1} by" in keyboard.run(
        "return document.getElementById('explanation-text').textContent"
    )
    keyboard.run("document.getElementById('close').click()")
    assert keyboard.run("return document.activeElement.textContent") == "librarians"  # the focus is back


def test_the_keyboard_alone_is_enough(keyboard: Browser) -> None:
    keyboard.type("#text", "The lib")
    first = keyboard.run("return page.suggestions[0].written")
    keyboard.type("#text", "\ue014")  # the right arrow
    assert keyboard.run("return document.getElementById('text').value") == f"The {first} "
    keyboard.type("#text", "lib")
    second = keyboard.run("return page.suggestions[1].written")
    keyboard.type("#text", "\ue00a2\ue000")  # alt + 2
    assert keyboard.run("return document.getElementById('text').value") == f"The {first} {second} "
    shown = "[...document.querySelectorAll('button:not([hidden])')]"
    labels = keyboard.run(f"return {shown}.map((each) => each.getAttribute('aria-label') || each.textContent)")
    assert all(label.strip() for label in labels)


def test_a_suggestion_goes_where_the_cursor_is(keyboard: Browser) -> None:
    value, first = "return document.getElementById('text').value", "return page.suggestions[0].written"
    keyboard.type("#text", "The libr" + HOME)
    keyboard.wait_for("page.text === ''")
    word = keyboard.run(first)
    assert word[:1] == word[:1].upper()  # the first of a sentence
    keyboard.click(".suggestion")
    assert keyboard.run(value) == f"{word} The libr"
    keyboard.type("#text", END)
    keyboard.wait_for("page.text.endsWith('libr')")
    word = keyboard.run(first)
    keyboard.click(".suggestion")
    assert keyboard.run(value).endswith(f" The {word} ")
    assert word.startswith("libr")


def test_a_suggestion_of_an_older_text_is_not_taken(keyboard: Browser) -> None:
    keyboard.type("#text", "The libr")
    # at once, before the browser tells of the move
    assert keyboard.run("page.box.setSelectionRange(0, 0); page.take(0); return page.box.value") == "The libr"


def test_a_suggestion_replaces_letters_that_were_typed_in_another_form(keyboard: Browser) -> None:
    keyboard.run("page.setText('a nai\u0308')")
    keyboard.click(".suggestion")
    assert keyboard.run("return page.box.value") == "a naïve "


def test_every_word_typed_is_shown_with_its_probability(tmp_path: Path, keyboard: Browser) -> None:
    model = load(tmp_path / "model.few")
    text = "The library. He was at\nthe university. "
    keyboard.run("page.setText(arguments[0])", text)
    keyboard.wait_for("page.shown.every(({ logProb }) => logProb !== undefined)")
    found = keyboard.run("return page.shown.map(({ button, logProb }) => [button.textContent, logProb, button.title])")
    assert [word for word, _, _ in found] == ["The", "library", ".", "He", "was", "at", "The", "university", "."]
    expected = []
    for words in Reader(model.rules).sentences(text):
        state = model.start()
        for word in (model.vocabulary.ids[word] for word in words):
            expected.append(model.log_probs(state)[word])
            state = model.feed(state, word)
    np.testing.assert_allclose([log_prob for _, log_prob, _ in found], expected, atol=1e-4)
    assert keyboard.run("return document.getElementById('words').childElementCount") == len(found)
    assert all(title.endswith("%") for *_, title in found)
    perplexity = re.search(r"[\d,.]*\d", keyboard.run("return document.getElementById('hint').textContent"))
    assert perplexity is not None
    assert float(perplexity[0].replace(",", "")) == pytest.approx(np.exp(-np.mean(expected)), rel=0.005)


def test_a_key_computes_no_finished_sentence_again(keyboard: Browser) -> None:
    keyboard.run("page.setText('The library. He was at the university. ')")
    keyboard.wait_for("page.shown.every(({ logProb }) => logProb !== undefined)")
    keyboard.run("""const { logProbs } = page.model; page.calls = 0; page.before = page.shown.map(({ button }) => button);
        page.model.logProbs = function (state) { page.calls++; return logProbs.call(this, state); }""")
    keyboard.type("#text", "It was ")
    keyboard.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert keyboard.run("return page.calls") == 2  # one for each word
    assert keyboard.run("return page.before.every((button, place) => button === page.shown[place].button)")
    assert keyboard.run("return page.shown.length") == keyboard.run("return page.before.length") + 2


def test_a_right_click_explains_a_suggestion(keyboard: Browser) -> None:
    keyboard.type("#text", "The librar")
    word = keyboard.run("return page.suggestions[1].word")
    keyboard.run("page.buttons[1].dispatchEvent(new MouseEvent('contextmenu', { cancelable: true }))")
    assert keyboard.run("return document.getElementById('explained').textContent") == word
    assert keyboard.run("return page.box.value") == "The librar"
    keyboard.press(ENTER)  # closes
    assert keyboard.run("return document.activeElement === page.buttons[1]")


def test_a_word_is_opened_and_closed_with_keys_alone(keyboard: Browser) -> None:
    is_open = "return !document.getElementById('explanation').hidden"
    on_word = "return document.activeElement.matches('.word') && document.activeElement.textContent"
    keyboard.press("The librarians of ")
    for _ in range(20):
        keyboard.press(TAB)
        if keyboard.run(on_word) == "librarians":
            break
    for opening, closing in ((ENTER, ESCAPE), (" ", ENTER), (ENTER, " ")):
        assert not keyboard.run(is_open)
        keyboard.press(opening)
        assert keyboard.run(is_open)
        assert keyboard.run("return document.getElementById('explained').textContent") == "librarians"
        assert keyboard.run("return document.activeElement.id") == "close"
        keyboard.press(closing)
        assert keyboard.run(on_word) == "librarians"  # the focus is back


def test_escape_while_typing_leaves_the_cursor_in_the_text(keyboard: Browser) -> None:
    keyboard.type("#text", "The librarians ")
    keyboard.click("#words .word")
    keyboard.type("#text", ESCAPE)
    assert keyboard.run("return document.getElementById('explanation').hidden")
    assert keyboard.run("return document.activeElement.id") == "text"
