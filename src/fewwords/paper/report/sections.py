"""The sections of the report around its tables: headline, claims, controls, differences, how to reproduce.

A section about nothing is the empty string in a small report.
"""

from collections.abc import Mapping
from typing import Any

from fewwords.paper.report.differences import differences
from fewwords.paper.report.html_parts import Markup, element, paragraph, section, table, unbroken, with_note
from fewwords.paper.tables import published
from fewwords.paper.tables.print_figures import DASH, figure, percent, perplexity
from fewwords.readable import duration, quantity

Tables = Mapping[str, Any]
_MARKS = {"holds": ("holds", "✓"), "fails": ("fails", "✗"), "within": ("open", "≈")}


def headline(tables: Tables) -> Markup:
    """The result in three sentences and four figures."""
    found = tables["headline"]
    if found is None:
        return paragraph("LSTM-z and LSTM-z,w have not both been run yet; what there is follows.", class_="lead")
    tiles = [
        ("main", percent(found["reduction_percent"]), "fewer numbers stored by LSTM-z,w"),
        ("main", figure(found["ppl"]), f"perplexity of LSTM-z,w, {_together(found['numbers'])} numbers"),
        ("", figure(found["dense_ppl"]), f"of the dense LSTM-z, {_together(found['dense_numbers'])} numbers"),
        ("", figure(found["kn3_ppl"]), "of a Kneser-Ney 3-gram model on the same text"),
    ]
    shown = [
        element("div", element("dd", value), element("dt", name), **({"class_": kind} if kind else {}))
        for kind, value, name in tiles
        if value != DASH
    ]
    return Markup(paragraph(found["says"], class_="lead") + element("dl", *shown, class_="tiles"))


def _together(count: int) -> str:
    return quantity(count).replace(" ", "\N{NO-BREAK SPACE}")


def claims(tables: Tables, small: bool) -> Markup:
    """Each claim with a verdict and its figures."""
    found = [claim for claim in tables["claims"] if not small or claim["status"] != "not run yet"]
    if not found:
        return Markup("")
    entries = []
    for claim in found:
        kind, mark = _MARKS.get(claim["status"].split()[0], ("open", DASH))
        verdict = element("span", f"{mark} {claim['status']}", class_=kind)
        entries.append(
            element("li", element("strong", claim["claim"]), verdict, element("small", unbroken(claim["says"])))
        )
    note = "A claim about perplexity holds or fails where the difference exceeds twice the spread of seeds."
    return section("claims", "What the paper claims", paragraph(note), element("ul", *entries, class_="claims"))


def controls(tables: Tables, small: bool) -> Markup:
    """One changed setting a row."""
    if small and all(row["run"] is None for row in tables["controls"]):
        return Markup("")
    rows = []
    for row in tables["controls"]:
        if row["run"] is None:
            figures = [DASH, DASH]
        else:
            reference = "" if row["reference_ppl"] is None else f"against {row['reference_ppl']:.1f}"
            ratio = DASH if row["ratio"] is None else f"{row['ratio']:.3f}"
            error = (
                ""
                if row["ratio"] is None or row["relative_spread"] is None
                else f"± {row['ratio'] * row['relative_spread']:.3f}"
            )
            figures = [with_note(perplexity(row), reference), with_note(ratio, error)]
        size = f", V = {row['vocab_size']:,}" if row["vocab_size"] else ""
        where = f"{published.label(row['model'])}{size}" if row["model"] else ""
        rows.append([with_note(row["name"], where), *figures, unbroken(row["says"])])
    note = "One setting changed at a time, everything else as in table 3."
    headers = ("control", "perplexity", "ratio", "what it says")
    return section("controls", "Controls", paragraph(note), table(headers, rows, texts=(0, 3)))


def difference_section(tables: Tables) -> Markup:
    """What is done otherwise than in the paper."""
    rows = differences(tables)
    return section(
        "differences", "What differs from the paper, and why", table(("", "the paper", "here"), rows, texts=(0, 1, 2))
    )


def reproduce(tables: Tables) -> Markup:
    """The command, what it ran on, and each run's own command."""
    about = dict(tables["about"])
    command = str(about.pop("command", "fewwords paper --work work"))
    facts = [
        [name, value] for name, value in about.items() if value is not None and not isinstance(value, (dict, list))
    ]
    hashes = [[name, element("code", digest)] for name, digest in tables["corpus"].items()]
    runs = [
        [
            with_note(name, run["finished"] or ""),
            element("code", run["command"] or ""),
            run["commit"] or DASH,
            DASH if run["seconds"] is None else duration(run["seconds"]),
            run["machine"] or DASH,
        ]
        for name, run in tables["runs"].items()
    ]
    return section(
        "reproduce",
        "How to reproduce",
        element("pre", command),
        table(("", "about"), facts, texts=(0, 1)) if facts else "",
        element(
            "details",
            element("summary", "Hashes of the corpus (SHA-256)"),
            table(("file", "hash"), hashes, texts=(0, 1)),
        ),
        element(
            "details",
            element("summary", f"The {len(runs)} runs"),
            table(("run", "command", "commit", "time", "machine"), runs, texts=(0, 1, 2, 4)),
        ),
    )
