"""Figures 3, 4 and 5 of the paper and one by training words, each as PNG and SVG.

A figure is drawn if its data are there: figure 3 needs codes, figure 4 cells at two vocabulary sizes, figure 5 curves
with and without ZRegression, and the one by training words both LSTMs at two budgets.
"""

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fewwords.codes.explain import Explanation, plot_codes
from fewwords.models.neural.variants import VARIANTS
from fewwords.paper.report.drawing import BLUE, GREY, ORANGE, STYLES, drawing, new_figure, write_figure, write_pictures
from fewwords.paper.report.figure5 import choose_curves, draw_figure5
from fewwords.paper.tables.memory import memory_grid
from fewwords.paper.tables.published import label
from fewwords.paper.tables.results import Panel, Results
from fewwords.paper.tables.table import Figure
from fewwords.paper.tables.training_words import WordsCurve, words_curve
from fewwords.readable import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CODES = Figure(
    "figure3",
    "Figure 3. Sparse codes",
    "Sparse codes of common and rare words over the ranks of the base words. A base word is coded by itself.",
)
SIZES = Figure(
    "figure4",
    "Figure 4. Performance and memory",
    "Perplexity of the models that were trained at two sizes or more, and numbers stored (sparse codes included), by vocabulary "
    "size. Lines of the memory are table 1's arithmetic, dots are trained models.",
)
CURVES = Figure(
    "figure5",
    "Figure 5. ZRegression",
    "Training without ZRegression (a, b) and with it (c, d): loss, dev perplexity, and how far ln Z is from what the normaliser "
    "says (line: mean over contexts, band: standard deviation; 0 is right). Dots where there are any: ln Z itself.",
)
WORDS = Figure(
    "training_words",
    "What more text does",
    "Ratios of test perplexities by the number of training words: below 1, the first model of a ratio is ahead. Bars are twice the "
    "spread of seeds.",
)


def draw_figures(
    results: Results, explanations: Sequence[Explanation], base_size: int, folder: Path
) -> dict[str, list[Path]]:
    """Draw what can be drawn into `folder`; returns the files of each figure by its name."""
    drawn = {}
    with drawing():
        if explanations:
            drawn[CODES.name] = _draw_codes(explanations, base_size, folder)
        panel = _panel_to_draw(results)
        if panel is not None:
            drawn[SIZES.name] = _draw_sizes(results, panel, folder)
        curve = words_curve(results)
        if curve is not None:
            drawn[WORDS.name] = _draw_words(curve, folder)
        curves = choose_curves(results.records)
        if curves is not None:
            drawn[CURVES.name] = write_figure(draw_figure5(curves), folder, CURVES.name)
    return drawn


def _draw_codes(explanations: Sequence[Explanation], base_size: int, folder: Path) -> list[Path]:
    looks = {"axes.grid": False, "font.size": 10}

    def picture(ending: str) -> bytes:
        with (
            tempfile.TemporaryDirectory() as place,
            drawing(**looks, **{"savefig.transparent": ending == "svg"}),
        ):
            path = Path(place) / f"{CODES.name}.{ending}"
            plot_codes(explanations, base_size, path)
            return path.read_bytes()

    return write_pictures(folder, CODES.name, lambda: picture("png"), lambda: picture("svg"))


def _panel_to_draw(results: Results) -> Panel | None:
    """The panel of figure 4: that of the paper's size if a neural model has two vocabulary sizes there."""
    for panel in (results.whole, results.small):
        if any(model in VARIANTS for model in _lines(panel)):
            return panel
    return None


def _lines(panel: Panel) -> dict[str, list[tuple[int, float, float]]]:
    """Vocabulary size, perplexity and twice its spread, for each model with two sizes or more: one point is no line."""
    lines = {}
    for model in STYLES:
        points = [
            (size, runs.mean, 2 * (runs.spread or 0) * runs.mean)
            for (name, size), runs in sorted(panel.items())
            if name == model and runs.mean is not None and math.isfinite(runs.mean)
        ]
        if len(points) > 1:
            lines[model] = points
    return lines


def _draw_sizes(results: Results, panel: Panel, folder: Path) -> list[Path]:
    figure = new_figure(8.4, 7.2)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for model, points in _lines(panel).items():
        _draw_line(above, model, points)
    words = max(runs.first.train_words for runs in panel.values())
    above.set_ylabel("test perplexity\n(bars: twice the spread)")
    above.legend(ncols=2, loc="lower right")
    above.set_title(f"perplexity, {quantity(words)} training words", loc="left", fontweight="bold")
    grid = memory_grid(results)
    for model, colour in (("lstm-z", BLUE), ("lstm-z-w", ORANGE)):
        lines = [(size, numbers[model] / 1e6) for size, numbers in grid.arithmetic.items()]
        below.plot(*zip(*lines), color=colour, linewidth=1.6, label=f"{label(model)}, arithmetic")
        trained = [(size, numbers / 1e6) for (name, size), numbers in sorted(grid.measured.items()) if name == model]
        if trained:
            below.plot(*zip(*trained), STYLES[model][1], color=colour, markersize=7, label=f"{label(model)}, trained")
    too_large = [size for name, size in grid.measured if name == "lstm-z-w" and ("lstm-z", size) not in grid.measured]
    if too_large:
        untrained = [grid.arithmetic[size]["lstm-z"] / 1e6 for size in too_large]
        below.plot(too_large, untrained, "o", color=BLUE, fillstyle="none", markersize=7, label="LSTM-z, not trained")
    below.set_ylabel("numbers stored,\nmillions")
    below.set_ylim(bottom=0)
    below.set_xlabel("vocabulary size")
    below.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k")
    below.legend(loc="upper left", ncols=2)
    below.set_title("memory, codes included", loc="left", fontweight="bold")
    return write_figure(figure, folder, SIZES.name)


def _draw_line(panel: "Axes", model: str, points: Sequence[tuple[int, float, float]]) -> None:
    sizes, means, errors = zip(*points)
    colour, marker = STYLES[model]
    panel.errorbar(
        sizes,
        means,
        errors if any(errors) else None,
        color=colour,
        marker=marker,
        markersize=7,
        linewidth=1.6,
        linestyle="--" if model.startswith(("kn", "lbl5")) else "-",
        capsize=3,
        label=label(model),
    )


def _draw_words(curve: WordsCurve, folder: Path) -> list[Path]:
    figure = new_figure(7.2, 4.2)
    panel = figure.subplots()
    for name, colour, marker, found in (
        ("LSTM-z,w / LSTM-z", ORANGE, "X", [(point.train_words, point.coded_over_dense) for point in curve.points]),
        ("KN3 / LSTM-z,w", GREY, "s", [(point.train_words, point.kn3_over_coded) for point in curve.points]),
    ):
        points = [(words, each.ratio, 2 * (each.spread or 0) * each.ratio) for words, each in found if each is not None]
        if points:
            words, ratios, errors = zip(*points)
            panel.errorbar(words, ratios, errors, color=colour, marker=marker, markersize=7, capsize=3, label=name)
    panel.axhline(1, color=GREY, linewidth=1)
    panel.set_xscale("log")
    panel.set_xticks(
        [point.train_words for point in curve.points], [f"{point.train_words / 1e6:.3g} M" for point in curve.points]
    )
    panel.set_xticks([], minor=True)
    panel.set_xlabel("training words")
    panel.set_ylabel("ratio of test perplexities")
    panel.set_title(f"V = {curve.vocab_size:,}", loc="left", fontweight="bold")
    panel.legend()
    return write_figure(figure, folder, WORDS.name)
