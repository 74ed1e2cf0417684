"""What the terminal shows: the cells of a plan with what is done, and the models side by side."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table

from fewwords.cli.tables.table import result_table
from fewwords.paper.run import PlanStatus
from fewwords.readable import duration, quantity


def plan_table(status: PlanStatus, jobs: int) -> Table:
    """The cells, their state, and the time that is left with so many at a time."""
    left = duration(status.seconds_left(jobs))
    title = f"{len(status.plan)} cells, {len(status.records)} done, about {left} left with --jobs {jobs}"
    table = result_table(title, "cell", "words", "state", "test perplexity", "time")
    for cell in status.plan:
        record = status.records.get(cell.name)
        words = "all" if cell.words is None else quantity(cell.words)
        if record is None:
            table.add_row(cell.name, words, "to do", "", f"about {duration(status.seconds[cell.name])}")
        else:
            table.add_row(cell.name, words, "done", f"{record['ppl']:,.2f}", duration(record["seconds"]))
    return table


def models_table(records: Iterable[Mapping[str, Any]]) -> Table:
    """Models side by side: perplexity on one and the same text, and what they cost."""
    table = result_table("Models side by side", "model", "perplexity", "without </s>", "numbers stored", "smaller by")
    for record in records:
        reduction = record["reduction_percent"]
        table.add_row(
            record["name"],
            f"{record['ppl']:,.2f}",
            f"{record['ppl_without_end']:,.2f}",
            f"{record['numbers']:,}",
            f"{reduction:.1f} %" if reduction else "",
        )
    return table
