"""The tables as GitHub markdown: the README's headline table, and the whole README of a folder of results."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fewwords.errors import InputError
from fewwords.paper.report.figures import CAPTIONS
from fewwords.paper.tables import published
from fewwords.paper.tables.print_figures import DASH, figure, number, percent, perplexity, signed, spread_note
from fewwords.readable import duration, quantity

Tables = Mapping[str, Any]
HEADLINE_MARKS = ("<!-- headline -->", "<!-- /headline -->")
NO_HEADLINE = "LSTM-z and LSTM-z,w have not both been run yet."
_HEADLINE_ROWS = ("kn3", "kn3-all", "lbl5", "lstm-s", "lstm-z", "lstm-z-wb", "lstm-z-w")


def put_headline(text: str, tables: Tables) -> str:
    """A text with the headline and its table between the two marks; raises InputError where there are none."""
    before, first, rest = text.partition(HEADLINE_MARKS[0])
    _, last, after = rest.partition(HEADLINE_MARKS[1])
    if not first or not last:
        raise InputError(f"no place for the headline: put the lines {' and '.join(HEADLINE_MARKS)} where it is to go")
    found = tables["headline"]
    says = found["says"] if found else NO_HEADLINE
    return f"{before}{first}\n{says}\n\n{headline_table(tables)}\n{last}{after}"


def headline_table(tables: Tables) -> str:
    """Models by vocabulary sizes: our perplexity, the paper's in brackets, and what LSTM-z,w saves."""
    sizes = tables["vocab_sizes"]
    rows = []
    for model in _HEADLINE_ROWS:
        if row := tables["table3"].get(model):
            name = f"**{published.label(model)}**" if model == "lstm-z-w" else published.label(model)
            papers = [_beside(published.published_perplexity(model, size)) for size in sizes]
            rows.append([name, *(perplexity(row.get(str(size))) + paper for size, paper in zip(sizes, papers))])
    if saved := tables["table4_details"]["lstm-z-w"]:
        cells = [saved.get(str(size), {"percent": None, "paper": None}) for size in sizes]
        rows.append(
            ["numbers saved by LSTM-z,w", *(percent(each["percent"]) + _beside(each["paper"]) for each in cells)]
        )
    return _table(["perplexity (the paper's)", *(f"V = {size:,}" for size in sizes)], rows)


def _beside(paper: float | None) -> str:
    return "" if paper is None else f" ({paper:.1f})"


