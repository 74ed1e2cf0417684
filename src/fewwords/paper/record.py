"""The record of a finished cell, `paper/cells/NAME.json`: everything that tables and figures need, typed.

The names of the fields are those in the file. Reading is strict: unknown names, missing ones without a default, and
values of another type are rejected. A number that JSON cannot hold (a perplexity that is not finite) is read as None.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from fewwords.errors import InputError
from fewwords.models.memory import Memory
from fewwords.models.neural.variants import VARIANTS
from fewwords.paper.plan import Cell, Control, Group
from fewwords.store.files import read_json, write_json
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
        try:
            if not isinstance(value, dict) or value.get("format") != FORMAT:
                raise _UnfitError(f"the format is not {FORMAT!r}")
            record: Record = _read_object(cls, {name: each for name, each in value.items() if name != "format"}, "")
            return record
        except _UnfitError as error:
            raise InputError(f"{file}: not the record of a cell ({error}); remove it to run the cell again") from None

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


class _UnfitError(Exception):
    """What is wrong with a value, and where."""


def _read_object(kind: Any, value: object, place: str) -> Any:
    """A dataclass from a JSON object of its fields."""
    if not isinstance(value, dict):
        raise _UnfitError(f"{place} is not an object")
    prefix = f"{place}." if place else ""
    types, known = get_type_hints(kind), {field.name: field for field in fields(kind)}
    for name in value:
        if name not in known:
            raise _UnfitError(f"{prefix}{name} is not a known name")
    for name, field in known.items():
        if name not in value and field.default is MISSING:
            raise _UnfitError(f"{prefix}{name} is missing")
    return kind(**{name: _read(types[name], each, prefix + name) for name, each in value.items()})


def _read(kind: Any, value: Any, place: str) -> Any:
    """A JSON value as one of the types of the fields above."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        absent = value is None or (isinstance(value, float) and not math.isfinite(value))
        return None if absent else _read(next(each for each in inner if each is not NoneType), value, place)
    if kind is Memory:
        return _read_memory(value, place)
    if is_dataclass(kind):
        return _read_object(kind, value, place)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(inner[0], each, f"{place}[{number}]") for number, each in enumerate(value))
    if origin is Mapping and isinstance(value, dict):
        return {name: _read(inner[1], each, f"{place}.{name}") for name, each in value.items()}
    if origin is Literal and value in inner:
        return value
    accepted = {int: (int,), float: (int, float), str: (str,)}.get(kind, ())
    if isinstance(value, accepted) and not isinstance(value, bool):
        return value
    raise _UnfitError(f"{place} is {value!r:.40}")


def _read_memory(value: Any, place: str) -> Memory:
    """The reverse of `Memory.to_json`; its sums must be right."""
    try:
        parts = {name: value[name] for name in ("embedding", "encoding", "prediction", "biases", "normaliser", "codes")}
        memory = Memory(**parts, second_biases=value["total"] - value["paper_total"])
        fits = memory.to_json() == value
    except (KeyError, TypeError):
        fits = False
    if not fits:
        raise _UnfitError(f"{place} does not add up")
    return memory
