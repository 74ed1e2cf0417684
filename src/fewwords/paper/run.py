"""Run the plan, cell by cell or several cells at a time; finished cells are never run again, interrupted ones go on.

With several jobs each cell is a process of its own with its share of the cores, and its messages go to `paper/logs/NAME.log`.
"""

import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fewwords.cores import available_cores
from fewwords.errors import InputError
from fewwords.paper.cells import codes_file, read_record, run_cell
from fewwords.paper.plan import Cell
from fewwords.progress import say
from fewwords.readable import duration
from fewwords.store.locks import lock_folder
from fewwords.training.interruption import Interruption

SECONDS_BETWEEN_LOOKS = 0.5
# Until there is a record to go by: words a second of one core, and seconds of evaluation for each word of the vocabulary.
_WORDS_PER_SECOND = {"softmax": 1_500.0, "nce-per-position": 9_000.0}
_DEFAULT_WORDS_PER_SECOND = 18_000.0
_EVALUATION_SECONDS_PER_WORD = 0.003


@dataclass(frozen=True)
class PlanStatus:
    """What is done of a plan: the record of each finished cell, the cells that are left, and an estimate of their seconds."""

    plan: Sequence[Cell]
    records: dict[str, dict[str, Any]]
    seconds: dict[str, float]

    @property
    def left(self) -> list[Cell]:
        """The cells without a record, in order."""
        return [cell for cell in self.plan if cell.name not in self.records]

    def seconds_left(self, jobs: int) -> float:
        """An estimate for all cells that are left, so many at a time."""
        return sum(self.seconds[cell.name] for cell in self.left) / jobs


def plan_status(work: Path, plan: Sequence[Cell], all_words: int) -> PlanStatus:
    """Look at the records; `all_words` are those of the whole training part."""
    records = {cell.name: record for cell in plan if (record := read_record(work, cell)) is not None}
    return PlanStatus(plan, records, {cell.name: _estimate(cell, records.values(), all_words) for cell in plan})


def _estimate(cell: Cell, records: Iterable[dict[str, Any]], all_words: int) -> float:
    words = cell.words or all_words
    if not cell.is_neural:
        return words / 500_000 + 10
    loss = str(cell.training_changes.get("loss", ""))
    known = [
        record["words_per_second"]
        for record in records
        if (record["variant"], record["vocab_size"]) == (cell.variant, cell.vocabulary_size)
        and not loss
        and record["group"] != "control"  # among them are slower losses
    ]
    rate = known[-1] if known else _WORDS_PER_SECOND.get(loss, _DEFAULT_WORDS_PER_SECOND)
    return words / rate + _EVALUATION_SECONDS_PER_WORD * cell.vocabulary_size


def run_plan(
    work: Path,
    plan: Sequence[Cell],
    *,
    base_size: int,
    jobs: int = 1,
    threads: int | None = None,
    command: Sequence[str] = (),
) -> dict[str, str]:
    """Run all cells that have no record; returns what went wrong, by the name of the cell.

    With several jobs `command` and the name of a cell run it in a process of its own. `threads` are those of each cell; without it
    the jobs share the cores.
    """
    if jobs < 1:
        raise InputError(f"`jobs` {jobs}: choose 1 or more")
    threads = threads or max(1, available_cores() // jobs)
    with lock_folder(work / "paper", "paper"):
        left = [cell for cell in plan if read_record(work, cell) is None]
        for cell in left:
            codes_file(work, cell, base_size)  # here, so that no two cells make the same codes
        if jobs == 1:
            return _one_by_one(work, left, base_size, threads)
        return _Side(work, left, [*command, "--threads", str(threads)], jobs).run()


def _one_by_one(work: Path, cells: Sequence[Cell], base_size: int, threads: int) -> dict[str, str]:
    failures: dict[str, str] = {}
    for number, cell in enumerate(cells, 1):
        say(f"paper: {cell.name}, {number} of {len(cells)}")
        try:
            run_cell(work, cell, base_size=base_size, threads=threads)
        except InputError as error:
            failures[cell.name] = str(error)
            say(f"paper: {cell.name} failed: {error}")
    return failures


@dataclass
class _Side:
    """Cells side by side, each in a process of its own."""

    work: Path
    waiting: list[Cell]
    command: Sequence[str]
    jobs: int
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    started: dict[str, float] = field(default_factory=dict)

    def run(self) -> dict[str, str]:
        try:
            with Interruption() as interruption:
                while (self.waiting or self.running) and not interruption.asked:
                    while self.waiting and len(self.running) < self.jobs:
                        self._start(self.waiting.pop(0))
                    for name in [name for name, process in self.running.items() if process.poll() is not None]:
                        self._finish(name)
                    time.sleep(SECONDS_BETWEEN_LOOKS)
        finally:
            for process in self.running.values():
                process.terminate()  # a cell writes a checkpoint and ends
            for process in self.running.values():
                process.wait()
        if interruption.asked:
            raise KeyboardInterrupt
        return self.failures

    def _start(self, cell: Cell) -> None:
        log = self._log(cell.name)
        log.parent.mkdir(exist_ok=True)
        with log.open("ab") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "fewwords", *self.command, "--cell", cell.name],
                stdout=file,
                stderr=file,
                start_new_session=True,  # Ctrl-C is for us to pass on, once
            )
        self.running[cell.name], self.started[cell.name] = process, time.monotonic()
        say(f"paper: {cell.name} starts, {len(self.waiting)} waiting")

    def _finish(self, name: str) -> None:
        process = self.running.pop(name)
        seconds = duration(time.monotonic() - self.started[name])
        if process.returncode == 0:
            say(f"paper: {name} done in {seconds}")
            return
        lines = self._log(name).read_text(encoding="utf-8", errors="replace").splitlines() or ["nothing said"]
        self.failures[name] = lines[-1].removeprefix("fewwords: error: ")
        say(f"paper: {name} failed: {self.failures[name]}")

    def _log(self, name: str) -> Path:
        return self.work / "paper" / "logs" / f"{name}.log"
