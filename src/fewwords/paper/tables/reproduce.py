"""How to reproduce: the command, what it ran on, every run with its own command, and the hashes of the corpus."""

from collections.abc import Mapping

from fewwords.paper.tables.print_figures import DASH
from fewwords.paper.tables.results import Results
from fewwords.paper.tables.table import Table, Value
from fewwords.readable import duration

Rows = list[list[Value | str]]


def about_table(about: Mapping[str, str]) -> Table:
    """General facts from the caller; "command" is what a reader types to get the same."""
    rows: Rows = [[name, Value(told, style="code" if name == "command" else "")] for name, told in about.items()]
    return Table("reproduce", "How to reproduce", ("", "about"), rows, texts=(0, 1))


def runs_table(results: Results) -> Table:
    """Every run with its command."""
    rows: Rows = [
        [
            record.name,
            Value(record.command, style="code"),
            record.commit or DASH,
            str(record.seed),
            duration(record.seconds),
            record.machine,
            record.finished,
        ]
        for record in results.records
    ]
    columns = ("run", "command", "commit", "seed", "time", "machine", "finished")
    return Table("runs", f"The {len(rows)} runs", columns, rows, texts=(0, 1, 2, 5, 6), long=True)


def hashes_table(hashes: Mapping[str, str]) -> Table:
    """The files of the corpus."""
    rows: Rows = [[name, Value(digest, style="code")] for name, digest in hashes.items()]
    return Table("hashes", "Hashes of the corpus (SHA-256)", ("file", "hash"), rows, texts=(0, 1), long=True)
