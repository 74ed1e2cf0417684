"""Errors as they are read in Python and on the command line."""

import importlib
import inspect
import pickle
import re
from pathlib import Path

import pytest

import fewwords
from fewwords.cli.wording import error_line
from fewwords.errors import _CALLS, InputError, Stage

SOURCES = Path(fewwords.__file__).parent
WORK = Path("my work")


@pytest.mark.parametrize(
    ("error", "in_python", "typed"),
    [
        (
            InputError("`max_words` 2 is less than `min_words` 3; swap them"),
            "`max_words` 2 is less than `min_words` 3; swap them",
            "--max-words 2 is less than --min-words 3; swap them",
        ),
        (
            InputError("x: no vectors", remedy=Stage("vectors", work=WORK, vocabulary_size=9, force=True)),
            "x: no vectors; run fewwords.make_vectors(work='my work', vocabulary_size=9, force=True)",
            "x: no vectors; run fewwords vectors --work 'my work' --vocab-size 9 --force",
        ),
        (
            InputError("no corpus", remedy=Stage("prepare", work="w")),
            "no corpus; run fewwords.prepare(sources, work='w')",
            "no corpus; run fewwords prepare SOURCE --work w",
        ),
        (
            InputError("too few", remedy=("lower `base_size`", Stage("codes", base_size=None))),
            "too few; lower `base_size`, or run fewwords.make_codes()",
            "too few; lower --base-size, or run fewwords codes",
        ),
    ],
)
def test_an_error_speaks_the_language_of_its_reader(error: InputError, in_python: str, typed: str) -> None:
    assert str(error) == in_python
    assert error_line(error) == typed
    copy = pickle.loads(pickle.dumps(error))  # as from a worker process
    assert (str(copy), error_line(copy)) == (in_python, typed)


@pytest.mark.parametrize("stage", _CALLS)
def test_the_functions_that_remedies_name_exist_and_take_their_arguments(stage: str) -> None:
    function, *needed = _CALLS[stage]
    parameters = inspect.signature(getattr(fewwords, function)).parameters
    assert set(needed) <= set(parameters)
    used = set()
    for path in SOURCES.rglob("*.py"):
        for call in re.findall(
            rf'Stage\(\s*"{stage}"([^()]*(?:\([^()]*\)[^()]*)*)\)', path.read_text(encoding="utf-8")
        ):
            used |= set(re.findall(r"(\w+)=", call))
    assert used
    assert used <= set(parameters)


def test_only_the_command_line_speaks_in_flags() -> None:
    """Reports of the paper are the exception: they say which commands made them."""
    for path in SOURCES.rglob("*.py"):
        room = path.relative_to(SOURCES).parts[0]
        if room not in ("cli", "paper"):
            assert not re.findall(r"(?<![\w-])--[a-z][\w-]*", path.read_text(encoding="utf-8")), path


def test_only_the_command_line_imports_rich_and_typer() -> None:
    for path in SOURCES.rglob("*.py"):
        place = path.relative_to(SOURCES)
        if place.parts[0] != "cli":
            assert not re.findall(r"^\s*(?:from|import) (?:rich|typer)\b", path.read_text("utf-8"), re.MULTILINE), path


@pytest.mark.parametrize("package", ["corpus", "vectors", "codes", "losses", "models/kneser_ney"])
def test_names_of_a_package_are_not_those_of_its_modules(package: str) -> None:
    """They are imported when asked for, and an imported module would hide them."""
    source = (SOURCES / package / "__init__.py").read_text(encoding="utf-8")
    names = re.findall(r"import (\w+) as \1", source)
    assert names
    for name in names:
        assert not (SOURCES / package / f"{name}.py").exists()
        assert not (SOURCES / package / name).exists()
        assert getattr(importlib.import_module(f"fewwords.{package.replace('/', '.')}"), name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        importlib.import_module(f"fewwords.{package.replace('/', '.')}").nonsense  # noqa: B018
