"""Figures 3, 4 and 5 of the paper, each as PNG and SVG: sparse codes, perplexity and memory by vocabulary, ZRegression.

A figure is drawn when there is something to draw: figure 3 needs codes, figure 4 cells at two vocabulary sizes, figure 5 curves
with and without ZRegression.
"""

import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fewwords.codes.explain import Explanation, plot_codes
from fewwords.paper.report.drawing import BLUE, ORANGE, STYLES, drawing, new_figure, write_figure, write_pictures
from fewwords.paper.report.figure5 import choose_curves, draw_figure5
from fewwords.paper.tables.published import label

CAPTIONS = {
    "figure3": "Figure 3. Sparse codes of common and rare words over the ranks of the base words. A base word is coded by itself.",
    "figure4": "Figure 4. Perplexity of the trained cells, and numbers stored (sparse codes included), by vocabulary size.",
    "figure5": "Figure 5. Training without ZRegression (a, b) and with it (c, d): loss, dev perplexity, and how far ln Z is "
    "from what the normaliser says (line: mean over contexts, band: standard deviation; 0 is right). Dots where there are "
    "any: ln Z itself.",
}


def draw_figures(
    records: Iterable[Mapping[str, Any]],
    tables: Mapping[str, Any],
    explanations: Sequence[Explanation],
    base_size: int,
    folder: Path,
) -> list[Path]:
    """Draw what can be drawn into `folder`; returns the files."""
    paths = []
    with drawing():
        if explanations:
            paths += _figure3(explanations, base_size, folder)
        sizes = {cell["vocab_size"] for cell in tables["figure4"]["cells"] if _is_drawn(cell)}
        if len(sizes) > 1:
            paths += _figure4(tables["figure4"], folder)
        curves = choose_curves(records)
        if curves is not None:
            paths += write_figure(draw_figure5(curves), folder, "figure5")
    return paths


def _figure3(explanations: Sequence[Explanation], base_size: int, folder: Path) -> list[Path]:
    looks = {"axes.grid": False, "font.size": 10}

    def picture(ending: str) -> bytes:
        with (
            tempfile.TemporaryDirectory() as place,
            drawing(**looks, **{"savefig.transparent": ending == "svg"}),
        ):
            path = Path(place) / f"figure3.{ending}"
            plot_codes(explanations, base_size, path)
            return path.read_bytes()

    return write_pictures(folder, "figure3", lambda: picture("png"), lambda: picture("svg"))


def _is_drawn(cell: Mapping[str, Any]) -> bool:
    return cell["model"] in STYLES and cell["ppl"] is not None and math.isfinite(cell["ppl"])


def _figure4(data: Mapping[str, Any], folder: Path) -> list[Path]:
    figure = new_figure(8.4, 7.2)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for model, (colour, marker) in STYLES.items():
        cells = [cell for cell in data["cells"] if cell["model"] == model and _is_drawn(cell)]
        if cells:
            sizes, means = [cell["vocab_size"] for cell in cells], [cell["ppl"] for cell in cells]
            errors = [2 * (cell["spread"] or 0) * cell["ppl"] for cell in cells]
            above.errorbar(
                sizes,
                means,
                errors if any(errors) else None,
                color=colour,
                marker=marker,
                markersize=7,
                linewidth=1.6,
                linestyle="--" if model.startswith(("kn3", "lbl5")) else "-",
                capsize=3,
                label=label(model),
            )
    above.set_ylabel("test perplexity\n(bars: twice the spread)")
    above.set_ylim(bottom=0)
    above.legend(ncols=2, loc="lower right")
    above.set_title("perplexity", loc="left", fontweight="bold")

    step = data["step"]
    even = [line for line in data["memory"] if line["vocab_size"] % step == 0]
    for shift, model, colour in ((-0.2, "lstm-z", BLUE), (0.2, "lstm-z-w", ORANGE)):
        below.bar(
            [line["vocab_size"] + shift * step for line in even],
            [line[model] / 1e6 for line in even],
            width=0.4 * step,
            color=colour,
            label=label(model),
            linewidth=0,
        )
    below.set_ylabel("numbers stored,\nmillions")
    below.set_xlabel("vocabulary size")
    below.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k")
    below.legend(loc="upper left")
    below.set_title("memory, codes included", loc="left", fontweight="bold")
    return write_figure(figure, folder, "figure4")
