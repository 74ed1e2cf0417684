"""The report: `index.html`, one self-contained page, beside `tables.json` and `figures/`.

The page works without a network and without scripts, on light and dark screens, wide and narrow; tables and figures
that are too wide scroll in their own boxes.
"""

from collections.abc import Sequence
from pathlib import Path
from string import Template

from fewwords import __version__
from fewwords.paper.report.contents import Report
from fewwords.paper.report.drawing import inline_svg
from fewwords.paper.report.html_parts import Markup, element, html_table, markup, paragraph, section
from fewwords.paper.tables import published
from fewwords.paper.tables.headline import Headline
from fewwords.paper.tables.print_figures import figure, percent
from fewwords.paper.tables.table import Figure, Table
from fewwords.store.files import atomic_write, write_json

ADDRESS = "https://aclanthology.org/P16-1022/"
_HERE = Path(__file__).parent


def write_report(folder: Path, report: Report) -> Path:
    """Write page and tables into `folder`, whose `figures/` has what is drawn; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "tables.json", report.to_json())
    page = folder / "index.html"
    with atomic_write(page) as file:
        file.write(make_page(report, folder / "figures").encode())
    return page


def make_page(report: Report, figures: Path) -> str:
    """The page as one string; the folder `figures` has the drawings."""
    parts = [_table(each) if isinstance(each, Table) else _figure(each, figures) for each in report.contents]
    return Template((_HERE / "page.html").read_text(encoding="utf-8")).substitute(
        title=markup(f"fewwords: “{published.TITLE}”, section 4"),
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        header=_header(report) + _links(report.contents),
        main="\n".join(parts),
        footer=paragraph(f"Written by fewwords {__version__}. The tables as data: tables.json beside this page."),
    )


def _header(report: Report) -> str:
    paper = element("a", f"{published.TITLE} ({published.VENUE})", href=ADDRESS)
    what = (
        "Language models whose size hardly grows with their vocabulary, because rare words are said in a few common ones. "
        f"The method is that of {published.AUTHORS}, "
    )
    told = ". Here are its tables and figures, run again."
    heading = element("h1", "Compressed language models, reproduced")
    tiles = "" if report.headline is None else _tiles(report.headline)
    return heading + paragraph(what, paper, told, class_="soft") + paragraph(report.says, class_="lead") + tiles


def _tiles(found: Headline) -> Markup:
    tiles = [
        ("main", f"{found.megabytes:.1f} MB", f"LSTM-z,w; LSTM-z has {found.dense_megabytes:.1f} MB (float32)"),
        ("main", percent(found.reduction_percent), "fewer numbers stored by LSTM-z,w"),
        ("main", figure(found.ppl), "perplexity of LSTM-z,w"),
        ("", figure(found.dense_ppl), "of LSTM-z, the uncompressed version"),
        ("", figure(found.kn3_ppl), "of a Kneser-Ney 3-gram model on the same text"),
    ]
    shown = [
        element("div", element("dd", text), element("dt", name), **({"class_": kind} if kind else {}))
        for kind, text, name in tiles
    ]
    return element("dl", *shown, class_="tiles")


def _links(contents: Sequence[Table | Figure]) -> Markup:
    return element("nav", *(element("a", each.title, href=f"#{each.name}") for each in contents))


def _table(table: Table) -> Markup:
    notes = [paragraph(note, class_="soft") for note in table.notes]
    return section(table.name, table.title, html_table(table), *notes)


def _figure(drawn: Figure, folder: Path) -> Markup:
    text = (folder / f"{drawn.name}.svg").read_text(encoding="utf-8")
    box = element("div", Markup(inline_svg(text, markup(drawn.caption))), class_="scroll", tabindex="0")
    return section(drawn.name, drawn.title, element("figure", box, element("figcaption", drawn.caption)))
