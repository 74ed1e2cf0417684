"""The report as a value: the headline, then tables and figures in order; `tables.json` is its data.

The paper's size comes first, the small budget with its seeds and controls second, the corpus and how to reproduce it
all last.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fewwords.evaluation.spelling import Spelled
from fewwords.paper.report.differences import differences_table
from fewwords.paper.report.figures import CODES, CURVES, SIZES, WORDS
from fewwords.paper.report.markdown import markdown_table
from fewwords.paper.tables.claims import Claim, claims_table, make_claims
from fewwords.paper.tables.controls import ControlRow, controls_table, make_controls
from fewwords.paper.tables.corpus_table import corpus_table
from fewwords.paper.tables.headline import MISSING, Headline, headline_table, make_headline
from fewwords.paper.tables.memory import counts_table, formulae_table, reduction_table
from fewwords.paper.tables.perplexity import cells_table, longer_table, small_table, whole_table
from fewwords.paper.tables.reproduce import about_table, hashes_table, runs_table
from fewwords.paper.tables.results import Results
from fewwords.paper.tables.spelled import spelled_table
from fewwords.paper.tables.table import Figure, Table

FORMAT = "fewwords tables 2"
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


@dataclass(frozen=True)
class Report:
    """The content of the report, whatever shows it."""

    results: Results
    headline: Headline | None
    headline_table: Table
    claims: Sequence[Claim]
    controls: Sequence[ControlRow]
    contents: Sequence[Table | Figure]
    spelled: Mapping[int, Spelled]
    hashes: Mapping[str, str]
    note: str | None = None

    @property
    def says(self) -> str:
        """The headline's sentences, and the note where there is one."""
        said = MISSING if self.headline is None else self.headline.says
        return said if self.note is None else f"{said} {self.note}"

    @property
    def headline_markdown(self) -> str:
        """The sentences and the table, as they go into a README."""
        return f"{self.says}\n\n{markdown_table(self.headline_table)}"

    def to_json(self) -> dict[str, Any]:
        """All of it as strict JSON, with the runs behind it."""
        facts = None if self.headline is None else asdict(self.headline)
        controls = [
            {
                "knob": row.knob,
                "setting": row.setting,
                "model": row.model,
                "run": None if row.runs is None else row.runs.first.name,
                "reference": None if row.reference is None else row.reference.first.name,
                "ratio": None if row.comparison is None else row.comparison.ratio,
                "says": row.says,
            }
            for row in self.controls
        ]
        cells = [
            {
                "model": runs.first.model,
                "vocab_size": runs.first.vocab_size,
                "group": runs.first.group,
                "train_words": runs.first.train_words,
                "mean": runs.mean,
                "relative_spread": runs.spread,
                "pooled": runs.pooled,
                "runs": [record.name for record in runs.records],
            }
            for runs in self.results.cells
        ]
        runs = {record.name: {fact: getattr(record, fact) for fact in _RUN_FACTS} for record in self.results.records}
        tables = [each for each in self.contents if isinstance(each, Table)]
        found = {
            "format": FORMAT,
            "headline": {"says": self.says, "markdown": self.headline_markdown, "facts": facts},
            "tables": {table.name: asdict(table) for table in tables},
            "claims": [asdict(claim) for claim in self.claims],
            "controls": controls,
            "cells": cells,
            "spelled": {size: asdict(each) for size, each in self.spelled.items()},
            "runs": runs,
            "corpus": dict(self.hashes),
        }
        return {name: _strict(each) for name, each in found.items()}


def make_report(
    results: Results,
    corpus: Mapping[str, Any],
    about: Mapping[str, str],
    *,
    drawn: Collection[str] = (),
    spelled: Mapping[int, Spelled] | None = None,
    note: str | None = None,
) -> Report:
    """The report of results: `corpus` is what `corpus.json` says, `about` what the caller does, `drawn` names figures.

    `note` is a sentence of the caller's to go with the headline.
    """
    spelled = spelled or {}
    headline, claims, controls = make_headline(results, spelled), make_claims(results), make_controls(results)
    known = [record.corpus for record in results.records if record.corpus]
    hashes = known[0] if known else corpus.get("sha256", {})
    contents: list[Table | Figure | None] = [
        whole_table(results),
        WORDS,
        reduction_table(results),
        SIZES,
        spelled_table(results, spelled),
        claims_table(claims),
        small_table(results),
        longer_table(results),
        controls_table(controls),
        CURVES,
        CODES,
        formulae_table(),
        counts_table(results),
        corpus_table(results, corpus),
        differences_table(results, corpus),
        cells_table(results),
        about_table(about),
        runs_table(results),
        hashes_table(hashes),
    ]
    shown = [each for each in contents if isinstance(each, Table) or (each is not None and each.name in drawn)]
    table = headline_table(results, headline, spelled)
    return Report(results, headline, table, claims, controls, shown, spelled, hashes, note)


def _strict(value: Any) -> Any:
    """The same as strict JSON: text for keys, lists, and None for every number that is not finite."""
    if isinstance(value, Mapping):
        return {str(key): _strict(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
