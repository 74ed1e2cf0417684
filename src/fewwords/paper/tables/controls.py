"""The table of controls: one setting changed at a time, and one sentence on what it means for the paper's claims.

A row compares a cell with the one that has the default value of its knob. The sentence follows from the numbers alone:
it says that perplexity rises or falls only if the difference exceeds twice the spread of seeds (see `seeds`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fewwords.paper.plan import make_plan
from fewwords.paper.tables.print_figures import DASH, NOT_RUN, perplexity, signed
from fewwords.paper.tables.published import label
from fewwords.paper.tables.results import Results
from fewwords.paper.tables.seeds import Comparison, Runs, compare
from fewwords.paper.tables.table import Table, Value

ZERO_BIAS = "-zero-bias"


@dataclass(frozen=True)
class Meaning:
    """The name of a changed setting after the model's name, and what it means if it loses, gains, or does neither."""

    changed: str
    loses: str
    gains: str
    neither: str


@dataclass(frozen=True)
class ControlRow:
    """A knob, its setting, the model that it was turned on, and the cells with and without the change, if run."""

    knob: str
    setting: str
    model: str
    runs: Runs | None = None
    reference: Runs | None = None

    @property
    def comparison(self) -> Comparison | None:
        """The perplexity with the change over that without."""
        return compare(self.runs, self.reference)

    @property
    def says(self) -> str:
        """What the figures say."""
        return NOT_RUN if self.runs is None else _sentence(self, self.runs)


MEANINGS: dict[tuple[str, str], Meaning] = {
    ("embedding start", "random"): Meaning(
        "with embeddings that start at random",
        "part of the quality comes from the word vectors, so dense and coded models are compared from the same start",
        "the word vectors are a poor place to start, and only the codes need them",
        "the word vectors are needed for the codes, not as a place to start",
    ),
    ("bias start", "zero"): Meaning(
        "with biases that start at zero",
        "the start of the biases matters by itself, and what the paper credits to ZRegression has to be read with that in mind",
        "the start at the word frequencies does harm here, and the paper's start is the one to use",
        "the start of the biases does not explain the paper's gap between LSTM-s and LSTM-z",
    ),
    ("bias start", "uniform"): Meaning(
        "with biases that start at -log V",
        "a start at Z = 1 is not all, the frequencies of the words help too",
        "a start at Z = 1 is enough, and the frequencies of the words do harm",
        "a start at Z = 1 is what counts, not the frequencies of the words",
    ),
    ("normaliser", "one"): Meaning(
        "with Z fixed at 1",
        "ZRegression earns its place, as the paper says, even when the biases start well",
        "ZRegression does harm once the biases start well, against the paper's claim",
        "once the biases start well, no gain from ZRegression can be shown",
    ),
    ("normaliser", "constant"): Meaning(
        "with one learned number for Z",
        "it is the context that ZRegression adds, as the paper says, and not only a free constant",
        "one number for Z is the better normaliser, and the regression on the context is not needed",
        "one learned number does as much as the regression on the context",
    ),
    ("codes", "random"): Meaning(
        "with random codes of as many non-zeros",
        "what the codes say matters, not only their number",
        "what the codes say does harm, against the paper's claim",
        "that the codes capture meaning, as the paper says, cannot be shown this way",
    ),
    ("codes", "nearest"): Meaning(
        "with the nearest base word alone as a code",
        "a rare word needs several base words, as the paper has it",
        "one base word is enough, and the paper's sums of several are not needed",
        "one base word a rare word does as well as eight",
    ),
    ("codes", "tuned"): Meaning(
        "with codes whose values are tuned in training",
        "codes that stay as they were computed, as in the paper, are the better choice",
        "codes that stay fixed, as in the paper, leave something to gain",
        "the codes can stay fixed, as in the paper",
    ),
    ("non-zeros", "4"): Meaning(
        "with at most 4 non-zeros a word",
        "the lower end of the paper's 4 to 8 values a word costs quality",
        "fewer values a word are better, and smaller too",
        "the lower end of the paper's 4 to 8 values a word is enough",
    ),
    ("non-zeros", "16"): Meaning(
        "with at most 16 non-zeros a word",
        "more than the paper's 4 to 8 values a word do harm",
        "more than the paper's 4 to 8 values a word would pay",
        "more than the paper's 4 to 8 values a word are not needed",
    ),
    ("tying", "tied"): Meaning(
        "with one matrix for embedding and output",
        "two matrices, as in the paper, are worth their memory",
        "one matrix is better than the paper's two, and smaller",
        "one matrix does as well as the paper's two, at half their memory",
    ),
    ("noise", "per position"): Meaning(
        "with 50 noise words for each position (the paper's way)",
        "noise shared by 256 words costs no quality against the paper's way",
        "noise shared by 256 words costs this model quality against the paper's way",
        "noise shared by 256 words is as good as the paper's way",
    ),
    ("noise", "shared by the batch"): Meaning(
        "with noise words shared by the batch of 2,048 words instead of 256",
        "noise shared by the whole batch costs quality, which smaller groups get back with products of the same size",
        "noise shared by the whole batch is the better choice",
        "it does not matter how many words share their noise",
    ),
    ("recipe", "paper"): Meaning(
        "with the whole recipe of the paper and its code (--preset paper)",
        "the default recipe is the better one, and the paper's figures would have been lower with it",
        "the paper's recipe is better than the default, and should become it",
        "the default recipe does as well as the paper's, in less time",
    ),
    ("loss", "softmax"): Meaning(
        "with the full softmax for a loss",
        "noise-contrastive estimation does not cost quality here",
        "noise-contrastive estimation has its price in quality, whatever the normaliser",
        "noise-contrastive estimation does as well as the full softmax",
    ),
}