def results_readme(tables: Tables, figures: Sequence[Path]) -> str:
    """A README for a folder that holds `tables.json` and `figures/`: tables, figures, claims, controls, runs, hashes."""
    drawn = {path.stem for path in figures}
    found = tables["headline"]
    parts = [
        "# Results",
        "Written by `fewwords paper`; do not edit. The same as data: [tables.json](tables.json).",
        f"The paper: {published.AUTHORS}, “{published.TITLE}”, {published.VENUE}.",
        found["says"] if found else NO_HEADLINE,
        headline_table(tables),
        "The paper's KN3 is trained on 1.6 billion words, its neural models on 100 million.",
        "## Table 3: perplexity of each cell",
        _cells_table(tables),
        *_more_words(tables),
        "## Table 4: memory reduction",
        _memory_table(tables),
        "## Figures",
        *(f"![{name}](figures/{name}.png)\n\n{caption}" for name, caption in CAPTIONS.items() if name in drawn),
        "## What the paper claims",
        _table(
            ["claim", "verdict", "figures"],
            [[each["claim"], each["status"], each["says"]] for each in tables["claims"]],
        ),
        "## Controls",
        _controls_table(tables),
        "## Table 1: numbers stored",
        _counts_table(tables),
        "## Table 2: the corpus",
        _corpus_table(tables),
        "## Runs",
        _about(tables),
        _runs_table(tables),
        "Hashes of the corpus (SHA-256):",
        _table(["file", "hash"], [[name, f"`{digest}`"] for name, digest in tables["corpus"].items()]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(headers: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A markdown table; the first column to the left, the others as they come."""

    def line(cells: Iterable[object]) -> str:
        # a bar would end the cell, and <s> would be taken for HTML
        plain = (str(cell).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ") for cell in cells)
        return f"| {' | '.join(plain)} |"

    return "\n".join([line(headers), "|" + "---|" * len(headers), *(line(row) for row in rows)])


def _cells_table(tables: Tables) -> str:
    headers = [
        "model",
        "V",
        "words",
        "test",
        "seeds",
        "without </s>",
        "rare words",
        "dev",
        "paper",
        "ratio",
        "numbers",
        "MB",
    ]
    rows = [
        [
            published.label(model),
            f"{int(size):,}",
            quantity(entry["train_words"]),
            perplexity(entry),
            spread_note(entry) or entry["seeds"],
            figure(entry["ppl_without_end"]),
            figure(entry["ppl_rare_words"]),
            figure(entry["dev_ppl"]),
            figure(entry["paper"]),
            DASH if entry["ratio"] is None else f"{entry['ratio']:.2f}",
            number(entry["numbers"]),
            figure(None if entry["bytes"] is None else entry["bytes"] / 1e6),
        ]
        for model, row in tables["table3"].items()
        for size, entry in row.items()
    ]
    return _table(headers, rows)


def _more_words(tables: Tables) -> list[str]:
    rows = [
        [
            published.label(run["model"]),
            f"{run['vocab_size']:,}",
            quantity(run["train_words"]),
            perplexity(run),
            DASH if run["ratio_to_fewer"] is None else f"{run['ratio_to_fewer']:.3f}",
            figure(run["paper"]),
        ]
        for run in tables["more_words"]
    ]
    headers = ["model", "V", "words", "test", "over table 3's", "paper (100 M words)"]
    return ["## With more words", _table(headers, rows)] if rows else []


def _memory_table(tables: Tables) -> str:
    rows = [
        [
            published.label(model),
            f"{int(size):,}",
            percent(each["percent"], 2),
            percent(each["paper"], 2),
            DASH if each["points"] is None else signed(each["points"], 2),
            figure(each["nonzeros"]),
            percent(each["arithmetic_at_implied"], 2),
        ]
        for model, row in tables["table4_details"].items()
        for size, each in row.items()
    ]
    headers = ["model", "V", "saved", "paper", "points", "non-zeros a rare word", "arithmetic at the paper's non-zeros"]
    return _table(headers, rows)


def _controls_table(tables: Tables) -> str:
    rows = [
        [
            row["name"],
            published.label(row["model"]) if row["model"] else DASH,
            number(row["vocab_size"]),
            perplexity(row) if row["run"] else DASH,
            figure(row["reference_ppl"]),
            DASH if row["ratio"] is None else f"{row['ratio']:.3f}",
            row["says"],
        ]
        for row in tables["controls"]
    ]
    return _table(["control", "model", "V", "test", "against", "ratio", "what it says"], rows)


def _counts_table(tables: Tables) -> str:
    parts = ("embedding", "encoding", "prediction", "biases", "normaliser", "codes", "total")
    rows = [
        [published.label(model), f"{int(size):,}", *(number(memory.get(part)) for part in parts)]
        for model, row in tables["table1"]["counts"].items()
        for size, memory in row.items()
    ]
    return _table(["model", "V", *parts], rows)


def _corpus_table(tables: Tables) -> str:
    facts = ("words", "sentences", "used", "paper")
    rows = [[row["part"], *(number(row[fact]) for fact in facts)] for row in tables["table2"]["rows"]]
    return _table(["part", "running words", "sentences", "used by a run", "paper"], rows)


def _about(tables: Tables) -> str:
    return "\n".join(
        f"- {name}: {value}" for name, value in tables["about"].items() if isinstance(value, (str, int, float))
    )


def _runs_table(tables: Tables) -> str:
    rows = [
        [
            name,
            f"`{run['command']}`",
            run["commit"] or DASH,
            run["seed"],
            DASH if run["seconds"] is None else duration(run["seconds"]),
            run["machine"] or DASH,
        ]
        for name, run in tables["runs"].items()
    ]
    return _table(["run", "command", "commit", "seed", "time", "machine"], rows)
