"""Tables 1 and 4 and figure 4's data: what models store, counted in trained models and by table 1's arithmetic."""

from collections.abc import Mapping
from dataclasses import dataclass

from fewwords.models.neural.memory import memory_reduction, settings_memory, uncompressed_memory
from fewwords.models.neural.variants import VARIANTS, settings_of
from fewwords.paper.plan import planned_on_all_words
from fewwords.paper.record import Record
from fewwords.paper.tables import published
from fewwords.paper.tables.perplexity import in_order
from fewwords.paper.tables.print_figures import DASH, NOT_RUN, figure, megabytes, number, percent, signed
from fewwords.paper.tables.published import label
from fewwords.paper.tables.results import Results
from fewwords.paper.tables.table import Table, Value
from fewwords.vocabulary import NUM_SPECIAL

CODED = ("lstm-z-w", "lstm-z-wb")
DENSE = "lstm-z"
DEFAULT_NONZEROS = 8.0
GRID_STEPS = 16
_PARTS = ("embedding", "encoding", "prediction", "biases", "normaliser", "codes", "total")


@dataclass(frozen=True)
class Reduction:
    """How many percent smaller a coded model is than LSTM-z, beside the paper's figure and the arithmetic's."""

    model: str
    vocab_size: int
    percent: float
    paper: float | None
    nonzeros: float | None
    arithmetic: float | None
    arithmetic_at_implied: float | None  # at the non-zeros that the paper's figure implies
    numbers: int

    @property
    def points(self) -> float | None:
        """The difference from the paper in percentage points."""
        return None if self.paper is None else self.percent - self.paper


def reductions(results: Results) -> list[Reduction]:
    """The reduction of every coded model of table 4 that was run, at any size."""
    found = []
    for model in CODED:
        for size in results.sizes:
            runs = results.best(model, size)
            if runs is not None and runs.first.reduction_percent is not None:
                found.append(_reduction(runs.first, runs.first.reduction_percent))
    return found


def _reduction(record: Record, saved: float) -> Reduction:
    model, size, nonzeros = record.model, record.vocab_size, record.nonzeros_per_rare_word
    coded_bias = model == "lstm-z-wb"
    # with another number of base words the sum would differ
    as_in_the_paper = base_rows(record) - NUM_SPECIAL == published.BASE_SIZE
    implied = published.IMPLIED_NONZEROS.get(size) if as_in_the_paper else None
    return Reduction(
        model,
        size,
        saved,
        published.TABLE_4[model].get(size) if as_in_the_paper else None,
        nonzeros,
        None if nonzeros is None else memory_reduction(size, base_rows(record), nonzeros, coded_bias=coded_bias),
        None if implied is None else memory_reduction(size, published.BASE_SIZE, implied, coded_bias=coded_bias),
        record.numbers,
    )


def base_rows(record: Record) -> int:
    """Rows of a coded model's embedding: base words and special words."""
    return 0 if record.memory is None else record.memory.embedding // published.SIZE


def dense_numbers(size: int) -> int:
    """What LSTM-z stores at a vocabulary size, by arithmetic."""
    return uncompressed_memory(VARIANTS[DENSE], size).total


def formulae_table() -> Table:
    """Table 1 as the paper has it."""
    note = (
        "V vocabulary, B base words, E and C sizes of embedding and context. Codes are an index and a value for each non-zero "
        "of a rare word."
    )
    columns = ("sub-net", "LSTM", "feed-forward", "LSTM-z,w (coded)")
    return Table("table1", "Table 1. Parameters", columns, published.TABLE_1, [note], texts=(0, 1, 2, 3))


def counts_table(results: Results) -> Table:
    """The numbers that the trained models store, by part."""
    rows = []
    models = {model for model, _ in (*results.whole, *results.small) if not model.endswith("-zero-bias")}
    for model in in_order(models):
        for size in results.sizes:
            runs = results.best(model, size)
            if runs is not None and runs.first.memory is not None:
                memory = runs.first.memory
                parts = [number(getattr(memory, part)) for part in _PARTS]
                rows.append([label(model), number(size), *parts, figure(megabytes(memory.total))])
    note = "Prediction is without its biases, which have a column of their own; the encoding has PyTorch's second bias vector."
    columns = ("numbers stored", "V", *_PARTS, "MB (float32)")
    return Table("counts", "Numbers stored by each model", columns, rows, [note], long=True)


