"""Figure 5: what ZRegression does to training. Above without it (a, b), below with it (c, d).

The paper draws perplexity and Z_h in one panel; here they have one each. Without ZRegression the runs are of LSTM-s, from biases at
zero where there are such runs, because that is where the paper's instability is to be seen; with it of LSTM-z from both
starts, all seeds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fewwords.paper.report.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, new_figure
from fewwords.paper.tables.published import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, GREY)


@dataclass(frozen=True)
class Curves:
    """The runs to draw, all at one vocabulary size."""

    vocab_size: int
    without: Sequence[Mapping[str, Any]]
    with_it: Sequence[Mapping[str, Any]]


def choose_curves(records: Iterable[Mapping[str, Any]]) -> Curves | None:
    """The runs of table 3 at the vocabulary size that has most of them; None when there is none with and without."""
    by_size: dict[int, dict[str, list[Mapping[str, Any]]]] = {}
    for record in sorted(records, key=lambda each: (each["model"], each["seed"])):
        if record["group"] == "table 3" and record["curve"]:
            by_size.setdefault(record["vocab_size"], {}).setdefault(record["model"], []).append(record)
    found = []
    for size, models in by_size.items():
        without = models.get("lstm-s-zero-bias") or models.get("lstm-s", [])
        with_it = models.get("lstm-z-zero-bias", []) + models.get("lstm-z", [])
        if without and with_it:
            found.append(Curves(size, without, with_it))

    def wealth(curves: Curves) -> tuple[bool, int, int]:
        from_zero = str(curves.without[0]["model"]).endswith("-zero-bias")
        return from_zero, len(curves.without) + len(curves.with_it), -curves.vocab_size

    return max(found, key=wealth, default=None)


def draw_figure5(curves: Curves) -> "Figure":
    """Two rows of three panels: loss, dev perplexity, ln Z less the normaliser's."""
    figure = new_figure(11, 6.6)
    panels = figure.subplots(2, 3, sharex=True)
    for row, runs, letters, name in (
        (panels[0], curves.without, "abb", "without ZRegression"),
        (panels[1], curves.with_it, "cdd", "with ZRegression"),
    ):
        models = [run["model"] for run in runs]
        for number, run in enumerate(runs):
            seed = f", seed {run['seed']}" if models.count(run["model"]) > 1 else ""
            is_first = run["model"] not in models[:number]
            _draw_run(row, run, _COLOURS[number % len(_COLOURS)], label(str(run["model"])) + seed, with_band=is_first)
        for panel, letter in zip(row, letters):
            panel.set_title(f"({letter}) {name}", loc="left", fontsize=11, fontweight="bold")
        for panel, field in zip(row, ("loss", "dev_perplexity")):
            _scale(panel, [value for run in runs for value in _series(run, field)[1]])
        row[1].legend(fontsize=9.5, loc="best")
        row[2].axhline(0, color=GREY, linewidth=1)
        row[0].set_ylabel("loss (line: training, dashes: dev)")
        row[1].set_ylabel("dev perplexity")
        row[2].set_ylabel("ln Z less the normaliser's")
    for panel in panels[1]:
        panel.set_xlabel("training words, millions")
    return figure


def _draw_run(row: "Sequence[Axes]", run: Mapping[str, Any], colour: str, name: str, *, with_band: bool) -> None:
    """One run in the three panels of a row; bands of many runs would hide one another."""
    loss, perplexity, gap = row
    for panel, field, style in ((loss, "loss", "-"), (loss, "dev_loss", "--"), (perplexity, "dev_perplexity", "-")):
        words, values = _series(run, field)
        if words:
            panel.plot(words, values, style, color=colour, linewidth=1.6, label=name if panel is perplexity else None)
    words, means = _series(run, "gap_mean")
    _, spreads = _series(run, "gap_std")
    if words:
        gap.plot(words, means, color=colour, linewidth=1.6)
        if with_band and len(spreads) == len(means):
            low = [mean - spread for mean, spread in zip(means, spreads)]
            high = [mean + spread for mean, spread in zip(means, spreads)]
            gap.fill_between(words, low, high, color=colour, alpha=0.15, linewidth=0)
    if not str(run["variant"]).startswith("lstm-s"):  # without a normaliser, ln Z is the gap
        words, values = _series(run, "log_z_mean")
        gap.plot(words, values, ".", color=colour, markersize=4)


def _series(run: Mapping[str, Any], field: str) -> tuple[list[float], list[float]]:
    """Millions of words and values, of the lines that have the field."""
    lines = [line for line in run["curve"] if line.get(field) is not None]
    return [line["words"] / 1e6 for line in lines], [line[field] for line in lines]


def _scale(panel: "Axes", values: Sequence[float]) -> None:
    """A logarithmic axis where values differ by more than ten times, with numbers such as 200 instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if not values or min(values) <= 0 or max(values) < 10 * min(values):
        return
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
