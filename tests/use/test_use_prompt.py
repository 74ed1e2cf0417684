"""The live prompt, typed into through a pipe, and what stands on the screen."""

import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.formatted_text import fragment_list_to_text
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.utils import get_cwidth

from fewwords.cli import prompt
from fewwords.cli.live_prompt import MOST_SUGGESTIONS, Answer, LivePrompt, show_answer
from fewwords.use.suggest import Suggestion
from fewwords.use.text_model import TextModel, WordScore, perplexity_of

TAB, ENTER, CTRL_C, CTRL_D, F2, F3, ESCAPE = "\t", "\r", "\x03", "\x04", "\x1bOQ", "\x1bOR", "\x1b"


@pytest.fixture
def keyboard() -> Iterator[PipeInput]:
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def until(true: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    for _ in range(2000):
        if true():
            return
        time.sleep(0.005)
    raise AssertionError("it did not happen")


def taken(model: TextModel, text: str, number: int = 0) -> str:
    return model.suggest(text, 5)[number].take(text)


def test_tab_takes_the_first_and_other_keys_another(model: TextModel, keyboard: PipeInput) -> None:
    for keys, expected in (
        (f"The ca{TAB}", "The cat "),
        (f"The ca{TAB}{TAB}", taken(model, "The cat ")),
        (f"the {F2}", taken(model, "the ", 1)),
        (f"the {F3}{TAB}", taken(model, taken(model, "the ", 2))),
        (f"the {ESCAPE}2", taken(model, "the ", 1)),
        (f"the zzz{TAB}{F2}", "the zzz"),
        ("in 1990 it was 12", "in 1990 it was 12"),
        (f"the  is{ESCAPE}[D{ESCAPE}[D{ESCAPE}[Dca{TAB}", "the cat  is"),  # in the middle of a line
    ):
        keyboard.send_text(keys + ENTER)
        assert LivePrompt(model).read_line() == expected


def test_a_comma_takes_the_place_of_the_blank(n_gram: TextModel) -> None:
    text = "The cat saw Mary "
    found = {each.word: each for each in n_gram.suggest(text, 60)}
    assert found[","].take(text) == "The cat saw Mary, "
    assert found["'s"].take(text) == "The cat saw Mary's "
    assert found["the"].take(text) == "The cat saw Mary the "
    assert found["("].take(text) == "The cat saw Mary ("
    assert {each.word: each for each in n_gram.suggest("The cat saw it (", 60)}["again"].take("it (") == "it (again "
    # `ﬁ` is one character and reads as two
    assert n_gram.suggest("The cat saw ﬁs")[0].take("The cat saw ﬁs") == "The cat saw fish "


@pytest.mark.parametrize("keys", [CTRL_D, CTRL_C, f"The ca{CTRL_D}", f"The ca{CTRL_C}"])
def test_the_end(n_gram: TextModel, keyboard: PipeInput, keys: str) -> None:
    keyboard.send_text(keys)
    assert LivePrompt(n_gram).read_line() is None


def test_suggestions_and_scores_change_with_every_key(model: TextModel, keyboard: PipeInput) -> None:
    live = LivePrompt(model)
    assert live.answer.suggestions == model.suggest("", 5)
    seen: list[Answer] = []

    def type_slowly() -> None:
        text = ""
        for key in "The cat saw the o":
            text += key
            keyboard.send_text(key)
            until(lambda text=text: live.answer.text == text)  # type: ignore[misc]
            seen.append(live.answer)
        keyboard.send_text(ENTER)

    typist = threading.Thread(target=type_slowly)
    typist.start()
    assert live.read_line() == "The cat saw the o"
    typist.join()
    for answer in seen:
        assert answer.suggestions == model.suggest(answer.text, 5)
    scores = model.full_scores("The cat saw the", end=False)
    assert [each.word for each in seen[-1].scores] == ["the", "cat", "saw", "the"]
    assert [each.log10_prob for each in seen[-1].scores] == pytest.approx(
        [each.log10_prob for each in scores], abs=1e-4
    )


class Slow(TextModel):
    """A model that answers, after the first time, only when it may."""

    may = threading.Event()

    def suggest(self, text: str = "", k: int = 5) -> list[Suggestion]:
        if text:
            assert self.may.wait(20)
        return super().suggest(text, k)


def test_a_slow_model_does_not_hold_up_typing(n_gram: TextModel, keyboard: PipeInput) -> None:
    slow = Slow(n_gram.model)
    live = LivePrompt(slow)

    def typed() -> str:
        return live._app.current_buffer.text if hasattr(live, "_app") else ""

    def type_fast() -> None:
        for number in range(1, 8):
            keyboard.send_text("The cat"[number - 1])
            until(lambda number=number: typed() == "The cat"[:number])  # type: ignore[misc]
        before.append(live.answer.text)
        slow.may.set()
        until(lambda: live.answer.text == "The cat")
        keyboard.send_text(ENTER)

    before: list[str] = []
    typist = threading.Thread(target=type_fast)
    typist.start()
    assert live.read_line() == "The cat"
    typist.join()
    assert before == [""]


def test_an_error_of_the_model_comes_out(n_gram: TextModel, keyboard: PipeInput) -> None:
    live = LivePrompt(n_gram)

    def fail(text: str) -> Answer:
        raise MemoryError

    live._ask = fail  # type: ignore[method-assign]
    keyboard.send_text("a")
    with pytest.raises(MemoryError):
        live.read_line()


def test_lines_one_after_another(
    n_gram: TextModel, keyboard: PipeInput, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    keyboard.send_text(f"The ca{TAB}saw it.{ENTER}{ENTER}a dog{ENTER}{CTRL_D}")
    prompt.run_prompt(n_gram)
    first, told, empty, *_ = capsys.readouterr().out.splitlines()
    assert (first, empty) == ("> The cat saw it.", "> ")
    scores = n_gram.full_scores("The cat saw it.")
    assert f"log10 p {n_gram.score('The cat saw it.'):.2f}" in told
    assert f"perplexity {n_gram.perplexity('The cat saw it.'):,.1f}" in told
    assert perplexity_of(scores) == pytest.approx(n_gram.perplexity("The cat saw it."))


@pytest.mark.parametrize("width", [*range(1, 45), 80, 200])
@pytest.mark.parametrize("k", [1, 5, MOST_SUGGESTIONS])
def test_the_screen_is_never_too_narrow(width: int, k: int) -> None:
    words = ["日本語", "a", "extraordinarily" * 3, "naïve", "é"]
    found = [Suggestion(word, word, word, 0.3 / 10 ** (4 * number), 0) for number, word in enumerate(words)]
    scores = [WordScore(word, -number, number == 2) for number, word in enumerate(words * 3)]
    lines = fragment_list_to_text(show_answer(Answer("", found[:k], scores), k, width)).split("\n")
    assert len(lines) == k + 2
    if width >= 14:
        assert max(map(get_cwidth, lines)) <= width
        assert lines[0].startswith(" Tab 日")
    if width >= 80:
        assert lines[0].split() == ["Tab", "日本語", ".30"]
        assert "Ctrl-D" in lines[-1]
        assert lines[-2].split()[:2] == ["perplexity", f"{perplexity_of(scores):,.1f}"]
        assert (k < 2) or (f"F2-F{k}" in lines[-1] and lines[1].split() == ["F2", "a", "3e-5"])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_prompt_toolkit_lines_are_read(
    folder: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("The ca\nzzz\n"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "prompt_toolkit.utils", None)
    done = command("suggest", folder)
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].startswith("cat ")
    told = done.err.splitlines()
    assert told[0].endswith('pip install "fewwords[prompt]"')
    assert len(told) == 2


@pytest.mark.parametrize("arguments", [[], ["-k", "3"]])
def test_the_command_on_a_terminal(
    folder: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(prompt, "run_prompt", lambda model, k: calls.append(k))
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert command("suggest", folder, *arguments).code == 0
    assert calls == [3 if arguments else 5]
    # a text, JSON, or '-' is no prompt
    for others in (["a"], ["--json"], ["-"]):
        assert command("suggest", folder, *others).code == 0
    assert len(calls) == 1
