"""Pieces of the report's HTML; everything that is not `Markup` is escaped."""

from html import escape

from fewwords.paper.tables.table import Table, Value, value


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
    """Text in which no line breaks between a figure and its sign or unit."""
    safe = markup(text)
    for sign, kept in ((" %", "&nbsp;%"), (" ± ", "&nbsp;±&nbsp;"), (" = ", "&nbsp;=&nbsp;")):
        safe = Markup(safe.replace(sign, kept))
    return safe


def html_table(table: Table) -> Markup:
    """A table in its own scrolling box, its first column always in view; long ones are collapsed."""

    def place(tag: str, number: int, content: Markup) -> Markup:
        kind = "text" if number in table.texts else "figure"
        if tag == "td" and number == 0:
            return element("th", content, class_=kind, scope="row")
        return element(tag, content, class_=kind)

    head = [place("th", number, markup(column)) for number, column in enumerate(table.columns)]
    body = [
        element("tr", *(place("td", number, _content(value(each))) for number, each in enumerate(row)))
        for row in table.rows
    ]
    whole = element("table", element("thead", element("tr", *head)), element("tbody", *body))
    # focusable, so that the box can be scrolled by keyboard
    box = element("div", whole, class_="scroll" if len(table.texts) > 1 else "scroll sticky", tabindex="0")
    return element("details", element("summary", "Show"), box, class_="details") if table.long else box


def _content(place: Value) -> Markup:
    text = unbroken(place.text)
    if place.style in ("code", "strong"):
        text = element(place.style, text)
    elif place.style:
        text = element("span", text, class_=place.style)
    return Markup(text + (element("small", unbroken(place.note)) if place.note else ""))


def section(name: str, title: object, *content: object) -> Markup:
    """A section with a heading that can be linked to."""
    return element("section", element("h2", title), *content, id=name)


def paragraph(*content: object, **attributes: str) -> Markup:
    """A paragraph."""
    return element("p", *(unbroken(each) for each in content), **attributes)
