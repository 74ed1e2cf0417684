"""The experiments of section 4 as a plan: one cell per model and vocabulary size, and controls that the paper left out.

Table 3 is run twice: on the same first words for every model (the budget), with several seeds and all controls, and on
all words of the training part, the paper's size, where a neural run takes from 20 minutes to an hour or more. All
neural cells share the default recipe of `TrainingSettings`; the LSTMs are untied, as in the paper, unless their row
says otherwise. `kn3` reads exactly the words that the neural cells of the budget read; `kn3-all` and `kn5-all` read all
words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fewwords.errors import InputError
from fewwords.models.neural.variants import VARIANTS
from fewwords.training.settings import Precision, TrainingSettings, preset_changes

Group = Literal["table 3", "more words", "control"]

DEFAULT_NONZEROS = 8
# A model that starts with bad biases has a high loss at first and recovers; these cells are there to show it.
_ZERO_BIAS = {"bias_start": "zero", "divergence": 0.0}
_UNTIED = {"tied": False}


@dataclass(frozen=True)
class Row:
    """What a row of the tables trains: a variant, its changes, and whether always on all words."""

    variant: str
    model_changes: Mapping[str, Any] = field(default_factory=dict)
    training_changes: Mapping[str, Any] = field(default_factory=dict)
    all_words: bool = False


ROWS: dict[str, Row] = {
    "kn3": Row("kn3"),
    "kn3-all": Row("kn3", all_words=True),
    "kn5-all": Row("kn5", all_words=True),
    "lbl5": Row("lbl5"),
    "lstm-s": Row("lstm-s"),
    "lstm-z": Row("lstm-z"),
    "lstm-z-wb": Row("lstm-z-wb", _UNTIED),
    "lstm-z-w": Row("lstm-z-w", _UNTIED),
    "lstm-z-tied": Row("lstm-z", {"tied": True}),
    "lstm-z-w-tied": Row("lstm-z-w", {"tied": True}),
    "lstm-s-zero-bias": Row("lstm-s", training_changes=_ZERO_BIAS),
    "lstm-z-zero-bias": Row("lstm-z", training_changes=_ZERO_BIAS),
}
MODELS = ("kn3", "kn3-all", "lbl5", "lstm-s", "lstm-z", "lstm-z-wb", "lstm-z-w", "lstm-s-zero-bias", "lstm-z-zero-bias")
VOCABULARY_SIZES = (10_000, 22_000, 36_000, 50_000)
LARGER_SIZES = (100_000, 200_000)  # beyond the paper's, where its idea matters most
DEFAULT_WORDS = 5_000_000
MORE_WORDS = (20_000_000,)
NUM_SEEDS = 3
REPEATED = ("lstm-s", "lstm-z", "lstm-z-w")  # rows that differ little: run with several seeds
CLOSEST = ("lstm-z", "lstm-z-wb")  # in the paper, which one is ahead depends on the size: run twice at every size


@dataclass(frozen=True)
class Control:
    """Which knob a cell turns, to which setting, and the cell that has the default for this knob."""

    table: str
    setting: str
    reference: str


@dataclass(frozen=True)
class Cell:
    """One run: `model` is its row in table 3, `variant` what is trained; `words` None means all.

    `tune_rate` chooses the rate on dev. `max_nonzeros` and `mean_nonzeros` are those of the codes.
    """

    name: str
    group: Group
    model: str
    variant: str
    vocabulary_size: int
    words: int | None
    seed: int = 1
    max_nonzeros: int = DEFAULT_NONZEROS
    mean_nonzeros: float | None = None
    model_changes: Mapping[str, Any] = field(default_factory=dict)
    training_changes: Mapping[str, Any] = field(default_factory=dict)
    tune_rate: bool = False
    control: Control | None = None

    @property
    def is_neural(self) -> bool:
        """Whether the cell is a neural model, not Kneser-Ney."""
        return self.variant in VARIANTS

    def at(self, precision: Precision) -> "Cell":
        """The same cell, trained in this precision."""
        if not self.is_neural or precision == TrainingSettings.precision:
            return self
        return replace(self, training_changes={**self.training_changes, "precision": precision})


def make_plan(
    words: int = DEFAULT_WORDS,
    vocabulary_sizes: Sequence[int] = VOCABULARY_SIZES,
    models: Sequence[str] = MODELS,
    *,
    more_words: Sequence[int] = MORE_WORDS,
    all_words: bool = False,
    larger_sizes: Sequence[int] = (),
    controls: bool = True,
    num_seeds: int = NUM_SEEDS,
) -> list[Cell]:
    """All cells, the most needed first.

    `more_words` are the budgets of further cells, two each, at the largest vocabulary. `all_words` adds the cells of
    the paper's size, at `larger_sizes` too. The controls and the repetitions with other seeds are made at the second
    vocabulary size, or at the only one.
    """
    unknown = [model for model in models if model not in MODELS]
    if unknown:
        raise InputError(f"`models` {unknown[0]}: no such row; choose from {', '.join(MODELS)}")
    if not vocabulary_sizes or len({*vocabulary_sizes, *larger_sizes}) < len(vocabulary_sizes) + len(larger_sizes):
        raise InputError("`vocab_sizes`: give at least one size, and each only once")
    if min(words, num_seeds, *more_words) < 1:
        raise InputError("words and seeds: choose 1 or more")
    main = sorted(vocabulary_sizes)[min(1, len(vocabulary_sizes) - 1)]
    rows = _Rows(words, main)
    order = [main, *sorted((size for size in vocabulary_sizes if size != main), reverse=True)]
    plan = [rows.cell(model, size) for model in models if not _is_neural(model) for size in order]
    if all_words:
        plan += _all_words_cells(rows, order, larger_sizes)
    plain = [model for model in models if model in VARIANTS]
    plan += [rows.cell(model, size) for size in order for model in plain]
    for budget in sorted({budget for budget in more_words if budget > words}):
        for model in ("kn3", "lstm-z", "lstm-z-w"):
            plan += [rows.longer_cell(model, max(order), budget)] if model in models else []
    from_zero = [model for model in models if model.endswith("-zero-bias")]
    repeated = [model for model in REPEATED if model in models]
    second_seeds, *more_seeds = [
        [rows.cell(model, main, seed) for model in repeated] for seed in range(2, num_seeds + 1)
    ] or [[]]
    plan += [*second_seeds, *(rows.cell(model, main) for model in from_zero)]
    controlled = [cell for cell in rows.control_cells() if controls and cell.variant in models]
    slow = [cell for cell in controlled if "loss" in cell.training_changes]
    plan += [cell for cell in controlled if cell not in slow]
    plan += [rows.cell(model, size) for size in order[1:] for model in from_zero]
    plan += [*slow, *(cell for cells in more_seeds for cell in cells)]
    if num_seeds > 1 and set(CLOSEST) <= set(models):
        twice = [rows.cell(model, size, 2) for size in order for model in CLOSEST]
        plan += [cell for cell in twice if cell not in plan]
    return plan


def planned_on_all_words() -> set[tuple[str, int]]:
    """The variants and vocabulary sizes of the whole plan's cells on all words."""
    plan = make_plan(all_words=True, larger_sizes=LARGER_SIZES)
    return {(cell.model.removesuffix("-all"), cell.vocabulary_size) for cell in plan if cell.words is None}


