"""Figures, the page and the same in Markdown; the page also in a browser, where one is installed."""

import json
import random
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from paper_records import ALL_WORDS, all_records, gather

from fewwords.cli.tables.paper import screen_table
from fewwords.codes.explain import Explanation
from fewwords.errors import InputError
from fewwords.evaluation.spelling import Spelled
from fewwords.paper.record import Record
from fewwords.paper.report.contents import Report, make_report
from fewwords.paper.report.figure5 import choose_curves
from fewwords.paper.report.figures import draw_figures
from fewwords.paper.report.markdown import HEADLINE_MARKS, markdown_table, put_headline, results_readme
from fewwords.paper.report.page import write_report
from fewwords.paper.tables.results import Results
from fewwords.paper.tables.table import Table, Value, value
from fewwords.store.files import read_json

pytest.importorskip("matplotlib")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECTIONS = "table3 table4 spelled claims small longer controls table1 counts table2 differences cells".split()
SECTIONS += "reproduce runs hashes".split()
FIGURES = ["figure3", "figure4", "figure5", "training_words"]
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
def spelled() -> dict[int, Spelled]:
    return {size: Spelled(200_000, 8_000, 9_000, 400, 2.2e5, 1.1e6) for size in (10_000, 22_000, 50_000)}


@pytest.fixture(scope="module")
def page(
    corpus: dict[str, Any],
    about: dict[str, str],
    explanations: list[Explanation],
    spelled: dict[int, Spelled],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    folder = tmp_path_factory.mktemp("report")
    results = gather(all_records())
    drawn = draw_figures(results, explanations, 8_003, folder / "figures")
    return write_report(folder, make_report(results, corpus, about, drawn=drawn, spelled=spelled))


@pytest.fixture(scope="module")
def report(corpus: dict[str, Any], about: dict[str, str], spelled: dict[int, Spelled]) -> Report:
    return make_report(gather(all_records()), corpus, about, drawn=FIGURES, spelled=spelled)


def tables_of(report: Report) -> list[Table]:
    return [each for each in report.contents if isinstance(each, Table)]


def test_the_page_is_whole_and_needs_nothing_else(page: Path, report: Report) -> None:
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
    assert read_json(page.parent / "tables.json") == report.to_json()
    assert {path.name for path in (page.parent / "figures").iterdir()} == {
        f"{name}.{ending}" for name in FIGURES for ending in ("png", "svg")
    }


def test_all_of_it_is_strict_json(report: Report) -> None:
    told = report.to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert set(told["runs"]) == {record.name for record in all_records()}
    assert told["runs"]["lstm-z-v22000-w5M"]["command"].startswith("fewwords train")
    assert told["corpus"]["train.tokens"] == "ab" * 32
    assert set(SECTIONS) == set(told["tables"])


def test_the_papers_size_is_told_first(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    places = [
        text.index(f'id="{name}"') for name in ("table3", "training_words", "table4", "claims", "small", "controls")
    ]
    assert places == sorted(places)
    assert "Trained on all 93.0 M words" in text[: places[0]]


def test_text_is_escaped(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "a &lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; note" in text
    assert "<unk>" not in text
    assert "<s>" not in text


def plain(page: Path) -> str:
    """The text of the page as the tables have it."""
    text = page.read_text(encoding="utf-8").replace("&nbsp;", " ").replace("&#x27;", "'").replace("&quot;", '"')
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def test_page_markdown_and_screen_say_what_the_tables_say(page: Path, report: Report) -> None:
    html, markdown = plain(page), results_readme(report.headline_markdown, report.contents).replace("&lt;", "<")
    for table in tables_of(report):
        shown = screen_table(table)
        assert (len(shown.columns), shown.row_count) == (len(table.columns), len(table.rows))
        for place in (value(each) for row in table.rows for each in row):
            for text in (place.text, place.note):
                assert text in html, (table.name, text)
                assert text in markdown, (table.name, text)
        for note in table.notes:
            assert note in html
            assert note in markdown
    for runs in report.results.cells:
        assert "diverged (3.5 M)" in html if runs.mean is None else f"{runs.mean:.1f}" in html
    for name in report.to_json()["runs"]:
        assert f">{name}<" in html


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


def test_the_same_results_give_the_same_figures(page: Path, results: Results, tmp_path: Path) -> None:
    drawn = draw_figures(results, [], 8_003, tmp_path)
    assert set(drawn) == set(FIGURES) - {"figure3"}
    for path in drawn["figure4"] + drawn["training_words"]:
        assert path.read_bytes() == (page.parent / "figures" / path.name).read_bytes()


def test_figure_4_has_lines_and_no_lone_points(records: list[Record], tmp_path: Path) -> None:
    whole = [record for record in records if record.train_words == ALL_WORDS]
    lone = replace(next(record for record in whole if record.model == "lstm-z"), model="lstm-s", variant="lstm-s")
    drawn = draw_figures(gather([*whole, lone]), [], 8_003, tmp_path)
    svg = next(path for path in drawn["figure4"] if path.suffix == ".svg").read_text(encoding="utf-8")
    assert "LSTM-z,w" in svg
    assert "LSTM-s" not in svg
    assert "figure4" not in draw_figures(gather([lone]), [], 8_003, tmp_path)


def test_any_subset_of_records_can_be_reported(
    records: list[Record], corpus: dict[str, Any], about: dict[str, str], tmp_path: Path
) -> None:
    chance = random.Random(3)
    subsets = [[record] for record in records[::9]] + [chance.sample(records, 8) for _ in range(6)]
    subsets.append([record for record in records if record.group == "more words"])
    for number, subset in enumerate(subsets):
        found = make_report(gather(subset), corpus, about)
        json.dumps(found.to_json(), allow_nan=False)
        text = write_report(tmp_path / str(number), found).read_text(encoding="utf-8")
        assert "not run yet" in text
        assert "None" not in results_readme(found.headline_markdown, found.contents)


def test_a_report_of_nothing_can_be_written(tmp_path: Path) -> None:
    results = gather([])
    assert draw_figures(results, [], 8_003, tmp_path) == {}
    found = make_report(results, {}, {})
    text = write_report(tmp_path, found).read_text(encoding="utf-8")
    assert "not run yet" in text
    assert "have not both been run yet" in results_readme(found.headline_markdown, found.contents)


def test_curves_without_the_newer_fields_are_drawn(records: list[Record], tmp_path: Path) -> None:
    older = [
        replace(
            record,
            curve=tuple(replace(line, dev_loss=None, log_z_mean=None, log_z_std=None) for line in record.curve),
        )
        for record in records
    ]
    assert "figure5" in draw_figures(gather(older), [], 8_003, tmp_path)


def test_figure_5_has_every_start_at_the_size_that_has_most(record: Callable[..., Record]) -> None:
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
    assert [run.model for run in chosen.runs if run.variant != "lstm-s"] == ["lstm-z"]


def test_markdown_has_the_figures(report: Report) -> None:
    headline = markdown_table(report.headline_table)
    assert len({line.count("|") for line in headline.splitlines()}) == 1
    assert "(104.4)" in headline
    assert f"{report.results.whole['lstm-z-w', 50_000].mean:.1f} (129.2)" in headline
    readme = results_readme(report.headline_markdown, report.contents)
    assert headline in readme
    for name, run in report.to_json()["runs"].items():
        assert f"| {name} | `{run['command']}` | 0123abc |" in readme
    for text in ("figures/figure3.png", "figures/figure5.png", "ab" * 32, "2 cores, x86_64", report.says):
        assert text in readme


def test_cells_of_markdown_tables_cannot_break_out() -> None:
    table = Table("x", "", ("a|b", "<s>"), [[Value("1|2", "<i>", "strong"), Value("x|y", style="code")]])
    assert markdown_table(table) == "| a\\|b | &lt;s> |\n|---|---|\n| **1\\|2** (&lt;i>) | `x\\|y` |"


def test_the_headline_goes_between_its_marks() -> None:
    first, last = HEADLINE_MARKS
    text = put_headline(f"before {first} old {last} after", "new")
    assert text == f"before {first}\nnew\n{last} after"
    assert put_headline(text, "new") == text
    with pytest.raises(InputError, match="no place for the headline"):
        put_headline(f"{last} {first}", "new")


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
