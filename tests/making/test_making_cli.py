"""`fewwords make`: what it prints, and the errors of its options."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_it_tells_what_came_of_it_and_what_to_do_next(text: Path, command: Callable[..., Any], tmp_path: Path) -> None:
    outcome = command("make", text, "--output", tmp_path / "my model", "--model", "kn3")
    assert outcome.code == 0, outcome.err
    assert "test perplexity" in outcome.out
    assert " MB" in outcome.out
    assert f"fewwords suggest '{tmp_path / 'my model'}'" in outcome.out
    assert command("suggest", tmp_path / "my model", "Ba ").code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--output", "model"], "no text given"),
        (["text.txt"], "--output"),
        (["none.txt", "--output", "model"], "none.txt: no such file"),
        (["text.txt", "--output", "text.txt"], "is a file"),
        (["text.txt", "--output", "model", "--minutes", "-1"], "--minutes"),
        (["text.txt", "--output", "model", "--vocab-size", "9999999"], "--vocab-size"),
        (["text.txt", "--output", "model", "--model", "transformer"], "transformer"),
    ],
)
def test_bad_options(
    arguments: list[str],
    told: str,
    text: Path,
    command: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = command("make", *arguments)
    assert outcome.code == 2
    assert [told in line for line in outcome.errors] == [True]
    assert not (tmp_path / "model").exists()


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on(text: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fewwords", "make", str(text), "--threads", "1", "--output"]
    subprocess.run([*command, tmp_path / "whole"], check=True, capture_output=True)
    number = 0
    for number in range(1, 30):
        process = subprocess.Popen([*command, tmp_path / "model"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        time.sleep(number)
        process.kill()
        process.wait()
        if (tmp_path / "model/model.json").exists() and not (tmp_path / "model.work").exists():
            break
    assert number > 3, "it was never killed"
    whole, model = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "model"))
    assert model == whole
