"""The experiments of section 4 as a plan: one cell for each model and vocabulary size, and the controls that the paper left out.

Table 3's neural rows share one start (log-unigram biases, embedding from the word vectors), one budget and one way to choose the
rate: on dev, by the cell of its variant at the vocabulary size of the controls, and the same rate for all other cells of the
variant. `kn3` reads the very words that the neural cells read, `kn3-all` all there are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fewwords.errors import InputError
from fewwords.models.variants import VARIANTS

Group = Literal["table 3", "more words", "control"]

MODELS = ("kn3", "kn3-all", "lbl5", "lstm-s", "lstm-z", "lstm-z-wb", "lstm-z-w", "lstm-s-zero-bias", "lstm-z-zero-bias")
VOCABULARY_SIZES = (10_000, 22_000, 36_000, 50_000)
DEFAULT_WORDS = 5_000_000
MORE_WORDS = (20_000_000,)
NUM_SEEDS = 3
DEFAULT_NONZEROS = 8
REPEATED = ("lstm-s", "lstm-z", "lstm-z-w")  # the rows whose differences are small: run with several seeds
CLOSEST = ("lstm-z", "lstm-z-wb")  # the paper has one ahead at some sizes and the other at others: twice at every size
_SHARED_START = {"embedding_start": "vectors", "bias_start": "unigram"}
# A model that starts far from its biases loses much at first and recovers; that is what these cells are to show.
_ZERO_BIAS = {"bias_start": "zero", "divergence": 0.0}


@dataclass(frozen=True)
class Control:
    """Which knob a cell turns, to which setting, and the cell that has the knob where it usually is."""

    table: str
    setting: str
    reference: str


@dataclass(frozen=True)
class Cell:
    """One run: `model` is its row in table 3, `variant` what is trained; `words` None means all there are.

    `rate_from` names the cell whose rate it takes; without it the rate is chosen on dev. `max_nonzeros` is that of the codes.
    """

    name: str
    group: Group
    model: str
    variant: str
    vocabulary_size: int
    words: int | None
    seed: int = 1
    max_nonzeros: int = DEFAULT_NONZEROS
    model_changes: Mapping[str, Any] = field(default_factory=dict)
    training_changes: Mapping[str, Any] = field(default_factory=dict)
    rate_from: str | None = None
    control: Control | None = None

    @property
    def is_neural(self) -> bool:
        """Whether the cell is a neural model, not Kneser-Ney."""
        return self.variant in VARIANTS


def make_plan(
    words: int = DEFAULT_WORDS,
    vocabulary_sizes: Sequence[int] = VOCABULARY_SIZES,
    models: Sequence[str] = MODELS,
    *,
    more_words: Sequence[int | None] = MORE_WORDS,
    controls: bool = True,
    num_seeds: int = NUM_SEEDS,
) -> list[Cell]:
    """All cells, in an order in which what is needed most comes first and what others depend on comes before them.

    `more_words` are the budgets of further cells, two each, at the largest vocabulary (None: all words). The controls, the choice
    of the rates and the repetitions with other seeds are made at the second of the vocabulary sizes, or at the only one.
    """
    unknown = [model for model in models if model not in MODELS]
    if unknown:
        raise InputError(f"--models {unknown[0]}: no such row; choose from {', '.join(MODELS)}")
    if not vocabulary_sizes or len(set(vocabulary_sizes)) < len(vocabulary_sizes):
        raise InputError("--vocab-sizes: give each size once, and one at least")
    if min(words, num_seeds, *(budget for budget in more_words if budget is not None)) < 1:
        raise InputError("words and seeds: choose 1 or more")
    main = sorted(vocabulary_sizes)[min(1, len(vocabulary_sizes) - 1)]
    rows = _Rows(words, main)
    order = [main, *sorted((size for size in vocabulary_sizes if size != main), reverse=True)]
    plan = [rows.table_cell(model, size) for model in models if model.startswith("kn") for size in order]
    plain = [model for model in models if model in VARIANTS]
    plan += [rows.table_cell(model, size) for size in order for model in plain]
    longer = [budget for budget in more_words if budget is None or budget > words]
    for budget in sorted(set(longer), key=lambda budget: (budget is None, budget)):
        for model in ("lstm-z", "lstm-z-w"):
            plan += [rows.longer_cell(model, max(vocabulary_sizes), budget)] if model in models else []
    from_zero = [model for model in models if model.endswith("-zero-bias")]
    repeated = [model for model in REPEATED if model in models]
    second_seeds, *more_seeds = [
        [rows.table_cell(model, main, seed) for model in repeated] for seed in range(2, num_seeds + 1)
    ] or [[]]
    plan += [*second_seeds, *(rows.table_cell(model, main) for model in from_zero)]
    controlled = [cell for cell in rows.control_cells() if controls and cell.variant in models]
    slow = [cell for cell in controlled if "loss" in cell.training_changes]
    plan += [cell for cell in controlled if cell not in slow]
    plan += [rows.table_cell(model, size) for size in order[1:] for model in from_zero]
    plan += [*slow, *(cell for cells in more_seeds for cell in cells)]
    if num_seeds > 1 and set(CLOSEST) <= set(models):
        twice = [rows.table_cell(model, size, 2) for size in order for model in CLOSEST]
        plan += [cell for cell in twice if cell not in plan]
    names = {cell.name for cell in plan}
    # a row left out takes the choice of its rate with it
    return [cell if cell.rate_from in names else replace(cell, rate_from=None) for cell in plan]


@dataclass(frozen=True)
class _Rows:
    words: int
    main_size: int

    def table_cell(self, model: str, size: int, seed: int = 1) -> Cell:
        if model.startswith("kn"):
            words = None if model == "kn3-all" else self.words
            return Cell(_name(model, size, words), "table 3", model, "kn3", size, words)
        variant = model.removesuffix("-zero-bias")
        changes = {**_SHARED_START, **(_ZERO_BIAS if variant != model else {})}
        cell = self._cell(model, variant, size, changes, seed=seed)
        if variant != model and size == self.main_size:
            return replace(cell, control=Control("bias start", "zero", self._reference(variant)))
        if (model, size, seed) == ("lstm-s", self.main_size, 1):
            return replace(cell, control=Control("normaliser", "one", self._reference("lstm-z")))
        return cell

    def longer_cell(self, model: str, size: int, words: int | None) -> Cell:
        cell = self._cell(model, model, size, _SHARED_START)
        chooser = self._reference(model)
        return replace(cell, name=_name(model, size, words), group="more words", words=words, rate_from=chooser)

    def control_cells(self) -> Iterator[Cell]:
        for variant in ("lstm-z", "lstm-z-w"):
            yield self._control(variant, "embedding start", "random", {"embedding_start": "random"})
        for codes in ("random", "nearest"):
            yield self._control("lstm-z-w", "codes", codes, {"codes": codes})
        for nonzeros in (4, 16):
            yield replace(self._control("lstm-z-w", "non-zeros", str(nonzeros), {}), max_nonzeros=nonzeros)
        yield replace(self._control("lstm-z-w", "codes", "tuned", {}), model_changes={"tune_codes": True})
        yield replace(self._control("lstm-z", "normaliser", "constant", {}), model_changes={"normaliser": "constant"})
        for variant in ("lstm-s", "lstm-z"):
            yield self._control(variant, "bias start", "uniform", {**_ZERO_BIAS, "bias_start": "uniform"})
        for variant in ("lstm-z", "lstm-z-w"):
            yield self._control(variant, "noise", "shared by 256", {"noise_group": 256})
        noise = {"loss": "nce-per-position"}
        for variant in ("lstm-z", "lstm-s", "lstm-z-w"):
            plain = self._control(variant, "noise", "per position", noise)
            yield plain
            if variant != "lstm-z-w":  # such noise reaches rare words often enough to move their biases
                from_zero = self._control(variant, "bias start", "zero per position", {**noise, **_ZERO_BIAS})
                yield replace(from_zero, control=Control("bias start", "zero per position", plain.name))
        yield self._control("lstm-z", "loss", "softmax", {"loss": "softmax"})

    def _control(self, variant: str, knob: str, setting: str, changes: Mapping[str, Any]) -> Cell:
        cell = self._cell(variant, variant, self.main_size, {**_SHARED_START, **changes})
        name, reference = f"{cell.name}-{knob}-{setting}".replace(" ", "-"), self._reference(variant)
        control = Control(knob, setting, reference)
        return replace(cell, name=name, group="control", rate_from=reference, control=control)

    def _cell(self, model: str, variant: str, size: int, changes: Mapping[str, Any], seed: int = 1) -> Cell:
        name = _name(model, size, self.words) + (f"-s{seed}" if seed > 1 else "")
        chooser = self._reference(variant)
        return Cell(
            name,
            "table 3",
            model,
            variant,
            size,
            self.words,
            seed,
            training_changes=changes,
            rate_from=None if name == chooser else chooser,
        )

    def _reference(self, variant: str) -> str:
        return _name(variant, self.main_size, self.words)


def _name(model: str, size: int, words: int | None) -> str:
    """`lstm-z-v22000-w5M`."""
    if words is None:
        return f"{model}-v{size}"
    for factor, letter in ((1_000_000, "M"), (1_000, "k")):
        if words % factor == 0:
            return f"{model}-v{size}-w{words // factor}{letter}"
    return f"{model}-v{size}-w{words}"
