"""The record of a finished cell, `paper/cells/NAME.json`: everything that tables and figures need, typed.

The names of the fields are those in the file. A number that JSON cannot hold (a perplexity that is not finite) is
written as null.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from fewwords.models.memory import Memory
from fewwords.models.neural.variants import VARIANTS
from fewwords.paper.plan import Cell, Control, Group
from fewwords.store.files import read_json, write_json
from fewwords.store.typed import describe
from fewwords.training.summary import Trial

FORMAT = "fewwords cell 1"


@dataclass(frozen=True, kw_only=True)
class CurveLine:
    """One evaluation while training."""

    words: int
    steps: int | None = None
    seconds: float | None = None
    loss: float | None = None
    dev_loss: float | None = None
    dev_perplexity: float | None = None
    log_z_mean: float | None = None
    log_z_std: float | None = None
    gap_mean: float | None = None
    gap_std: float | None = None
    learning_rate: float | None = None
    words_per_second: float | None = None


@dataclass(frozen=True, kw_only=True)
class Record:
    """One run: its settings, how good and how large the model is, and what the run took."""

    name: str
    group: Group
    model: str
    variant: str
    vocab_size: int
    base_size: int
    seed: int
    control: Control | None = None
    train_words: int
    test_words: int
    oov_rate: float
    ppl: float | None
    ppl_without_end: float | None
    ppl_without_unknown: float | None
    ppl_base_words: float | None
    ppl_rare_words: float | None
    dev_ppl: float | None
    learning_rate: float | None = None
    trials: tuple[Trial, ...] = ()
    gap_mean: float | None = None
    gap_std: float | None = None
    memory: Memory | None = None
    formula_memory: Memory | None = None
    numbers: int
    bytes: int
    reduction_percent: float | None = None
    nonzeros_per_rare_word: float | None = None
    seconds: float
    words_per_second: float
    curve: tuple[CurveLine, ...] = ()
    command: str
    commit: str | None = None
    version: str
    machine: str
    finished: str
    corpus: Mapping[str, str] | None = None

    @property
    def is_neural(self) -> bool:
        """Whether the model is neural, not Kneser-Ney."""
        return self.variant in VARIANTS

    @property
    def has_diverged(self) -> bool:
        """Whether the model predicts worse than a uniform guess over its vocabulary, or nothing at all."""
        return self.ppl is None or not math.isfinite(self.ppl) or self.ppl > self.vocab_size

    @property
    def starts_at_zero(self) -> bool:
        """Whether the model's biases start at zero."""
        knob = None if self.control is None else (self.control.table, self.control.setting)
        return knob in (("bias start", "zero"), ("recipe", "paper")) or self.model.endswith("-zero-bias")

    @classmethod
    def from_json(cls, value: object, file: str | Path) -> "Record":
        """The record in a file; raises InputError naming the file if it is not one."""
        return describe(value, file, cls, FORMAT, "the record of a cell", "remove it to run the cell again")

    def to_json(self) -> dict[str, Any]:
        """The record for a JSON file."""
        values: dict[str, Any] = {"format": FORMAT, **{field.name: getattr(self, field.name) for field in fields(self)}}
        for name in ("memory", "formula_memory"):
            values[name] = None if values[name] is None else values[name].to_json()
        for name in ("trials", "curve"):
            values[name] = [asdict(each) for each in values[name]]
        values["control"] = None if self.control is None else asdict(self.control)
        return values


def record_path(work: Path, cell: Cell) -> Path:
    """Where the record of a cell is."""
    return work / "paper" / "cells" / f"{cell.name}.json"


def read_record(work: Path, cell: Cell) -> Record | None:
    """The record of a finished cell; None if it is not finished. Raises InputError for a damaged one."""
    path = record_path(work, cell)
    return Record.from_json(read_json(path), path) if path.is_file() else None


def write_record(work: Path, cell: Cell, record: Record) -> None:
    """Write the record of a cell atomically."""
    path = record_path(work, cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, record.to_json())
