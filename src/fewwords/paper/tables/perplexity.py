"""Table 3, perplexity: at the paper's size, with the small budget, in between, and all figures of each cell."""

from collections.abc import Collection, Iterable, Sequence

from fewwords.paper.plan import planned_on_all_words
from fewwords.paper.record import Record
from fewwords.paper.tables.print_figures import (
    DASH,
    NOT_RUN,
    figure,
    megabytes,
    number,
    perplexity,
    signed,
    spread_note,
)
from fewwords.paper.tables.published import LABELS, VOCABULARY_SIZES, label, published_perplexity
from fewwords.paper.tables.results import Panel, Results
from fewwords.paper.tables.seeds import Runs, compare, largest_spread
from fewwords.paper.tables.table import Table, Value
from fewwords.readable import quantity

# The rows that a panel always has, run or not.
WHOLE_ROWS = (
    "kn3",
    "kn5",
    "lbl5",
    "lstm-s",
    "lstm-z",
    "lstm-z-tied",
    "lstm-z-wb",
    "lstm-z-w",
    "lstm-z-w-tied",
)
SMALL_ROWS = ("kn3", "lbl5", "lstm-s", "lstm-z", "lstm-z-wb", "lstm-z-w")
COUNTED = "Test perplexity, explicitly normalised over all V words, <unk> and </s> counted."


def whole_table(results: Results) -> Table:
    """Table 3 at the paper's size."""
    words = panel_words(results.whole)
    told = "all words of the training part" if words is None else f"all {quantity(words)} words of the training part"
    notes = [
        COUNTED,
        f"Every model is trained on {told}, in one pass. The paper's figure is beside ours, with ours over it: its neural "
        "models saw 100 million words, its KN3 1.6 billion.",
        f"{DASH}: not planned at this size.",
        *_about_divergence(results.whole),
    ]
    sizes = sorted({*VOCABULARY_SIZES, *(size for _, size in results.whole)})
    left_out = {(model, size) for model in WHOLE_ROWS for size in sizes} - planned_on_all_words()
    title = "Table 3. Perplexity at the paper's size"
    return _panel_table("table3", title, results.whole, WHOLE_ROWS, sizes, notes, left_out)


def small_table(results: Results) -> Table:
    """Table 3 with the small budget, where seeds and controls are."""
    notes = [
        COUNTED,
        "Every model is trained on the same first words of the training part. Where a cell has several seeds: their mean and "
        "sample standard deviation. The paper trained on 100 million words and more.",
        *_about_divergence(results.small),
    ]
    if (pooled := largest_spread(results.cells)) is not None:
        notes.append(
            "For cells with one seed the largest spread of the same model at other sizes stands in, or the largest of all, "
            f"{100 * pooled:.1f} %."
        )
    words = panel_words(results.small)
    title = "Table 3 with a small budget" + ("" if words is None else f", {quantity(words)} words")
    sizes = sorted({*VOCABULARY_SIZES, *(size for _, size in results.small)})
    return _panel_table("small", title, results.small, SMALL_ROWS, sizes, notes)


def panel_words(panel: Panel) -> int | None:
    """The training words of a panel's cells; None if it is empty."""
    return max((runs.first.train_words for runs in panel.values()), default=None)


def in_order(models: Iterable[str]) -> list[str]:
    """Models in the order of the paper's rows, unknown ones last."""
    order = list(LABELS)
    return sorted(set(models), key=lambda model: (order.index(model) if model in order else len(order), model))


def _panel_table(
    name: str,
    title: str,
    panel: Panel,
    expected: Sequence[str],
    sizes: Sequence[int],
    notes: Sequence[str],
    left_out: Collection[tuple[str, int]] = (),
) -> Table:
    rows = []
    for model in in_order([*expected, *(model for model, _ in panel)]):
        places = [
            _place(panel.get((model, size)), published_perplexity(model, size), planned=(model, size) not in left_out)
            for size in sizes
        ]
        rows.append([Value(label(model), style="strong" if model == "lstm-z-w" else ""), *places])
    return Table(name, title, ["", *(f"V = {size:,}" for size in sizes)], rows, notes)


def _place(runs: Runs | None, paper: float | None, *, planned: bool) -> Value:
    notes = [] if runs is None else [spread_note(runs)]
    if paper is not None:
        ratio = "" if runs is None or runs.mean is None else f", {runs.mean / paper:.2f}×"
        notes.append(f"paper {paper:.1f}{ratio}")
    return Value(perplexity(runs, planned=planned), "; ".join(note for note in notes if note))


def _about_divergence(panel: Panel) -> list[str]:
    diverged = any(runs.mean is None for runs in panel.values())
    return ["Diverged: worse than a uniform guess over the vocabulary."] if diverged else []


def longer_table(results: Results) -> Table | None:
    """The cells with more words than the budget and fewer than all; None if there are none."""
    rows = []
    for runs in sorted(
        results.longer, key=lambda each: (each.first.vocab_size, each.first.model, each.first.train_words)
    ):
        first = runs.first
        fewer, more = (results.find(first.model, first.vocab_size, on_all_words=each) for each in (False, True))
        against = [_ratio(runs, other) for other in (fewer, more)]
        rows.append(
            [label(first.model), number(first.vocab_size), quantity(first.train_words), perplexity(runs), *against]
        )
    columns = ("", "V", "training words", "perplexity", "over the small budget's", "over all words'")
    return Table("longer", "Between the small budget and all words", columns, rows) if rows else None


def _ratio(left: Runs, right: Runs | None) -> str:
    found = compare(left, right)
    return NOT_RUN if right is None else DASH if found is None else f"{found.ratio:.3f}"


def cells_table(results: Results) -> Table:
    """All figures of every record."""
    columns = (
        "run",
        "training words",
        "test",
        "without </s>",
        "without <unk>",
        "base words",
        "rare words",
        "dev",
        "rate",
    )
    more = ("ln Z less the normaliser's", "numbers stored", "MB (float32)")
    rows = [[record.name, *_figures(record)] for record in results.records]
    return Table("cells", "All figures of each run", (*columns, *more), rows, long=True)


def _figures(record: Record) -> list[str]:
    return [
        quantity(record.train_words),
        figure(record.ppl),
        figure(record.ppl_without_end),
        figure(record.ppl_without_unknown),
        figure(record.ppl_base_words),
        figure(record.ppl_rare_words),
        figure(record.dev_ppl),
        DASH if record.learning_rate is None else f"{record.learning_rate:g}",
        DASH
        if record.gap_mean is None or record.gap_std is None
        else f"{signed(record.gap_mean, 3)} ± {record.gap_std:.3f}",
        number(record.numbers),
        figure(megabytes(record.numbers)),
    ]
