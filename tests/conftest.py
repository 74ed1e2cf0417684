"""Shared fixtures: the command line run in this process, made-up prose, and the bytes of a folder."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from fewwords.cli import main
from fewwords.cli.console import Display
from fewwords.progress import listening

# Time says nothing about these properties, and other work on the machine must not turn them red.
settings.register_profile("fewwords", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fewwords")


@dataclass(frozen=True)
class Outcome:
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        """The lines on stderr that tell of an error."""
        return [line for line in self.err.splitlines() if line.startswith("fewwords: error:")]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run `fewwords ARGUMENTS` here."""

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Outcome(int(stop.value.code or 0), out, err)

    return run


@pytest.fixture
def shown() -> Iterator[None]:
    """Show on stderr what stages report, as the command line does."""
    with listening(Display()):
        yield


def make_prose(num_sentences: int, seed: int = 0) -> str:
    """Paragraphs of made-up sentences of 1 to 70 words, with a skewed vocabulary, abbreviations, numbers and quotes."""
    chance = random.Random(seed)
    syllables = "ba de gi mo nu ra sel tik wor górn ütz".split()
    lexicon = ["".join(chance.choices(syllables, k=chance.randint(1, 3))) for _ in range(400)]
    extras = ["3.5", "U.S.", "Mr. Smith", "don't", "well-known", '"so"', "(or not)", "12,000", "e.g. that"]
    lines = []
    line: list[str] = []
    for _ in range(num_sentences):
        length = chance.choice([1, 2, 3, 4, 5, 8, 12, 20, 40, 70])
        words = [lexicon[int(400 * chance.random() ** 3)] for _ in range(length)]
        if chance.random() < 0.2:
            words[-1] = chance.choice(extras)
        line.append(" ".join([words[0].capitalize(), *words[1:]]) + chance.choice(".!?"))
        if chance.random() < 0.3:
            lines.append(" ".join(line))
            line.clear()
    return "\n".join([*lines, " ".join(line)]) + "\n"


@pytest.fixture(scope="session")
def prose() -> Callable[..., str]:
    """`make_prose`."""
    return make_prose


@pytest.fixture(scope="session")
def folder_bytes() -> Callable[[Path], dict[str, bytes]]:
    """The content of every file under a folder, by relative path."""

    def read(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    return read
