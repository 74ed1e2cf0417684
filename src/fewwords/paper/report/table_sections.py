"""Tables 1 to 4 and the runs with more words, as sections of the report."""

from collections.abc import Mapping, Sequence
from typing import Any

from fewwords.paper.report.html_parts import Markup, element, paragraph, section, table, with_note
from fewwords.paper.tables import published
from fewwords.paper.tables.print_figures import DASH, figure, number, percent, perplexity, signed, spread_note
from fewwords.readable import quantity

Tables = Mapping[str, Any]


def columns(tables: Tables, small: bool) -> list[int]:
    """The vocabulary sizes to show: those of the paper too, unless the report is a small one."""
    return sorted({*tables["vocab_sizes"], *(() if small else published.VOCABULARY_SIZES)})


def table1(tables: Tables) -> Markup:
    """The formulae, and the numbers that the models store."""
    found = tables["table1"]
    formulae = table(
        ("sub-net", "LSTM", "feed-forward", "LSTM-z,w (coded)"),
        [[row[name] for name in ("subnet", "lstm", "ffnn", "coded")] for row in found["formulae"]],
        texts=(0, 1, 2, 3),
    )
    parts = ("embedding", "encoding", "prediction", "biases", "normaliser", "codes", "total")
    rows = [
        [with_note(published.label(model), f"V = {int(size):,}"), *(number(memory.get(part)) for part in parts)]
        for model, row in found["counts"].items()
        for size, memory in row.items()
    ]
    note = (
        "V vocabulary, B base words, E and C sizes of embedding and context. Codes are an index and a value for each non-zero of a "
        "rare word. Prediction without its biases, which have a column of their own; the encoding has PyTorch's second bias vector."
    )
    counted = element(
        "details", element("summary", "Numbers stored by each model"), table(("numbers stored", *parts), rows)
    )
    return section("table1", "Table 1. Parameters", formulae, paragraph(note, class_="soft"), counted if rows else "")


def table2(tables: Tables) -> Markup:
    """Running words of the parts."""
    found = tables["table2"]
    rows = [
        [row["part"], number(row["words"]), number(row["sentences"]), number(row["used"]), number(row["paper"])]
        for row in found["rows"]
    ]
    shares = [
        f"{share['test']:.2%} at {int(size):,}"
        for size, share in found["coverage"].items()
        if int(size) in tables["vocab_sizes"] and "test" in share
    ]
    note = f"{number(found['types'])} types in train." + (
        f" Running words of test that a vocabulary covers: {', '.join(shares)}." if shares else ""
    )
    return section(
        "table2",
        "Table 2. The corpus",
        table(("part", "running words", "sentences", "used by a run", "the paper"), rows),
        paragraph(note, class_="soft"),
    )


def table3(tables: Tables, small: bool) -> Markup:
    """Perplexities with the paper's beside them, and all details folded away."""
    sizes = columns(tables, small)
    models = [
        model
        for model in published.LABELS
        if model in tables["table3"] or not (small or model.endswith("-zero-bias") or model == "kn3-all")
    ]
    models += [model for model in tables["table3"] if model not in published.LABELS]
    rows = []
    for model in models:
        row = tables["table3"].get(model, {})
        cells = [
            _table3_cell(row.get(str(size)), None if small else published.published_perplexity(model, size))
            for size in sizes
        ]
        words = {entry["train_words"] for entry in row.values()}
        name = published.label(model) + (" †" if model.startswith("kn3") and not small else "")
        rows.append([with_note(name, f"{quantity(max(words))} words" if words else "not run yet"), *cells])
    note = "Test perplexity, explicitly normalised, <unk> and </s> counted."
    if not small:  # on another corpus the paper's figures say nothing
        note += (
            " Where a cell has several seeds: their mean and sample standard deviation. Below, the paper's figure and ours "
            "over it. The paper trained on 100 million words, † on 1.6 billion."
        )
    if any(entry["diverged"] for row in tables["table3"].values() for entry in row.values()):
        note += " Diverged: worse than a uniform guess over the vocabulary."
    pooled = tables["spread"]["pooled"]
    if pooled is not None:
        note += (
            " For cells with one seed the largest spread of the same model at other sizes stands in, or the largest of all, "
            f"{100 * pooled:.1f} %."
        )
    shown = table(_size_headers(sizes), rows, sticky=True)
    return section("table3", "Table 3. Perplexity", shown, paragraph(note, class_="soft"), _table3_details(tables))


