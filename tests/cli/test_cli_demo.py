"""`fewwords demo` on a small text instead of the built-in corpus."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fewwords.cli import demo
from fewwords.corpus import make
from fewwords.evaluation.evaluate import evaluate


@pytest.fixture
def small_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    chance = random.Random(5)
    plain = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    words = [*plain, *(f"{word}s" for word in plain), *(f"rare{number}" for number in range(4_000))]
    path = tmp_path / "text.txt"
    lines = (" ".join(words[int(len(words) * chance.random() ** 6)] for _ in range(9)) + "." for _ in range(2_500))
    path.write_text("\n".join(lines))
    prepare = make.prepare
    monkeypatch.setattr(make, "prepare", lambda _, work, **options: prepare([str(path)], work, **options))
    for name, value in (("VOCABULARY_SIZE", 120), ("BASE_SIZE", 40), ("VECTOR_EPOCHS", 1), ("TRAINING_EPOCHS", 1)):
        monkeypatch.setattr(demo, name, value)
    return path


def test_the_demo_shows_three_models_and_explanations(
    small_text: Path, command: Callable[..., Any], tmp_path: Path
) -> None:
    work = tmp_path / "demo"
    for _ in range(2):  # a second run replaces the first
        outcome = command("demo", "--work", work)
        assert outcome.code == 0, outcome.err
    rows = {
        row[0].strip(): row for row in (re.split("[│┃]", line)[1:] for line in outcome.out.splitlines() if "│" in line)
    }
    assert {"KN3", "LSTM-z", "LSTM-z,w"} <= set(rows)
    found = evaluate(work / "models" / "lstm-z-w-v120", work=work)
    assert rows["LSTM-z,w"][1].strip() == f"{found.total.perplexity.value:,.2f}"
    assert rows["LSTM-z,w"][2].strip() == f"{found.numbers:,}"
    assert re.search(r"^  word[a-z]s = .*word", outcome.out, re.MULTILINE)
    assert not (work / "paper").exists()
    assert not (work / "report").exists()
