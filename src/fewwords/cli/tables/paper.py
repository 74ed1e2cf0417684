"""What the terminal shows: the cells of a plan with what is done, and any table of the report."""

from rich.markup import escape
from rich.table import Table as ScreenTable

from fewwords.cli.tables.table import result_table
from fewwords.paper.status import PlanStatus
from fewwords.paper.tables.print_figures import figure
from fewwords.paper.tables.table import Table, Value, value
from fewwords.readable import duration, quantity


def plan_table(status: PlanStatus, jobs: int) -> Table:
    """The cells, their state, and the time that is left with so many at a time."""
    left = duration(status.seconds_left(jobs))
    title = f"{len(status.plan)} cells, {len(status.records)} done, about {left} left with --jobs {jobs}"
    rows = []
    for cell in status.plan:
        record = status.records.get(cell.name)
        words = "all" if cell.words is None else quantity(cell.words)
        if record is None:
            rows.append([cell.name, words, "to do", "", f"about {duration(status.seconds[cell.name])}"])
        else:
            rows.append([cell.name, words, "done", figure(record.ppl, 2), duration(record.seconds)])
    return Table("plan", title, ("cell", "words", "state", "test perplexity", "time"), rows)


def screen_table(table: Table) -> ScreenTable:
    """A table for the terminal; notes stand in brackets."""
    shown = result_table(escape(table.title), *map(escape, table.columns))
    for row in table.rows:
        shown.add_row(*(_place(value(each)) for each in row))
    return shown


def _place(place: Value) -> str:
    return escape(f"{place.text} ({place.note})" if place.note else place.text)
