"""A table as a value: what the page, the Markdown files and the screen show, described once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Style = Literal["", "strong", "code", "holds", "fails", "open"]


@dataclass(frozen=True)
class Value:
    """The content of one place in a table: a figure or a text, and a smaller note beside or under it."""

    text: str
    note: str = ""
    style: Style = ""


@dataclass(frozen=True)
class Table:
    """`name` is the link target; the columns numbered in `texts` hold text, the others figures.

    `long` tables are folded away on the page.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value | str]]
    notes: Sequence[str] = ()
    texts: Sequence[int] = (0,)
    long: bool = False


@dataclass(frozen=True)
class Figure:
    """A drawn figure: `figures/NAME.png` and `.svg`."""

    name: str
    title: str
    caption: str


def value(place: Value | str) -> Value:
    """A place of a table as a Value."""
    return place if isinstance(place, Value) else Value(place)
