"""`fewwords demo` on a small text instead of the built-in corpus."""

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fewwords.cli import demo, use
from fewwords.evaluation.evaluate import evaluate
from fewwords.making import choice


@pytest.fixture
def small_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    plain = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    words = [*plain, *(f"{word}s" for word in plain), *(f"rare{number}" for number in range(4_000))]
    path = tmp_path / "text.txt"
    lines = (" ".join(words[int(len(words) * chance.random() ** 6)] for _ in range(9)) + "." for _ in range(800))
    path.write_text("\n".join(lines))
    quick = tuple(replace(each, vector_epochs=1, epochs=1) for each in choice.RECIPES)
    monkeypatch.setattr(choice, "RECIPES", quick)
    for name, value in (("TEXT", str(path)), ("VOCABULARY_SIZE", 120), ("BASE_SIZE", 40)):
        monkeypatch.setattr(demo, name, value)


@pytest.mark.usefixtures("small_text")
def test_the_demo_shows_three_models_and_explanations(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "demo"
    outcome = command("demo", "--work", work)
    assert outcome.code == 0, outcome.err
    rows = {
        row[0].strip(): row for row in (re.split("[│┃]", line)[1:] for line in outcome.out.splitlines() if "│" in line)
    }
    assert {"KN3, a 3-gram model", "LSTM-z, uncompressed", "LSTM-z,w", "LSTM-z,w, packed"} <= set(rows)
    assert "<textarea" in (work / "keyboard.html").read_text()
    found = evaluate(work / "models" / "lstm-z-w-v120", work=work / "work")
    cost = evaluate(work / "model.few", work=work / "work").total.perplexity.value / found.total.perplexity.value
    assert rows["LSTM-z,w, packed"][1].strip() == f"{100 * (cost - 1):+.1f} %"
    assert rows["LSTM-z,w"][1].strip() == f"{found.total.perplexity.value:,.2f}"
    assert rows["LSTM-z,w"][2].strip() == f"{found.numbers:,}"
    assert re.search(r"^  word[a-z]s = .*word", outcome.out, re.MULTILINE)

    # a second run has nothing left to make, and on a terminal it ends in the prompt
    prompted: list[Path] = []
    monkeypatch.setattr(use, "suggest", prompted.append)
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    outcome = command("demo", "--work", work)
    assert outcome.code == 0, outcome.err
    assert "training" not in outcome.err
    assert prompted == [work / "models" / "lstm-z-w-v120"]
