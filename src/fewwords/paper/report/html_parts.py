"""Pieces of the report's HTML; everything that is not `Markup` is escaped on its way in."""

from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """HTML that is already safe to put into a page."""


def markup(value: object) -> Markup:
    """The value as HTML, escaped unless it is HTML already."""
    return value if isinstance(value, Markup) else Markup(escape(str(value), quote=True))


def element(tag: str, *content: object, **attributes: str) -> Markup:
    """`<tag …>content</tag>`; an attribute named `class_` is `class`."""
    told = "".join(f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"' for name, value in attributes.items())
    return Markup(f"<{tag}{told}>{''.join(markup(each) for each in content)}</{tag}>")


def unbroken(text: object) -> Markup:
    """Text whose figures stay with their signs and units at the end of a line."""
    safe = markup(text)
    for sign, kept in ((" %", "&nbsp;%"), (" ± ", "&nbsp;±&nbsp;"), (" = ", "&nbsp;=&nbsp;")):
        safe = Markup(safe.replace(sign, kept))
    return safe


def with_note(main: object, note: object = "") -> Markup:
    """A figure with a smaller line under it."""
    return Markup(unbroken(main) + (element("small", unbroken(note)) if str(note) else ""))


def table(
    headers: Sequence[object], rows: Iterable[Sequence[object]], *, texts: Sequence[int] = (0,), sticky: bool = False
) -> Markup:
    """A table in a box of its own that scrolls; columns in `texts` hold text, the others figures.

    With `sticky` the first column stays in view while the others scroll.
    """

    def cells(tag: str, row: Sequence[object]) -> Markup:
        parts = []
        for number, cell in enumerate(row):
            kind = "text" if number in texts else "figure"
            first = tag == "td" and number == 0
            parts.append(element("th", cell, class_=kind, scope="row") if first else element(tag, cell, class_=kind))
        return element("tr", *parts)

    head = element("thead", cells("th", headers))
    body = element("tbody", *(cells("td", row) for row in rows))
    # reachable by keyboard, because what is outside the box must be scrolled to
    return element("div", element("table", head, body), class_="scroll sticky" if sticky else "scroll", tabindex="0")


def section(name: str, title: object, *content: object) -> Markup:
    """A section with a heading that can be linked to."""
    return element("section", element("h2", title), *content, id=name)


def paragraph(*content: object, **attributes: str) -> Markup:
    """A paragraph."""
    return element("p", *(unbroken(each) for each in content), **attributes)
