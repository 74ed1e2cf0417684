"""Several seeds of one cell, and whether two cells differ by more than seeds do.

A cell's spread is the sample standard deviation of its perplexities over their mean. A cell with a single seed has none of its own;
the largest of the same model elsewhere stands in for it ("pooled"), or the largest of all where that model has none. Two cells
differ when their ratio is further from one than twice the larger of their spreads. Models whose biases start at zero are known to
be unstable, so their spread stands in for their like alone, and the largest of all for them. A Kneser-Ney model has no seed and
no spread.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """All seeds of one cell, the lowest seed first; `spread` is relative, and `pooled` when it is not the cell's own."""

    records: tuple[Record, ...]
    spread: float | None = None
    pooled: bool = False

    @property
    def first(self) -> Record:
        """The record of the lowest seed."""
        return self.records[0]

    @property
    def perplexities(self) -> list[float]:
        """The perplexities of the seeds that did not diverge."""
        return [float(each["ppl"]) for each in self.records if not has_diverged(each)]

    @property
    def mean(self) -> float | None:
        """The mean perplexity, or None when a seed diverged: a mean of the others would flatter the cell."""
        found = self.perplexities
        return statistics.fmean(found) if len(found) == len(self.records) else None


@dataclass(frozen=True)
class Comparison:
    """`ratio` of two mean perplexities with the spread to hold it against; None where it is not known."""

    ratio: float
    spread: float | None
    pooled: bool

    def side(self, of: float = 1.0) -> int | None:
        """-1 below `of`, 1 above, 0 within twice the spread of it, None without a spread."""
        if self.spread is None:
            return None
        distance = self.ratio / of - 1
        return 0 if abs(distance) <= 2 * self.spread else int(math.copysign(1, distance))

    @property
    def told(self) -> str:
        """`0.947 ± 0.008`."""
        return f"{self.ratio:.3f}" if self.spread is None else f"{self.ratio:.3f} ± {self.spread * self.ratio:.3f}"


def has_diverged(record: Record) -> bool:
    """Whether a model predicts worse than a uniform guess over its vocabulary, or nothing at all."""
    return record["ppl"] is None or not math.isfinite(record["ppl"]) or record["ppl"] > record["vocab_size"]


def starts_at_zero(record: Record) -> bool:
    """Whether the model's biases start at zero."""
    control = record.get("control") or {}
    return (control.get("table"), control.get("setting")) in (("bias start", "zero"), ("recipe", "paper")) or str(
        record["model"]
    ).endswith("-zero-bias")


def gather_cells(records: Iterable[Record]) -> dict[tuple[Any, ...], Cell]:
    """The records by what they are runs of (see `cell_key`), with a spread for each where one is known."""
    gathered: dict[tuple[Any, ...], list[Record]] = {}
    for record in sorted(records, key=lambda each: (each["seed"], each["name"])):
        gathered.setdefault(cell_key(record), []).append(record)
    own = {key: own_spread(found) for key, found in gathered.items()}
    steady = {key: spread for key, spread in own.items() if not starts_at_zero(gathered[key][0])}
    cells = {}
    for key, found in gathered.items():
        if str(found[0]["variant"]).startswith("kn"):
            cells[key] = Cell(tuple(found), 0.0)
            continue
        from_zero = starts_at_zero(found[0])
        alike = {} if from_zero else {each: spread for each, spread in steady.items() if each[1] == found[0]["model"]}
        pooled = _largest(alike) or _largest(own if from_zero else steady)
        spread = own[key]
        cells[key] = Cell(tuple(found), pooled if spread is None else spread, spread is None and pooled is not None)
    return cells


def _largest(spreads: Mapping[tuple[Any, ...], float | None]) -> float | None:
    return max((spread for spread in spreads.values() if spread is not None), default=None)


def cell_key(record: Record) -> tuple[Any, ...]:
    """Everything but the seed that tells one cell from another."""
    group = record["group"]
    # a row of table 3 can be a control too, and is one cell all the same
    control = (record.get("control") or {}) if group == "control" else {}
    more = record["train_words"] if group == "more words" else None
    return (group, record["model"], record["vocab_size"], control.get("table"), str(control.get("setting")), more)


def own_spread(records: Sequence[Record]) -> float | None:
    """The relative sample standard deviation over seeds, where there are two or more and none diverged."""
    if len(records) < 2 or any(has_diverged(record) for record in records):
        return None
    found = [float(record["ppl"]) for record in records]
    return statistics.stdev(found) / statistics.fmean(found)


def compare(left: Cell | None, right: Cell | None) -> Comparison | None:
    """The perplexity of one cell over that of another; None when either is missing or diverged."""
    if left is None or right is None or left.mean is None or right.mean is None:
        return None
    if left.spread is None or right.spread is None:
        return Comparison(left.mean / right.mean, None, False)
    wider = left if left.spread >= right.spread else right
    return Comparison(left.mean / right.mean, wider.spread, wider.pooled)
