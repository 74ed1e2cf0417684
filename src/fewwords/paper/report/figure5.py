"""Figure 5: what ZRegression does to training. Above without it (a, b), below with it (c, d), over the same axes.

The paper draws perplexity and Z_h in one panel; here they have one each. The authors' biases start at zero, which is
where the instability shows; so the runs are of LSTM-s and LSTM-z from that start and from the word frequencies, all
seeds, and with the whole recipe of the paper if there are such runs.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fewwords.paper.record import Record
from fewwords.paper.report.drawing import BLUE, GREEN, GREY, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STARTS = {
    "zero": ("biases from zero", ORANGE),
    "paper": ("the paper's recipe", GREEN),
    "unigram": ("biases from the word frequencies", BLUE),
}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MOST_DECADES_WITH_FRACTIONS = 2.2


@dataclass(frozen=True)
class Curves:
    """The runs to draw, by their start, all at one vocabulary size."""

    vocab_size: int
    without: Mapping[str, Sequence[Record]]
    with_it: Mapping[str, Sequence[Record]]

    @property
    def runs(self) -> list[Record]:
        """All of them."""
        return [run for row in (self.without, self.with_it) for runs in row.values() for run in runs]


def choose_curves(records: Iterable[Record]) -> Curves | None:
    """The runs at the size that has most of them, preferably from zero; None if none has both kinds."""
    by_size: dict[int, dict[str, dict[str, list[Record]]]] = {}
    for record in sorted(records, key=lambda each: (each.model, each.seed)):
        start = _start(record)
        if start is not None and record.curve:
            models = by_size.setdefault(record.vocab_size, {"lstm-s": {}, "lstm-z": {}})
            models[record.variant].setdefault(start, []).append(record)
    found = [
        Curves(size, models["lstm-s"], models["lstm-z"])
        for size, models in by_size.items()
        if models["lstm-s"] and models["lstm-z"]
    ]
    return max(
        found,
        key=lambda each: ("zero" in each.without, len(each.without), len(each.runs), -each.vocab_size),
        default=None,
    )


def _start(record: Record) -> str | None:
    """Where the biases of a run start; None if the run is not drawn."""
    if record.variant not in ("lstm-s", "lstm-z"):
        return None
    if record.group == "table 3":
        return "zero" if record.model.endswith("-zero-bias") else "unigram"
    return "paper" if record.control is not None and record.control.table == "recipe" else None


def draw_figure5(curves: Curves) -> "Figure":
    """Two rows of three panels: loss, dev perplexity, ln Z less the normaliser's."""
    figure = new_figure(11, 6.6)
    panels = figure.subplots(2, 3, sharex=True, sharey="col")
    for row, starts, letters, name in (
        (panels[0], curves.without, "abb", "LSTM-s, without ZRegression"),
        (panels[1], curves.with_it, "cdd", "LSTM-z, with ZRegression"),
    ):
        for start in (start for start in _STARTS if start in starts):
            told, colour = _STARTS[start]
            runs = starts[start]
            told += f", {len(runs)} seeds" if len(runs) > 1 else ""
            for number, run in enumerate(runs):
                _draw_run(row, run, colour, None if number else told)
        for panel, letter in zip(row, letters):
            panel.set_title(f"({letter}) {name}", loc="left", fontsize=11, fontweight="bold")
        row[2].axhline(0, color=GREY, linewidth=1)
        row[0].set_ylabel("loss (line: training, dashes: dev)")
        row[1].set_ylabel("dev perplexity")
        row[2].set_ylabel("ln Z − the normaliser's (dots: ln Z)")
    for panel, field in zip(panels[0], ("loss", "dev_perplexity")):
        _scale(panel, [value for run in curves.runs for value in _series(run, field)[1]])
    # the first dots of a start at zero are far above all later ones
    heights = [
        value for run in curves.runs for name in ("gap_mean", "log_z_mean") for value in _series(run, name)[1][1:]
    ]
    if heights:
        margin = 0.08 * (max(heights) - min(0, *heights)) + 0.5
        panels[0][2].set_ylim(min(0, *heights) - margin, max(heights) + margin)
    named = {name: line for row in panels for line, name in zip(*row[1].get_legend_handles_labels())}
    figure.legend(list(named.values()), list(named), loc="outside upper center", ncols=len(named))
    for panel in panels[1]:
        panel.set_xlabel("training words, millions")
    return figure


def _draw_run(row: "Sequence[Axes]", run: Record, colour: str, name: str | None) -> None:
    """One run in the three panels of a row; a band only for named runs, because many bands would hide one another."""
    loss, perplexity, gap = row
    for panel, field, style in ((loss, "loss", "-"), (loss, "dev_loss", "--"), (perplexity, "dev_perplexity", "-")):
        words, values = _series(run, field)
        if words:
            panel.plot(words, values, style, color=colour, linewidth=1.6, label=name if panel is perplexity else None)
    words, means = _series(run, "gap_mean")
    _, spreads = _series(run, "gap_std")
    if words:
        gap.plot(words, means, color=colour, linewidth=1.6)
        if name and len(spreads) == len(means):
            low = [mean - spread for mean, spread in zip(means, spreads)]
            high = [mean + spread for mean, spread in zip(means, spreads)]
            gap.fill_between(words, low, high, color=colour, alpha=0.15, linewidth=0)
    if run.variant != "lstm-s":  # without a normaliser, ln Z equals the gap
        words, values = _series(run, "log_z_mean")
        gap.plot(words, values, ".", color=colour, markersize=4)


def _series(run: Record, field: str) -> tuple[list[float], list[float]]:
    """Millions of words and values, from the lines that have the field."""
    found = [(line.words / 1e6, getattr(line, field)) for line in run.curve]
    return [words for words, value in found if value is not None], [value for _, value in found if value is not None]


def _scale(panel: "Axes", values: Sequence[float]) -> None:
    """A logarithmic axis if values differ by more than a factor of ten, with as many ticks as are readable."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if not values or min(values) <= 0 or max(values) < 10 * min(values):
        return
    decades = math.log10(max(values) / min(values))
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < _MOST_DECADES_WITH_FRACTIONS else (1,)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
    panel.yaxis.set_minor_formatter(NullFormatter())


def _tick(value: float) -> str:
    """`200`, or `10⁶` for large numbers."""
    if value < 1e5:
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"
    return f"10{str(round(math.log10(value))).translate(_SUPERSCRIPTS)}"