def _table3_cell(entry: Mapping[str, Any] | None, paper: float | None) -> Markup:
    beside = "" if paper is None else f"paper {paper:.1f}"
    if entry is None:
        return with_note(DASH, beside)
    if paper is not None and entry["ratio"] is not None:
        beside += f" · {entry['ratio']:.2f}×"
    lines = [line for line in (spread_note(entry), beside) if line]
    return with_note(perplexity(entry), Markup("<br>".join(lines)))


def _table3_details(tables: Tables) -> Markup:
    rows = [
        [
            with_note(published.label(model), f"V = {int(size):,}"),
            *(figure(entry[fact]) for fact in ("ppl", "ppl_without_end", "ppl_without_unknown", "ppl_base_words")),
            *(figure(entry[fact]) for fact in ("ppl_rare_words", "dev_ppl")),
            DASH if entry["learning_rate"] is None else f"{entry['learning_rate']:g}",
            DASH if entry["gap_std"] is None else f"{signed(entry['gap_mean'], 3)} ± {entry['gap_std']:.3f}",
            number(entry["numbers"]),
            figure(None if entry["bytes"] is None else entry["bytes"] / 1e6),
            number(entry["train_words"]),
        ]
        for model, row in tables["table3"].items()
        for size, entry in row.items()
    ]
    headers = ("lowest seed", "test", "without </s>", "without <unk>", "base words", "rare words", "dev", "rate")
    more = ("ln Z less the normaliser's", "numbers stored", "MB on disk", "training words")
    return element(
        "details", element("summary", "All figures of each cell"), table((*headers, *more), rows), class_="details"
    )


def table4(tables: Tables, small: bool) -> Markup:
    """Memory reductions with the paper's beside them."""
    sizes = columns(tables, small)
    rows: list[list[object]] = []
    for model in published.TABLE_4:
        details = tables["table4_details"][model]
        if small and not details:
            continue
        cells = [_table4_cell(details.get(str(size)), published.TABLE_4[model].get(size)) for size in sizes]
        rows.append([published.label(model), *cells])
        implied = [details.get(str(size), {}).get("arithmetic_at_implied") for size in sizes]
        if any(each is not None for each in implied):
            notes = [f"at {published.IMPLIED_NONZEROS.get(size, 0):.1f}" for size in sizes]
            again = [with_note(percent(each, 2), "" if each is None else note) for each, note in zip(implied, notes)]
            rows.append([with_note("", "by table 1, at the paper's non-zeros"), *again])
    note = (
        "Numbers stored less than in LSTM-z of the same vocabulary. Sparse codes are included, with an index and a value "
        "for each non-zero of a rare word. The number of non-zeros in the paper is the one that its figure implies."
    )
    return section(
        "table4",
        "Table 4. Memory reduction",
        table(_size_headers(sizes), rows, sticky=True),
        paragraph(note, class_="soft"),
    )


def _table4_cell(found: Mapping[str, Any] | None, paper: float | None) -> Markup:
    lines = [] if paper is None else [f"paper {paper:.2f}"]
    if found and found["points"] is not None:
        lines[0] += f" · {signed(found['points'], 2)} points"
    if found and found["nonzeros"] is not None:
        lines.append(f"at {found['nonzeros']:.1f} non-zeros")
    return with_note(percent(found["percent"] if found else None, 2), Markup("<br>".join(lines)))


def _size_headers(sizes: Sequence[int]) -> list[str]:
    return ["", *(f"V = {size:,}" for size in sizes)]


def more_words(tables: Tables) -> Markup:
    """The runs with more words."""
    if not tables["more_words"]:
        return Markup("")
    rows = [
        [
            with_note(published.label(run["model"]), f"V = {run['vocab_size']:,}"),
            number(run["train_words"]),
            with_note(perplexity(run), spread_note(run)),
            DASH if run["ratio_to_fewer"] is None else f"{run['ratio_to_fewer']:.3f}",
            figure(run["paper"]),
            DASH if run["ratio"] is None else f"{run['ratio']:.2f}×",
        ]
        for run in tables["more_words"]
    ]
    headers = ("", "training words", "perplexity", "over table 3's", "the paper, 100 M words", "ours over it")
    beside = [
        f"{figure(entry['mean'])} at V = {int(size):,} ({quantity(entry['train_words'])} words)"
        for size, entry in tables["table3"].get("kn3-all", {}).items()
        if int(size) in {run["vocab_size"] for run in tables["more_words"]}
    ]
    note = paragraph(f"KN3 on all of train has {', '.join(beside)}.", class_="soft") if beside else ""
    return section("more_words", "With more words", table(headers, rows), note)
