"""From the records of finished cells to one object, `tables.json`: tables 1 to 4, figure 4, claims, controls, runs.

A record is what `fewwords paper` writes when a cell is done. Several seeds of one cell become one entry: `ppl` is that of the
lowest seed, `mean` that of all, `spread` their sample standard deviation. Missing cells are absent, diverged ones have no mean.
"""

import math
import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from fewwords.models.neural.memory import memory_reduction
from fewwords.paper.tables import published
from fewwords.paper.tables.claims import make_claims
from fewwords.paper.tables.controls import make_controls
from fewwords.paper.tables.headline import make_headline
from fewwords.paper.tables.memory_grid import base_rows, memory_grid
from fewwords.paper.tables.seeds import Cell, Record, cell_key, compare, gather_cells, starts_at_zero
from fewwords.vocabulary import NUM_SPECIAL

FORMAT = "fewwords tables 1"
_RUN_FACTS = (
    "command",
    "commit",
    "version",
    "seed",
    "seconds",
    "words_per_second",
    "machine",
    "finished",
    "learning_rate",
)
_CELL_FACTS = ("ppl_without_end", "ppl_without_unknown", "ppl_rare_words", "ppl_base_words", "dev_ppl", "oov_rate")
_MORE_FACTS = (
    "train_words",
    "test_words",
    "seed",
    "learning_rate",
    "gap_mean",
    "gap_std",
    "numbers",
    "bytes",
    "seconds",
)


