"""The way from a paragraph to sentences of words, against hand-written cases."""

from pathlib import Path

import pytest

from fewwords.text.clean import clean_text
from fewwords.text.sentences import SentenceSplitter

CASES = Path(__file__).with_name("tokenisation_cases.txt")


def read_cases() -> list[tuple[str, list[str]]]:
    cases: list[tuple[str, list[str]]] = []
    for line in CASES.read_text(encoding="utf-8").split("\n"):
        if line.startswith("> "):
            cases.append((line[2:], []))
        elif line and not line.startswith("#"):
            cases[-1][1].append(line)
    return cases


def split(text: str) -> list[str]:
    return [" ".join(sentence) for sentence in SentenceSplitter().sentences(clean_text(text))]


@pytest.mark.parametrize(("text", "expected"), read_cases())
def test_hand_written_case(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_there_are_enough_cases() -> None:
    assert len(read_cases()) >= 120
