"""Run the plan, one cell or several at a time; finished cells are never run again, interrupted ones continue.

Each cell runs in its own process with its share of the cores. Its messages go to `paper/logs/NAME.log`; an error comes
back through a pipe. SIGTERM is passed on to the cells: they write a checkpoint and end.
"""

import multiprocessing
import os
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from fewwords.cores import available_cores
from fewwords.errors import DivergedError, InputError
from fewwords.paper.cells import codes_file, run_cell
from fewwords.paper.plan import Cell
from fewwords.paper.record import read_record
from fewwords.progress import listen, say
from fewwords.progress_lines import ProgressLines
from fewwords.readable import duration
from fewwords.store.locks import lock_folder
from fewwords.training.interruption import Interruption

SECONDS_BETWEEN_LOOKS = 0.5


def run_plan(
    work: Path, plan: Sequence[Cell], *, base_size: int, jobs: int = 1, threads: int | None = None
) -> dict[str, str]:
    """Run all cells that have no record, `jobs` at a time; returns the errors by name of cell.

    `threads` is per cell; by default the jobs share the cores. Raises KeyboardInterrupt on SIGINT and SIGTERM, once all
    cells have ended. As always with spawned processes, a script must call this under `if __name__ == "__main__"`.
    """
    if jobs < 1:
        raise InputError(f"`jobs` {jobs}: choose 1 or more")
    with lock_folder(work / "paper", "paper"):
        left = [cell for cell in plan if read_record(work, cell) is None]
        for cell in left:
            codes_file(work, cell, base_size)  # here, so that no two cells make the same codes
        return _Runner(work, left, base_size, jobs, threads or max(1, available_cores() // jobs)).run()


def run_cell_process(work: Path, cell: Cell, base_size: int, threads: int, log: Path, errors: Connection) -> None:
    """What the process of a cell does: run it with stdout and stderr in `log`; an error is sent as one line."""
    if os.name == "posix":
        os.setsid()  # the parent passes Ctrl-C on, once
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    listen(ProgressLines())
    try:
        run_cell(work, cell, base_size=base_size, threads=threads)
    except KeyboardInterrupt:
        errors.send("interrupted")
    except (InputError, DivergedError, OSError) as error:
        say(f"{cell.name}: {error}")
        errors.send(str(error))
    except Exception as error:
        traceback.print_exc()
        errors.send(f"internal error ({type(error).__name__}: {error}); see {log}")


@dataclass(frozen=True)
class _Running:
    cell: Cell
    process: SpawnProcess
    errors: Connection
    log: Path
    started: float = field(default_factory=time.monotonic)

    def error(self) -> str | None:
        """What went wrong in the ended process."""
        self.process.join()
        if self.errors.poll():
            try:
                return str(self.errors.recv())
            except EOFError:  # it ended without a message
                pass
        code = self.process.exitcode
        return None if code == 0 else f"the process ended with exit code {code}; see {self.log}"


@dataclass
class _Runner:
    work: Path
    waiting: list[Cell]
    base_size: int
    jobs: int
    threads: int
    running: list[_Running] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    def run(self) -> dict[str, str]:
        with Interruption() as interruption:
            try:
                while (self.waiting or self.running) and not interruption.asked:
                    while self.waiting and len(self.running) < self.jobs:
                        self._start(self.waiting.pop(0))
                    wait([each.process.sentinel for each in self.running], SECONDS_BETWEEN_LOOKS)
                    for each in [each for each in self.running if not each.process.is_alive()]:
                        self._finish(each)
            finally:
                for each in self.running:
                    each.process.terminate()
                for each in self.running:
                    each.process.join()
        if interruption.asked:
            raise KeyboardInterrupt
        return self.failures

    def _start(self, cell: Cell) -> None:
        log = self.work / "paper" / "logs" / f"{cell.name}.log"
        log.parent.mkdir(exist_ok=True)
        context = multiprocessing.get_context("spawn")
        errors, theirs = context.Pipe(duplex=False)
        arguments = (self.work, cell, self.base_size, self.threads, log, theirs)
        process = context.Process(target=run_cell_process, args=arguments, name=cell.name)
        process.start()
        theirs.close()
        self.running.append(_Running(cell, process, errors, log))
        say(f"paper: {cell.name} starts, {len(self.waiting)} waiting; its messages are in {log}")

    def _finish(self, ended: _Running) -> None:
        self.running.remove(ended)
        name, error = ended.cell.name, ended.error()
        if error is None:
            say(f"paper: {name} done in {duration(time.monotonic() - ended.started)}")
            return
        self.failures[name] = error
        say(f"paper: {name} failed: {error}")
