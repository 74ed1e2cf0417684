"""A small text, and recipes that make a model of it in a second."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fewwords.making import choice


@pytest.fixture
def text(tmp_path: Path, prose: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    quick = tuple(replace(each, vector_epochs=1, epochs=2) for each in choice.RECIPES)
    monkeypatch.setattr(choice, "RECIPES", quick)
    path = tmp_path / "text.txt"
    path.write_text(prose(250), encoding="utf-8")
    return path
