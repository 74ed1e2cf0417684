"""The look that all tables share."""

from collections.abc import Iterable

from rich.table import Table


def result_table(title: str, first: str, *columns: str) -> Table:
    """An empty table for results: the first column to the left, the others to the right."""
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def fact_table(title: str, facts: Iterable[tuple[str, str]]) -> Table:
    """Names to the left, what is known of them to the right."""
    table = Table("", "", title=title, title_justify="left", title_style="bold", show_header=False)
    for name, value in facts:
        table.add_row(name, value)
    return table
