"""Words said in a few words: `algorithms = 0.42 algorithm + 0.20 technologies + …` (the paper's figure 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError
from fewwords.vocabulary import Vocabulary


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
    """Say a word in base words; raises InputError with a near spelling when the vocabulary does not have it."""
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
        rank < codes.base_size,
        [vocabulary.words[row] for row in rows],
        rows,
        [float(values[place]) for place in order],
    )


def plot_codes(explanations: Sequence[Explanation], base_size: int, path: Path) -> None:
    """Draw the codes as stems over the ranks of the base words, two words a row, and write `path` (.png, .svg, .pdf)."""
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
        for rank, height, word in _labels(explanation, base_size, 1.18 * highest):
            on_the_right = rank > 0.7 * base_size
            aside = 0.012 * base_size * (-1 if on_the_right else 1)
            panel.text(rank + aside, height, word, ha="right" if on_the_right else "left", fontsize=8, parse_math=False)
        panel.set_title(explanation.word, fontsize=11, fontweight="bold", parse_math=False)
        panel.set_xlim(-0.02 * base_size, 1.02 * base_size)
        panel.set_ylim(0, 1.18 * highest)
        panel.spines[["top", "right"]].set_visible(False)
    for panel in list(panels)[len(explanations) :]:
        panel.set_visible(False)
    figure.supxlabel(f"rank of the base word (1 to {base_size:,})", fontsize=10)
    figure.supylabel("weight", fontsize=10)
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise InputError(f"{path}: {error}; choose a name that ends in .png, .svg or .pdf") from None


def _labels(explanation: Explanation, base_size: int, top: float, most: int = 4) -> list[tuple[int, float, str]]:
    """The words of the largest weights, each at the height of its weight, or higher where another would stand in its way."""
    placed: list[tuple[int, float, str]] = []
    for rank, weight, word in list(zip(explanation.base_ranks, explanation.weights, explanation.base_words))[:most]:
        height = weight
        while any(abs(rank - other) < 0.25 * base_size and abs(height - at) < 0.07 * top for other, at, _ in placed):
            height += 0.02 * top
        placed.append((rank, height, word))
    return placed