def make_controls(results: Results) -> list[ControlRow]:
    """One row per control, in the order of `MEANINGS`, including those not run yet; unknown knobs come last."""
    by_name = {record.name: runs for runs in results.cells for record in runs.records}
    found: dict[tuple[str, str], list[ControlRow]] = {}
    for runs in results.cells:
        control = next((record.control for record in runs.records if record.control is not None), None)
        if control is not None:
            reference = by_name.get(control.reference)
            # LSTM-s is LSTM-z with Z fixed at 1: the row is named after the model whose knob was turned
            model = reference.first.model if reference else runs.first.model.removesuffix(ZERO_BIAS)
            row = ControlRow(control.table, control.setting, model, runs, reference)
            found.setdefault((row.knob, row.setting), []).append(row)
    planned: dict[tuple[str, str], list[str]] = {}
    for cell in make_plan():
        if cell.control is not None:
            model = "lstm-z" if cell.control.table == "normaliser" else cell.variant
            planned.setdefault((cell.control.table, cell.control.setting), []).append(model)
    rows: list[ControlRow] = []
    for key in [*MEANINGS, *(key for key in found if key not in MEANINGS)]:
        done = sorted(found.get(key, []), key=lambda row: (row.model, row.runs.first.vocab_size if row.runs else 0))
        missing = [model for model in planned.get(key, []) if model not in {row.model for row in done}]
        rows += done + [ControlRow(*key, model) for model in missing]
    return rows


def controls_table(rows: Sequence[ControlRow]) -> Table:
    """One changed setting per row."""
    columns = ("control", "perplexity", "ratio", "what it says")
    note = "One setting changed at a time, everything else as in table 3 with the small budget."
    return Table("controls", "Controls", columns, [_places(row) for row in rows], [note], texts=(0, 3))


def _places(row: ControlRow) -> list[Value]:
    size = "" if row.runs is None else f", V = {row.runs.first.vocab_size:,}"
    found = row.comparison
    against = "" if row.reference is None or row.reference.mean is None else f"against {row.reference.mean:.1f}"
    error = "" if found is None or found.spread is None else f"± {found.ratio * found.spread:.3f}"
    return [
        Value(f"{row.knob}: {row.setting}", f"{label(row.model)}{size}"),
        Value(perplexity(row.runs), against),
        Value(DASH if found is None else f"{found.ratio:.3f}", error),
        Value(row.says),
    ]


def _sentence(row: ControlRow, runs: Runs) -> str:
    plain = Meaning(f"with {row.knob} {row.setting}", *["the paper says nothing of it"] * 3)
    meaning = MEANINGS.get((row.knob, row.setting), plain)
    subject, found = f"{label(row.model)} {meaning.changed}", row.comparison
    if runs.mean is None:
        return f"{subject} diverges: {meaning.loses}."
    if found is None:
        return f"{subject}: the run to compare it with is {'missing' if row.reference is None else 'diverged'}."
    percent = 100 * (found.ratio - 1)
    side = found.side()
    if side is None or found.spread is None:
        return f"{subject}: {signed(percent)} % in perplexity, with one seed and no spread measured, which decides nothing."
    spread = 100 * found.spread
    if side == 0:
        within = f"within twice the spread of seeds ({spread:.1f} %)"
        return f"{subject}: {signed(percent)} % in perplexity, {within}: {meaning.neither}."
    verb, why = ("loses", meaning.loses) if side > 0 else ("gains", meaning.gains)
    return f"{subject} {verb} {abs(percent):.1f} % ± {spread * found.ratio:.1f}: {why}."