def reduction_table(results: Results) -> Table:
    """Table 4, with the paper's figures beside ours and LSTM-z by arithmetic."""
    found = {(each.model, each.vocab_size): each for each in reductions(results)}
    sizes = sorted({*published.VOCABULARY_SIZES, *(size for _, size in found)})
    rows: list[list[Value | str]] = []
    for model in CODED:
        rows.append([label(model), *(_place(found.get((model, size)), model, size) for size in sizes)])
        implied = [(found.get((model, size)), published.IMPLIED_NONZEROS.get(size)) for size in sizes]
        if any(each and each.arithmetic_at_implied for each, _ in implied):
            rows.append(
                [
                    Value("", "by table 1, at the paper's non-zeros"),
                    *(
                        Value(percent(each.arithmetic_at_implied, 2), f"at {nonzeros:.1f}")
                        if each and each.arithmetic_at_implied is not None
                        else ""
                        for each, nonzeros in implied
                    ),
                ]
            )
    rows.append(["LSTM-z, MB (float32)", *(figure(megabytes(dense_numbers(size))) for size in sizes)])
    coded = [found.get(("lstm-z-w", size)) for size in sizes]
    rows.append(
        ["LSTM-z,w, MB (float32)", *(NOT_RUN if not each else figure(megabytes(each.numbers)) for each in coded)]
    )
    note = (
        "Numbers stored less than in LSTM-z of the same vocabulary, the paper's figure beside ours. Sparse codes are included, "
        "with an index and a value for each non-zero of a rare word. The number of non-zeros in the paper is the one that its "
        "figure implies. LSTM-z is counted by table 1's arithmetic, the coded models in what was trained."
    )
    columns = ["", *(f"V = {size:,}" for size in sizes)]
    return Table("table4", "Table 4. Memory reduction", columns, rows, [note])


def _place(found: Reduction | None, model: str, size: int) -> Value:
    paper = published.TABLE_4[model].get(size) if found is None else found.paper
    notes = [] if paper is None else [f"paper {paper:.2f}"]
    if found is not None and found.points is not None:
        notes.append(f"{signed(found.points, 2)} points")
    if found is not None and found.nonzeros is not None:
        notes.append(f"{found.nonzeros:.1f} non-zeros")
    missing = NOT_RUN if paper is not None or (model, size) in planned_on_all_words() else DASH
    return Value(missing if found is None else percent(found.percent, 2), ", ".join(notes))


@dataclass(frozen=True)
class MemoryGrid:
    """Numbers stored by arithmetic, by vocabulary size and model, and those of trained models."""

    arithmetic: Mapping[int, Mapping[str, int]]
    measured: Mapping[tuple[str, int], int]


def memory_grid(results: Results) -> MemoryGrid:
    """Figure 4's memory: LSTM-z and the coded models over a fine grid up to the largest vocabulary size."""
    models = (DENSE, *CODED)
    trained = {
        (model, size): runs.first
        for model in models
        for size in results.sizes
        if (runs := results.best(model, size)) is not None and runs.first.memory is not None
    }
    coded = [record for (model, _), record in trained.items() if model in CODED]
    base = base_rows(coded[0]) if coded else published.BASE_SIZE + NUM_SPECIAL
    nonzeros = max((record.nonzeros_per_rare_word or 0 for record in coded), default=0) or DEFAULT_NONZEROS
    sizes = results.sizes or list(published.VOCABULARY_SIZES)
    step = _round_step(max(sizes) - base)
    grid = sorted({*range(step * (base // step + 1), max(sizes) + 1, step), *sizes})
    arithmetic = {size: {DENSE: uncompressed_memory(VARIANTS[DENSE], size).paper_total} for size in grid}
    for size, line in arithmetic.items():
        num_nonzeros = round(nonzeros * max(0, size - base))
        for model in CODED:
            settings = settings_of(model, tied=False)
            line[model] = settings_memory(settings, size, min(base, size), num_nonzeros).paper_total
    measured = {place: record.memory.paper_total for place, record in trained.items() if record.memory is not None}
    return MemoryGrid(arithmetic, measured)


def _round_step(span: int) -> int:
    """A step of 1, 2 or 5 times a power of ten that divides the span into about sixteen parts or more."""
    wanted = max(1, span // GRID_STEPS)
    power = int(10 ** (len(str(wanted)) - 1))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= wanted)
