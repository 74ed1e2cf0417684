"""Words as sums of a few others: `algorithms = 0.42 algorithm + 0.20 technologies + …` (the paper's figure 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError
from fewwords.store.files import atomic_write
from fewwords.vocabulary import Vocabulary

# In a plot: width of a letter and gap to the stem as shares of its width, height of a line as a share of its height.
_LETTER, _GAP, _LINE = 0.0155, 0.012, 0.075


@dataclass(frozen=True)
class Explanation:
    """A word's code: base words with their ranks and weights, the largest first; a base word is itself."""

    word: str
    rank: int
    is_base: bool
    base_words: list[str]
    base_ranks: list[int]
    weights: list[float]

    def __str__(self) -> str:
        said = " + ".join(f"{weight:.2f} {word}" for weight, word in zip(self.weights, self.base_words))
        return f"{self.word} = {said}"


def explain(word: str, codes: SparseCodes, vocabulary: Vocabulary) -> Explanation:
    """Express a word in base words; raises InputError with a near spelling if it is not in the vocabulary."""
    rank = vocabulary.ids.get(word)
    if rank is None or rank >= codes.num_words:
        near = get_close_matches(word, vocabulary.words[: codes.num_words], n=1, cutoff=0.75)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise InputError(f"{word}: not among the {codes.num_words:,} words that have a code{hint}")
    indices, values = codes.row(rank)
    order = (-values).argsort(kind="stable")
    rows = [int(indices[place]) for place in order]
    return Explanation(
        word,
        rank,
        rank < codes.num_base,
        [vocabulary.words[row] for row in rows],
        rows,
        [float(values[place]) for place in order],
    )


def plot_codes(explanations: Sequence[Explanation], num_base: int, path: Path) -> None:
    """Draw the codes as stems over the base words by rank, two words per row, into `path` (.png, .svg, .pdf)."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError('plots need matplotlib; run: pip install "fewwords[plot]"') from None

    num_rows = -(-len(explanations) // 2)
    num_columns = min(2, len(explanations))
    figure = Figure(figsize=(5.2 * num_columns, 2.4 * num_rows + 0.3), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(num_rows, num_columns, squeeze=False, sharex=True, sharey=True).flat
    highest = max(max(explanation.weights) for explanation in explanations)
    for panel, explanation in zip(panels, explanations):
        markers, stems, _ = panel.stem(explanation.base_ranks, explanation.weights, basefmt=" ")
        markers.set(color="#0072b2", markersize=4)
        stems.set(color="#0072b2", linewidth=1.3)
        panel.axhline(0, color="0.6", linewidth=0.8)
        for label in _labels(explanation, num_base, 1.18 * highest):
            at = label.right if label.side == "right" else label.left
            panel.text(at, label.y, label.word, ha=label.side, va="center", fontsize=8, parse_math=False)
            if label.y > label.weight:  # a line to its stem
                panel.plot(
                    [label.rank] * 2, [label.weight, label.y], color="0.5", linewidth=0.9, linestyle=":", zorder=0
                )
        panel.set_title(explanation.word, fontsize=11, fontweight="bold", parse_math=False)
        panel.set_xlim(-0.02 * num_base, 1.02 * num_base)
        panel.set_ylim(0, 1.18 * highest)
        panel.spines[["top", "right"]].set_visible(False)
    for panel in list(panels)[len(explanations) :]:
        panel.set_visible(False)
    figure.supxlabel(f"rank of the base word (1 to {num_base:,})", fontsize=10)
    figure.supylabel("weight", fontsize=10)
    try:
        with atomic_write(path) as file:
            figure.savefig(file, dpi=150, format=path.suffix.removeprefix("."))
    except ValueError as error:
        raise InputError(f"{path}: {error}; choose a name that ends in .png, .svg or .pdf") from None


@dataclass(frozen=True)
class _Label:
    """A word beside its stem, or above it, from `left` to `right`; `side` is the end that touches the stem."""

    word: str
    rank: int
    weight: float
    y: float
    side: str
    left: float
    right: float


def _labels(explanation: Explanation, num_base: int, top: float) -> list[_Label]:
    """All words of a code, each at the height of its weight, or higher where a stem or another word is in the way."""
    stems = list(zip(explanation.base_ranks, explanation.weights, explanation.base_words))
    placed: list[_Label] = []
    for rank, weight, word in stems:
        side, width = ("right" if rank > 0.7 * num_base else "left"), _LETTER * num_base * len(word)
        x = rank + _GAP * num_base * (-1 if side == "right" else 1)
        left, right = (x - width, x) if side == "right" else (x, x + width)
        y = weight
        while y < top and (
            any(left < other.right and other.left < right and abs(y - other.y) < _LINE * top for other in placed)
            or any(left <= other <= right and high > y - _LINE * top / 2 for other, high, _ in stems if other != rank)
        ):
            y += 0.01 * top
        placed.append(_Label(word, rank, weight, y, side, left, right))
    return placed