def make_tables(records: Iterable[Record], corpus: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """All tables of section 4, from the records of cells, `corpus.json` and what the caller says about the whole."""
    clean = [without_nonfinite(record) for record in records]
    cells = gather_cells(clean)
    rows = {key[1:3]: cell for key, cell in cells.items() if key[0] == "table 3"}
    sizes = sorted({size for _, size in rows})
    reductions = {
        model: {
            str(size): rows[model, size].first["reduction_percent"]
            for size in sizes
            if (model, size) in rows and rows[model, size].first["reduction_percent"] is not None
        }
        for model in published.TABLE_4
    }
    details = _table4_details(reductions, rows)
    more_words = _more_words(cells)
    return {
        "format": FORMAT,
        "about": without_nonfinite(about),
        "headline": make_headline(rows, sizes, reductions, more_words),
        "vocab_sizes": sizes,
        "table1": _table1(rows),
        "table2": _table2(corpus, rows),
        "table3": {
            model: {str(size): _entry(rows[model, size]) for size in sizes if (model, size) in rows}
            for model in _in_order(model for model, _ in rows)
        },
        "table4": reductions,
        "table4_details": details,
        "more_words": more_words,
        "controls": make_controls(cells),
        "figure4": memory_grid(rows),
        "claims": make_claims(rows, sizes, details, _controls(cells)),
        "spread": _spread(cells),
        "runs": {
            record["name"]: {fact: record.get(fact) for fact in _RUN_FACTS}
            for record in sorted(clean, key=lambda each: str(each["name"]))
        },
        "corpus": next((record["corpus"] for record in clean if record.get("corpus")), dict(corpus.get("sha256", {}))),
    }


def without_nonfinite(value: Any) -> Any:
    """The same with None for every number that JSON cannot say."""
    if isinstance(value, Mapping):
        return {key: without_nonfinite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nonfinite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _controls(cells: Mapping[tuple[Any, ...], Cell]) -> dict[tuple[str, str], dict[tuple[str, int], Cell]]:
    """The cells of controls by knob and setting, then by model and vocabulary size."""
    found: dict[tuple[str, str], dict[tuple[str, int], Cell]] = {}
    for (group, model, size, knob, setting, _), cell in cells.items():
        if group == "control":
            found.setdefault((knob, setting), {})[model, size] = cell
    return found


def _in_order(models: Iterable[str]) -> list[str]:
    order = list(published.LABELS)
    return sorted(set(models), key=lambda model: (order.index(model) if model in order else len(order), model))


def _entry(cell: Cell) -> dict[str, Any]:
    """A cell of table 3, with the paper's figure and ours over it."""
    first, mean = cell.first, cell.mean
    paper = published.published_perplexity(str(first["model"]), first["vocab_size"])
    return {
        "ppl": first["ppl"],
        "mean": mean,
        "spread": statistics.stdev(cell.perplexities) if mean is not None and len(cell.records) > 1 else None,
        "relative_spread": cell.spread,
        "pooled": cell.pooled,
        "seeds": len(cell.records),
        "diverged": mean is None,
        **{fact: first.get(fact) for fact in (*_CELL_FACTS, *_MORE_FACTS)},
        "paper": paper,
        "paper_train_words": None if paper is None else published.published_train_words(str(first["model"])),
        "ratio": None if paper is None or mean is None else mean / paper,
        "run": first["name"],
        "runs": [record["name"] for record in cell.records],
    }


def _table1(rows: Mapping[tuple[str, int], Cell]) -> dict[str, Any]:
    """The formulae, and what models and formulae count at each vocabulary size."""
    counted = {key: cell.first for key, cell in rows.items() if cell.first.get("memory")}
    models = _in_order(model for model, _ in counted if not model.endswith("-zero-bias"))
    return {
        "formulae": [dict(zip(("subnet", "lstm", "ffnn", "coded"), row)) for row in published.TABLE_1],
        **{
            name: {
                model: {str(size): record[fact] for (row, size), record in sorted(counted.items()) if row == model}
                for model in models
            }
            for name, fact in (("counts", "memory"), ("from_formulae", "formula_memory"))
        },
    }


def _table2(corpus: Mapping[str, Any], rows: Mapping[tuple[str, int], Cell]) -> dict[str, Any]:
    """Running words of the parts, the paper's beside ours; `used` is what the runs took of a part."""
    parts = corpus.get("parts", {})
    trained = [cell.first["train_words"] for (model, _), cell in rows.items() if not model.startswith("kn3")]
    tested = [cell.first["test_words"] for cell in rows.values()]
    counted = [cell.first["train_words"] for (model, _), cell in rows.items() if model.startswith("kn3")]
    used = {
        "train (n-gram)": max(counted, default=None),
        "train (neural)": max(trained, default=None),
        "test": max(tested, default=None),
    }
    lines = []
    for name, paper in published.TABLE_2.items():
        part = parts.get(name.split()[0], {})
        lines.append(
            {
                "part": name,
                "words": part.get("words"),
                "sentences": part.get("sentences"),
                "used": used.get(name),
                "paper": paper,
            }
        )
    return {"rows": lines, "types": corpus.get("types"), "coverage": corpus.get("coverage", {})}


def _table4_details(reductions: Mapping[str, Any], rows: Mapping[tuple[str, int], Cell]) -> dict[str, Any]:
    """For each figure of table 4 the paper's, and the arithmetic of table 1 at our non-zeros and at those the paper implies."""
    details: dict[str, Any] = {}
    for model, row in reductions.items():
        details[model] = {}
        for size, percent in row.items():
            record = rows[model, int(size)].first
            nonzeros = record["nonzeros_per_rare_word"]
            # with another number of base words it would be another sum
            as_in_the_paper = base_rows(record) - NUM_SPECIAL == published.BASE_SIZE
            paper = published.TABLE_4[model].get(int(size)) if as_in_the_paper else None
            coded_bias = model == "lstm-z-wb"
            implied = published.IMPLIED_NONZEROS.get(int(size)) if as_in_the_paper else None
            details[model][size] = {
                "percent": percent,
                "paper": paper,
                "points": None if paper is None else percent - paper,
                "nonzeros": nonzeros,
                "arithmetic": None
                if nonzeros is None
                else memory_reduction(int(size), base_rows(record), nonzeros, coded_bias=coded_bias),
                "implied_nonzeros": implied,
                "arithmetic_at_implied": None
                if implied is None
                else memory_reduction(int(size), published.BASE_SIZE, implied, coded_bias=coded_bias),
                "run": record["name"],
            }
    return details


def _more_words(cells: Mapping[tuple[Any, ...], Cell]) -> list[dict[str, Any]]:
    """The runs with more words, each against the same cell of table 3."""
    found = []
    for cell in cells.values():
        if cell.first["group"] == "more words":
            fewer = cells.get(cell_key({**cell.first, "group": "table 3"}))
            against = compare(cell, fewer)
            found.append(
                {
                    "model": cell.first["model"],
                    "vocab_size": cell.first["vocab_size"],
                    **_entry(cell),
                    "fewer_words": fewer.first["train_words"] if fewer else None,
                    "ratio_to_fewer": against.ratio if against else None,
                }
            )
    order = _in_order(each["model"] for each in found)
    return sorted(found, key=lambda each: (each["vocab_size"], order.index(each["model"]), each["train_words"]))


def _spread(cells: Mapping[tuple[Any, ...], Cell]) -> dict[str, Any]:
    """The largest spread of seeds, and how many cells have several."""
    several = [cell for cell in cells.values() if len(cell.records) > 1]
    own = [cell.spread for cell in several if cell.spread is not None and not starts_at_zero(cell.first)]
    return {"pooled": max(own, default=None), "cells_with_several_seeds": len(several)}