def _all_words_cells(rows: "_Rows", order: Sequence[int], larger_sizes: Sequence[int]) -> list[Cell]:
    """The cells on all words that are not in the rest of the plan, the most informative first."""
    main, largest = order[0], max(order)
    larger = sorted(larger_sizes, reverse=True)
    both = ("lstm-z-w", "lstm-z")
    wanted = [("kn3-all", size) for size in larger_sizes] + [("kn5-all", size) for size in order]
    wanted += [(model, largest) for model in (*both, "lstm-z-w-tied", "lstm-z-tied")]
    wanted += [(model, main) for model in both if main != largest]
    wanted += [("lstm-z-w", size) for size in larger[:1]]
    wanted += [(model, size) for size in order if size not in (main, largest) for model in both]
    wanted += [(model, largest) for model in ("lstm-s", "lstm-z-wb", "lbl5")]
    wanted += [("lstm-z-w", size) for size in larger[1:]]
    wanted += [("lstm-z", size) for size in larger[:1]]
    return [rows.longer_cell(model, size, None) for model, size in wanted]


def _is_neural(model: str) -> bool:
    return ROWS[model].variant in VARIANTS


@dataclass(frozen=True)
class _Rows:
    words: int
    main_size: int

    def cell(self, model: str, size: int, seed: int = 1) -> Cell:
        """A cell of table 3, on the words of the budget."""
        row = ROWS[model]
        words = None if row.all_words else self.words
        name = cell_name(model, size, words) + (f"-s{seed}" if seed > 1 else "")
        cell = Cell(
            name,
            "table 3",
            model,
            row.variant,
            size,
            words,
            seed,
            model_changes=row.model_changes,
            training_changes=row.training_changes,
        )
        if row.training_changes == _ZERO_BIAS and size == self.main_size:
            return replace(cell, control=Control("bias start", "zero", self._reference(row.variant)))
        if (model, size, seed) == ("lstm-s", self.main_size, 1):
            return replace(cell, control=Control("normaliser", "one", self._reference("lstm-z")))
        return cell

    def longer_cell(self, model: str, size: int, words: int | None) -> Cell:
        return replace(self.cell(model, size), name=cell_name(model, size, words), group="more words", words=words)

    def control_cells(self) -> Iterator[Cell]:
        both = ("lstm-z", "lstm-z-w")
        for variant in both:
            yield self._control(variant, "embedding start", "random", embedding_start="random")
        for codes in ("random", "nearest"):
            yield self._control("lstm-z-w", "codes", codes, codes=codes)
        for nonzeros in (4, 16):
            yield replace(self._control("lstm-z-w", "non-zeros", str(nonzeros)), max_nonzeros=nonzeros)
        yield self._model_control("lstm-z-w", "codes", "tuned", tune_codes=True)
        yield self._model_control("lstm-z", "normaliser", "constant", normaliser="constant")
        for variant in both:
            yield self._model_control(variant, "tying", "tied", tied=True)
        for variant in ("lstm-s", "lstm-z"):
            yield self._control(variant, "bias start", "uniform", **{**_ZERO_BIAS, "bias_start": "uniform"})
        for variant in both:
            yield self._control(variant, "noise", "shared by the batch", noise_group=0)
        for variant in ("lstm-z", "lstm-s", "lstm-z-w"):
            yield self._control(variant, "noise", "per position", loss="nce-per-position")
        for variant in ("lstm-z", "lstm-s", "lstm-z-w"):
            changes = preset_changes("paper", variant)
            changes.pop("tied", None)  # the rows are untied already
            yield replace(self._control(variant, "recipe", "paper", **changes), tune_rate=True)
        yield self._control("lstm-z", "loss", "softmax", loss="softmax")

    def _control(self, variant: str, knob: str, setting: str, **changes: Any) -> Cell:
        cell = self.cell(variant, self.main_size)
        name = f"{cell.name}-{knob}-{setting}".replace(" ", "-")
        control = Control(knob, setting, self._reference(variant))
        return replace(cell, name=name, group="control", training_changes=changes, control=control)

    def _model_control(self, variant: str, knob: str, setting: str, **changes: Any) -> Cell:
        cell = self._control(variant, knob, setting)
        return replace(cell, model_changes={**cell.model_changes, **changes})

    def _reference(self, variant: str) -> str:
        return cell_name(variant, self.main_size, self.words)


def cell_name(model: str, size: int, words: int | None) -> str:
    """`lstm-z-v22000-w5M`."""
    if words is None:
        return f"{model}-v{size}"
    for factor, letter in ((1_000_000, "M"), (1_000, "k")):
        if words % factor == 0:
            return f"{model}-v{size}-w{words // factor}{letter}"
    return f"{model}-v{size}-w{words}"
