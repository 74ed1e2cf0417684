"""`fewwords suggest`, `score`, `sample` and `info` as they are typed."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fewwords.use.text_model import load


def test_suggest(folder: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [each.text for each in load(folder).suggest("The cat ", 3)]
    shown = command("suggest", folder, "The cat ", "-k", 3)
    assert shown.code == 0, shown.err
    assert [each.split(" ")[0] for each in shown.out.rstrip("\n").split("\t")] == expected
    # a blank at the end of a line counts; the line end does not
    monkeypatch.setattr("sys.stdin", io.StringIO("The cat \nThe ca\n"))
    lines = [json.loads(line) for line in command("suggest", folder, "--json").out.splitlines()]
    assert [each["text"] for each in lines[0]["suggestions"]][:3] == expected
    assert {each["word"] for each in lines[1]["suggestions"]} == {"cat"}
    assert command("suggest", folder, "zzz").out == "\n"


def test_score(folder: Path, command: Callable[..., Any]) -> None:
    model = load(folder)
    shown = command("score", folder, "The cat saw it.", "--words")
    first, *words = shown.out.splitlines()
    assert float(first.split("\t")[0]) == pytest.approx(model.score("The cat saw it."), abs=1e-3)
    assert [line.split("\t")[1] for line in words] == ["the", "cat", "saw", "it", ".", "</s>"]
    scored = json.loads(command("score", folder, "a zebra", "--json").out)
    assert scored["words"][1] == {"word": "zebra", "log10_prob": scored["words"][1]["log10_prob"], "is_unknown": True}


def test_sample(folder: Path, command: Callable[..., Any]) -> None:
    first, second = (command("sample", folder, "The cat", "-n", 3, "--seed", 5).out for _ in range(2))
    assert first == second
    lines = first.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("The cat") for line in lines)


def test_info(folder: Path, command: Callable[..., Any]) -> None:
    model = load(folder).model
    facts = json.loads(command("info", folder, "--json").out)
    assert (facts["model"], facts["words"], facts["numbers"]) == ("kn3", model.num_words, model.num_numbers)
    assert "kn3" in command("info", folder).out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["suggest", "nowhere", "a"], "nowhere: no such model;"),
        (["sample", "{folder}", "--temperature", "-1"], "--temperature -1.0"),
        (["sample", "{folder}", "--top-p", "2"], "--top-p 2.0"),
        (["score", "{folder}", "a", "-"], "standard input"),
        (["suggest", "{folder}", "a", "-k", "0"], "-k"),
    ],
)
def test_bad_input_is_one_line(folder: Path, command: Callable[..., Any], arguments: list[str], told: str) -> None:
    failed = command(*(each.format(folder=folder) for each in arguments))
    assert failed.code == 2
    assert len(failed.errors) == 1
    assert told in failed.errors[0]
