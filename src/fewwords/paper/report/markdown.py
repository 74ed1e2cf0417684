"""Tables as GitHub Markdown: the README of a folder of results, and the headline in any file."""

from collections.abc import Iterable, Sequence

from fewwords.errors import InputError
from fewwords.paper.tables import published
from fewwords.paper.tables.table import Figure, Table, Value, value

HEADLINE_MARKS = ("<!-- headline -->", "<!-- /headline -->")


def put_headline(text: str, headline: str) -> str:
    """A text with the headline between its two marks; raises InputError if there are none."""
    return put_between(text, HEADLINE_MARKS, headline)


def put_between(text: str, marks: tuple[str, str], block: str) -> str:
    """A text with the block between two marks; raises InputError if there are none."""
    before, first, rest = text.partition(marks[0])
    _, last, after = rest.partition(marks[1])
    if not first or not last:
        name = marks[0].strip("<!- >")
        raise InputError(f"no place for the {name}: put the lines {' and '.join(marks)} where it should go")
    return f"{before}{first}\n{block}\n{last}{after}"


def results_readme(headline: str, contents: Sequence[Table | Figure]) -> str:
    """A README for a folder that holds `tables.json` and `figures/`."""
    parts = [
        "# Results",
        "Written by `fewwords paper`; do not edit. The same as data: [tables.json](tables.json).",
        f"The paper: {published.AUTHORS}, “{published.TITLE}”, {published.VENUE}.",
        headline,
    ]
    for each in contents:
        parts.append(f"## {each.title}")
        if isinstance(each, Figure):
            parts.append(f"![{each.title}](figures/{each.name}.png)\n\n{each.caption}")
        else:
            parts += [markdown_table(each), *map(_escape, each.notes)]
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table) -> str:
    """The table alone, without title and notes."""

    def line(places: Iterable[str]) -> str:
        return f"| {' | '.join(places)} |"

    rows = [line(_place(value(place)) for place in row) for row in table.rows]
    return "\n".join([line(map(_escape, table.columns)), "|" + "---|" * len(table.columns), *rows])


def _place(place: Value) -> str:
    text = _escape(place.text)
    if place.style == "code":
        text = f"`{place.text}`".replace("|", "\\|")
    elif place.style == "strong":
        text = f"**{text}**"
    note = _escape(place.note)
    return text if not note else f"{text} ({note})" if text else note


def _escape(text: str) -> str:
    """A bar would end the cell, and `<s>` would be taken for HTML."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
