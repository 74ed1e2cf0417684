"""Several seeds of one cell, and whether two cells differ by more than seeds do.

A cell's spread is the sample standard deviation of its perplexities over their mean. A cell with a single seed has no
spread of its own; the largest of the same model elsewhere is used instead ("pooled"), or the largest of all if that
model has none. Two cells differ if their ratio is further from one than twice the larger of their spreads. Models whose
biases start at zero are known to be unstable, so their spread is used only for models like them, which without one get
the largest of all. A Kneser-Ney model has no seed and no spread.
"""

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fewwords.paper.record import Record


class CellKey(NamedTuple):
    """Everything but the seed that tells one cell from another."""

    group: str
    model: str
    vocab_size: int
    knob: str | None
    setting: str | None
    train_words: int | None


@dataclass(frozen=True)
class Runs:
    """All seeds of one cell, the lowest seed first; `spread` is relative, and `pooled` if it is not the cell's own."""

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
        return [each.ppl for each in self.records if each.ppl is not None and not each.has_diverged]

    @property
    def mean(self) -> float | None:
        """The mean perplexity, or None if a seed diverged: a mean of the others would flatter the cell."""
        found = self.perplexities
        return statistics.fmean(found) if len(found) == len(self.records) else None

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation of the perplexities, if there are several and none diverged."""
        return statistics.stdev(self.perplexities) if self.mean is not None and len(self.records) > 1 else None


@dataclass(frozen=True)
class Comparison:
    """`ratio` of two mean perplexities with the spread to compare it with; None if unknown."""

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


def gather_runs(records: Iterable[Record]) -> dict[CellKey, Runs]:
    """The records grouped by cell, with a spread for each if one is known."""
    gathered: dict[CellKey, list[Record]] = {}
    for record in sorted(records, key=lambda each: (each.seed, each.name)):
        gathered.setdefault(cell_key(record), []).append(record)
    own = {key: Runs(tuple(found)) for key, found in gathered.items()}
    spreads = {key: _own_spread(runs) for key, runs in own.items()}
    steady = {key: spread for key, spread in spreads.items() if not own[key].first.starts_at_zero}
    cells = {}
    for key, runs in own.items():
        if not runs.first.is_neural:
            cells[key] = Runs(runs.records, 0.0)
            continue
        from_zero = runs.first.starts_at_zero
        alike = {} if from_zero else {each: spread for each, spread in steady.items() if each.model == key.model}
        pooled = _largest(alike) or _largest(spreads if from_zero else steady)
        spread = spreads[key]
        cells[key] = Runs(runs.records, pooled if spread is None else spread, spread is None and pooled is not None)
    return cells


def largest_spread(cells: Iterable[Runs]) -> float | None:
    """The largest spread that was measured among models that do not start at zero."""
    own = [cell.spread for cell in cells if len(cell.records) > 1 and not cell.first.starts_at_zero]
    return max((spread for spread in own if spread is not None), default=None)


def cell_key(record: Record) -> CellKey:
    """The cell that a record belongs to."""
    # a row of table 3 can also be a control, but is only one cell
    control = record.control if record.group == "control" else None
    knob, setting = (None, None) if control is None else (control.table, control.setting)
    more = record.train_words if record.group == "more words" else None
    return CellKey(record.group, record.model, record.vocab_size, knob, setting, more)


def compare(left: Runs | None, right: Runs | None) -> Comparison | None:
    """The perplexity of one cell over that of another; None if either is missing or diverged."""
    if left is None or right is None or left.mean is None or right.mean is None:
        return None
    if left.spread is None or right.spread is None:
        return Comparison(left.mean / right.mean, None, False)
    wider = left if left.spread >= right.spread else right
    return Comparison(left.mean / right.mean, wider.spread, wider.pooled)


def _own_spread(runs: Runs) -> float | None:
    return None if runs.deviation is None or runs.mean is None else runs.deviation / runs.mean


def _largest(spreads: Mapping[CellKey, float | None]) -> float | None:
    return max((spread for spread in spreads.values() if spread is not None), default=None)
