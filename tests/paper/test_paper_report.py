"""Figures, the page and its markdown twin; the page also in a browser, where one is installed."""

import json
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fewwords.codes.explain import Explanation
from fewwords.paper.report.figure5 import choose_curves
from fewwords.paper.report.figures import draw_figures
from fewwords.paper.report.markdown import headline_table, results_readme
from fewwords.paper.report.page import write_report
from fewwords.paper.tables.make import make_tables
from fewwords.store.files import read_json

pytest.importorskip("matplotlib")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECTIONS = ["table1", "table2", "table3", "table4", "more_words", "claims", "controls", "differences", "reproduce"]
FIGURES = ["figure3", "figure4", "figure5"]
VOID = {"meta", "link", "br", "img"}


class Balanced(HTMLParser):
    """Checks that elements close in order, and collects ids, links and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self._note(dict(attrs))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def _note(self, attributes: dict[str, str | None]) -> None:
        self.ids += [attributes["id"] or ""] if "id" in attributes else []
        self.addresses += [attributes[name] or "" for name in ("src", "href", "xlink:href") if name in attributes]


@pytest.fixture(scope="module")
def tables(
    make_records: Callable[[], list[dict[str, Any]]], corpus: dict[str, Any], about: dict[str, Any]
) -> dict[str, Any]:
    return make_tables(make_records(), corpus, about)


@pytest.fixture(scope="module")
def page(
    make_records: Callable[[], list[dict[str, Any]]],
    tables: dict[str, Any],
    explanations: list[Explanation],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    folder = tmp_path_factory.mktemp("report")
    figures = draw_figures(make_records(), tables, explanations, 8_003, folder / "figures")
    return write_report(folder, tables, figures)


def test_the_page_is_whole_and_needs_nothing_else(page: Path, tables: dict[str, Any]) -> None:
    text = page.read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert set(SECTIONS + FIGURES) <= set(parser.ids)
    assert len(parser.ids) == len(set(parser.ids))
    outside = [each for each in parser.addresses if not each.startswith(("#", "data:"))]
    assert outside == ["https://aclanthology.org/P16-1022/"]
    assert "<script" not in text
    assert {each.lstrip("#") for each in parser.addresses if each.startswith("#")} <= set(parser.ids)
    assert read_json(page.parent / "tables.json") == tables
    assert {path.name for path in (page.parent / "figures").iterdir()} == {
        f"{name}.{ending}" for name in FIGURES for ending in ("png", "svg")
    }


def test_text_is_escaped(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "a &lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; note" in text
    assert "<unk>" not in text
    assert "<s>" not in text


def test_the_page_says_what_the_tables_say(page: Path, tables: dict[str, Any]) -> None:
    text = page.read_text(encoding="utf-8").replace("&nbsp;", " ")
    for row in tables["table3"].values():
        for entry in row.values():
            assert "diverged (3.5 M)" in text if entry["diverged"] else f"{entry['mean']:.1f}" in text
            assert f"paper {entry['paper']:.1f}" in text
    for row in tables["controls"]:
        assert row["says"].replace("'", "&#x27;") in text
    for name in tables["runs"]:
        assert f">{name}<" in text


def test_svgs_are_valid_and_take_the_pages_colour(page: Path) -> None:
    for name in FIGURES:
        svg = (page.parent / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        ElementTree.fromstring(svg)
        assert "currentColor" in svg
        assert "#010203" not in svg
        assert "prefers-color-scheme:dark" in svg
        references = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))
        assert references <= set(re.findall(r'id="([^"]+)"', svg))
        png = (page.parent / "figures" / f"{name}.png").read_bytes()
        width, height = struct.unpack(">II", png[16:24])
        assert min(width, height) > 500


def test_the_same_tables_give_the_same_figure(page: Path, tables: dict[str, Any], tmp_path: Path) -> None:
    for path in draw_figures([], tables, [], 8_003, tmp_path):
        assert path.stem == "figure4"
        assert path.read_bytes() == (page.parent / "figures" / path.name).read_bytes()


def test_a_small_report_has_no_empty_sections(
    record: Callable[..., dict[str, Any]], corpus: dict[str, Any], explanations: list[Explanation], tmp_path: Path
) -> None:
    records = [record(model, 10_000) for model in ("kn3", "lstm-z", "lstm-z-w")]
    tables = make_tables(records, corpus, {})
    figures = draw_figures(records, tables, explanations, 8_003, tmp_path / "elsewhere")
    assert {path.stem for path in figures} == {"figure3"}
    text = write_report(tmp_path / "report", tables, figures, small=True).read_text(encoding="utf-8")
    assert (tmp_path / "report" / "figures" / "figure3.svg").exists()
    assert "not run yet" not in text
    for name in ("controls", "more_words", "figure4", "figure5"):
        assert f'id="{name}"' not in text
    assert "LBL5" not in text
    assert "paper 75.1" not in text


def test_a_report_of_nothing_can_be_written(tmp_path: Path) -> None:
    tables = make_tables([], {}, {})
    assert draw_figures([], tables, [], 8_003, tmp_path) == []
    text = write_report(tmp_path, tables, []).read_text(encoding="utf-8")
    assert "not run yet" in text
    assert results_readme(tables, [])


def test_curves_without_the_newer_fields_are_drawn(
    records: list[dict[str, Any]], tables: dict[str, Any], tmp_path: Path
) -> None:
    for record in records:
        for line in record["curve"]:
            for field in ("dev_loss", "log_z_mean", "log_z_std"):
                del line[field]
    assert "figure5.svg" in {path.name for path in draw_figures(records, tables, [], 8_003, tmp_path)}


def test_figure_5_has_every_start_at_the_size_that_has_most(record: Callable[..., dict[str, Any]]) -> None:
    turned = {"table": "recipe", "setting": "paper", "reference": ""}
    runs = [record(model, 36_000) for model in ("lstm-s", "lstm-z", "lstm-z-w")]
    assert choose_curves(runs[1:]) is None
    runs += [record("lstm-s", 22_000, seed=seed) for seed in (1, 2)] + [record("lstm-z", 22_000)]
    chosen = choose_curves(runs)
    assert chosen is not None
    assert (chosen.vocab_size, len(chosen.runs)) == (22_000, 3)
    runs += [record("lstm-s-zero-bias", 36_000), record("lstm-s", 36_000, group="control", control=turned, name="x")]
    chosen = choose_curves(runs)
    assert chosen is not None
    assert chosen.vocab_size == 36_000
    assert sorted(chosen.without) == ["paper", "unigram", "zero"]
    assert [run["model"] for run in chosen.runs if run["variant"] != "lstm-s"] == ["lstm-z"]


def test_markdown_has_the_figures(tables: dict[str, Any]) -> None:
    headline = headline_table(tables)
    lines = headline.splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert "(104.4)" in headline
    assert f"{tables['table3']['lstm-z-w']['50000']['mean']:.1f} (129.2)" in headline
    readme = results_readme(tables, [Path(f"figure{number}.png") for number in (3, 4, 5)])
    assert headline in readme
    for name, run in tables["runs"].items():
        assert f"| {name} | `{run['command']}` | 0123abc |" in readme
    for text in (
        "figures/figure3.png",
        "figures/figure5.png",
        "ab" * 32,
        "2 cores, x86_64",
        tables["headline"]["says"],
    ):
        assert text in readme


def browse(profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert BROWSER is not None
    quiet = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update"
    return subprocess.run(
        [
            BROWSER,
            *quiet.split(),
            "--disable-sync",
            f"--user-data-dir={profile}",
            "--enable-logging=stderr",
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


PROBE = """<!doctype html><pre id="found"></pre><script>
function measure(frame) {
  const inside = frame.contentDocument, style = each => frame.contentWindow.getComputedStyle(each);
  const sizes = [...inside.querySelectorAll("figure svg, img")].map(each => each.getBoundingClientRect());
  document.getElementById("found").textContent += JSON.stringify({
    width: frame.clientWidth, wide: inside.documentElement.scrollWidth,
    pictures: sizes.map(each => [each.width, each.height]),
    sections: [...inside.querySelectorAll("section")].filter(each => each.offsetHeight > 50).map(each => each.id),
    tables: inside.querySelectorAll("table").length,
    page: style(inside.body).backgroundColor,
    inks: [style(inside.body).color, ...[...inside.querySelectorAll("svg text")].map(each => style(each).fill)],
  }) + "\\n";
}</script>
<iframe src="index.html" style="width:390px;height:800px;border:0" onload="measure(this)"></iframe>
<iframe src="index.html" style="width:1200px;height:800px;border:0" onload="measure(this)"></iframe>"""


def brightness(colour: str) -> float:
    """The mean of red, green and blue, 0 to 255, of a colour as a browser tells it: `rgb(20, 23, 26)`."""
    return sum(float(each) for each in re.findall(r"[\d.]+", colour)[:3]) / 3


@pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on PATH")
@pytest.mark.parametrize(("scheme", "is_dark"), [("0", True), ("1", False)])
def test_the_page_in_a_browser(page: Path, tmp_path: Path, scheme: str, is_dark: bool) -> None:
    # frames of a phone's and of a desk's width measure what is laid out, and --dump-dom shows what they found
    probe = page.with_name("probe.html")
    probe.write_text(PROBE, encoding="utf-8")
    options = ["--allow-file-access-from-files", f"--blink-settings=preferredColorScheme={scheme}"]
    done = browse(tmp_path / "profile", *options, "--dump-dom", probe.as_uri())
    assert "CONSOLE" not in done.stderr, done.stderr
    found = re.findall(r"\{.*\}", done.stdout.split("</pre>")[0])
    assert len(found) == 2
    for measured in map(json.loads, found):
        assert measured["wide"] <= measured["width"], "the page itself must not scroll sideways"
        assert len(measured["pictures"]) == len(FIGURES)
        assert all(min(size) > 100 for size in measured["pictures"])
        assert set(measured["sections"]) == {*SECTIONS, *FIGURES}
        assert measured["tables"] >= 9
        assert (brightness(measured["page"]) < 60) == is_dark
        assert len(measured["inks"]) > 50
        assert all((brightness(ink) > 180) == is_dark for ink in measured["inks"])
