"""What the plan holds and how much of it is done."""

from collections.abc import Sequence
from pathlib import Path

from fewwords.frontier.plan import Run
from fewwords.frontier.run import points_path, read_points
from fewwords.paper.tables.print_figures import figure
from fewwords.paper.tables.table import Table
from fewwords.readable import quantity


def runs_table(work: Path, runs: Sequence[Run]) -> Table:
    """The runs with their settings, and what each has come to."""
    rows = []
    num_done = 0
    for run in runs:
        points = read_points(points_path(work, run))
        num_done += points is not None
        told = "to do" if points is None else "; ".join(f"{each.mb:.2f} MB {figure(each.ppl, 1)}" for each in points)
        changes = {**run.cell.model_changes, **run.cell.training_changes}
        settings = ", ".join(
            f"{name} {value}" for name, value in changes.items() if name not in ("embedding", "output")
        )
        rows.append([run.title, run.method, settings, quantity(run.cell.words or 0), told])
    title = f"{len(runs)} runs, {num_done} done"
    return Table("runs", title, ("run", "method", "settings", "words", "size and test perplexity"), rows)
