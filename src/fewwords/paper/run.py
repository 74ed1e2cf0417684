"""Run the plan, one cell or several at a time; finished cells are never run again, interrupted ones continue.

Each cell runs in its own process with its share of the cores. Its messages go to `paper/logs/NAME.log`.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fewwords.cores import available_cores
from fewwords.errors import InputError
from fewwords.paper.cells import codes_file, run_cell
from fewwords.paper.plan import Cell
from fewwords.paper.record import read_record
from fewwords.paper.tasks import Task, TaskRunner
from fewwords.store.locks import lock_folder


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
        share = threads or max(1, available_cores() // jobs)
        tasks = [Task(cell.name, partial(run_cell, work, cell, base_size=base_size, threads=share)) for cell in left]
        return TaskRunner("paper", tasks, work / "paper" / "logs", jobs, share).run()
