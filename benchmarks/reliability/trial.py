"""One input tried: written to disk, read, used, and what came of it."""

import json
import math
import random
import shutil
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewwords import errors
from reliability.inputs import Files, read_files, write_files
from reliability.kind import Kind
from reliability.kinds import KINDS
from reliability.mutations import mutate
from reliability.repair import repair
from reliability.samples import Work
from reliability.workers import Outcome

_SHARE_REPAIRED = 0.95
_LONGEST_MESSAGE = 2000


@dataclass(frozen=True)
class Sample:
    """The unharmed files of a kind, and the answers that they give."""

    name: str
    kind: Kind
    files: Files
    answers: str


def make_samples(names: list[str], work: Work, scratch: Path) -> list[Sample]:
    """Samples of some kinds; raises AssertionError if the same files do not give the same answers twice."""
    found = []
    for name in names:
        kind = KINDS[name]
        folder = scratch / "sample"
        folder.mkdir()
        kind.make(work, folder)
        files: Files = dict(read_files(folder))
        shutil.rmtree(folder)
        answers = []
        for _ in range(2):
            write_files(folder, files)
            answers.append(_written(kind.use(work, folder)))
            shutil.rmtree(folder)
        assert answers[0] == answers[1], f"{name}: the same files give different answers"
        found.append(Sample(name, kind, files, answers[0]))
    return found


def make_input(sample: Sample, seed: int, number: int) -> tuple[Files, list[str]]:
    """The mutated input of that number, and what was changed."""
    chance = random.Random(f"{seed} {sample.name} {number}")
    changed, told = mutate(sample.files, sample.kind.specials, chance)
    if chance.random() < _SHARE_REPAIRED:
        changed = repair(sample.files, changed)
    return changed, told


def try_input(sample: Sample, work: Work, folder: Path) -> tuple[Outcome, str]:
    """Read and use the input in a folder; returns the outcome and, for a failure, what happened."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = sample.kind.use(work, folder)
        if _is_wild(answers):
            raise ArithmeticError(f"an answer is not finite: {_written(answers)[:_LONGEST_MESSAGE]}")
        return ("same" if _written(answers) == sample.answers else "changed"), ""
    except Exception as error:
        if type(error).__module__ != errors.__name__:
            return "exceptions", traceback.format_exc()
        message = str(error)  # of an error that is meant for users
        if "\n" in message or len(message) > _LONGEST_MESSAGE:
            length = f"{len(message):,} characters, {len(message.splitlines())} lines"
            return "exceptions", f"an error of {length}: {message[:_LONGEST_MESSAGE]}"
        return "refused", ""


def _written(answers: Any) -> str:
    return json.dumps(answers, sort_keys=True)


def _is_wild(answers: Any) -> bool:
    """Whether there is a number that is not finite among the answers."""
    if isinstance(answers, dict):
        return any(map(_is_wild, answers.values()))
    if isinstance(answers, (list, tuple)):
        return any(map(_is_wild, answers))
    return isinstance(answers, float) and not math.isfinite(answers)
