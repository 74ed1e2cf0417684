"""The report: `index.html`, one page with everything in it and nothing from elsewhere, `tables.json` and `figures/`.

The page works without a network and without scripts, on light and dark screens, wide and narrow; tables and figures that are too
wide scroll in boxes of their own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from fewwords import __version__
from fewwords.paper.report import sections, table_sections
from fewwords.paper.report.drawing import inline_svg
from fewwords.paper.report.figures import CAPTIONS
from fewwords.paper.report.html_parts import Markup, element, markup, paragraph, section
from fewwords.paper.tables import published
from fewwords.store.files import atomic_write, write_json

ADDRESS = "https://aclanthology.org/P16-1022/"
_HERE = Path(__file__).parent


def write_report(folder: Path, tables: Mapping[str, Any], figures: Sequence[Path], *, small: bool = False) -> Path:
    """Write page, tables and figures into `folder`; returns the page. A small report leaves out what was not run."""
    places = folder / "figures"
    places.mkdir(parents=True, exist_ok=True)
    for path in figures:
        if path.resolve().parent != places.resolve():
            with atomic_write(places / path.name) as file:
                file.write(path.read_bytes())
    write_json(folder / "tables.json", tables)
    page = folder / "index.html"
    with atomic_write(page) as file:
        file.write(make_page(tables, figures, small=small).encode())
    return page


def make_page(tables: Mapping[str, Any], figures: Sequence[Path], *, small: bool = False) -> str:
    """The page as one string."""
    title = "fewwords: a small report" if small else f"fewwords: “{published.TITLE}”, section 4"
    drawn = {path.stem: _figure(path) for path in figures if path.suffix == ".svg"}
    parts = [
        table_sections.table3(tables, small),
        table_sections.table4(tables, small),
        drawn.pop("figure4", ""),
        table_sections.more_words(tables),
        sections.claims(tables, small),
        sections.controls(tables, small),
        drawn.pop("figure5", ""),
        *drawn.values(),
        table_sections.table1(tables),
        table_sections.table2(tables),
        sections.difference_section(tables),
        sections.reproduce(tables),
    ]
    return Template((_HERE / "page.html").read_text(encoding="utf-8")).substitute(
        title=markup(title),
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        header=_header(tables, small) + _contents([part for part in parts if part]),
        main="\n".join(part for part in parts if part),
        footer=paragraph(f"Written by fewwords {__version__}. The tables as data: tables.json beside this page."),
    )


def _header(tables: Mapping[str, Any], small: bool) -> str:
    paper = element("a", f"{published.TITLE} ({published.VENUE})", href=ADDRESS)
    what = (
        "Language models whose size hardly grows with their vocabulary, because rare words are said in a few common ones. "
        f"The method is that of {published.AUTHORS}, "
    )
    told = (
        " On the built-in corpus, to see that everything works."
        if small
        else " Here are its tables and figures, made anew."
    )
    heading = "Rare words said in a few common ones" if small else "Compressed language models, reproduced"
    return element("h1", heading) + paragraph(what, paper, ".", told, class_="soft") + sections.headline(tables)


def _contents(parts: Sequence[str]) -> str:
    """Links to the sections, by the ids and headings that they have."""
    links = []
    for part in parts:
        name = part.split('id="', 1)[1].split('"', 1)[0]
        heading = part.split("<h2>", 1)[1].split("</h2>", 1)[0]
        links.append(element("a", Markup(heading), href=f"#{name}"))
    return element("nav", *links)


def _figure(path: Path) -> str:
    """A drawn figure as a section of the page."""
    caption = CAPTIONS[path.stem]
    heading, _, rest = caption.partition(". ")
    number = heading.split()[-1]
    title = {"3": "Sparse codes", "4": "Performance and memory", "5": "ZRegression"}[number]
    drawing = Markup(inline_svg(path.read_text(encoding="utf-8"), markup(caption)))
    box = element("div", drawing, class_="scroll", tabindex="0")
    return section(path.stem, f"{heading}. {title}", element("figure", box, element("figcaption", rest)))
