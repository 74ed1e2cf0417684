"""The figure of the frontier: test perplexity against megabytes, one line for each method, named where it ends."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from fewwords.frontier.points import Point
from fewwords.paper.report.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, drawing, new_figure, write_figure

NAME = "frontier"
_RIVALS = ((BLUE, "o"), (GREEN, "s"), (PURPLE, "^"), (GREY, "D"), (BLUE, "v"), (GREEN, "P"), (PURPLE, "X"), (GREY, "<"))
_WIDTH, _HEIGHT = 9.0, 6.0
_LEAST_GAP = 0.033  # between two names, as a share of the height


def draw_frontier(lines: Mapping[str, Sequence[Point]], folder: Path) -> list[Path]:
    """Write `frontier.png` and `frontier.svg`; each line goes from the smallest model to the largest."""
    drawn = {
        method: [(point.mb, point.ppl) for point in points if point.ppl is not None] for method, points in lines.items()
    }
    drawn = {method: places for method, places in drawn.items() if places}
    with drawing():
        figure = new_figure(_WIDTH, _HEIGHT)
        axes = figure.add_subplot()
        axes.set_xscale("log")
        axes.set_yscale("log")
        rivals = iter(_RIVALS * (len(drawn) // len(_RIVALS) + 1))
        looks: dict[str, str] = {}
        for method, places in drawn.items():
            ours = any(point.ours for point in lines[method])
            colour, marker = (ORANGE, "*") if ours else next(rivals)
            looks[method] = colour
            size, width = (13, 2.5) if ours else (5, 1.2)
            axes.plot(
                *zip(*places), color=colour, marker=marker, markersize=size, linewidth=width, zorder=3 if ours else 2
            )
        axes.set_xlabel("megabytes, every byte counted")
        axes.set_ylabel("test perplexity")
        sizes = [size for places in drawn.values() for size, _ in places]
        marks = [2**power for power in range(-3, 12) if min(sizes) / 2 < 2**power < max(sizes) * 2]
        axes.set_xticks(marks, [f"{mark:g}" for mark in marks])
        axes.set_xticks([], minor=True)
        lowest, highest = (limit(ppl for places in drawn.values() for _, ppl in places) for limit in (min, max))
        ticks = [tick for tick in range(10, 2000, 10) if lowest * 0.95 <= tick <= highest * 1.05]
        step = max(1, len(ticks) // 8)
        axes.set_yticks(ticks[::step], [str(tick) for tick in ticks[::step]])
        axes.set_yticks([], minor=True)
        axes.set_xlim(axes.get_xlim()[0], axes.get_xlim()[1])
        for method, height in _spread({method: places[-1][1] for method, places in drawn.items()}, lowest, highest):
            ours = looks[method] == ORANGE
            axes.annotate(
                f"{method} (this project)" if ours else method,
                xy=drawn[method][-1],
                xytext=(1.02, height),
                textcoords=axes.get_yaxis_transform(),
                color=looks[method],
                va="center",
                fontweight="bold" if ours else "normal",
                arrowprops={"arrowstyle": "-", "color": looks[method], "alpha": 0.35, "linewidth": 0.8},
                annotation_clip=False,
            )
        return write_figure(figure, folder, NAME)


def _spread(heights: Mapping[str, float], lowest: float, highest: float) -> list[tuple[str, float]]:
    """The names from low to high, each at its perplexity or as much above it as the name below needs."""
    factor = max(highest / lowest, 1.05) ** _LEAST_GAP
    found: list[tuple[str, float]] = []
    for method, height in sorted(heights.items(), key=lambda each: each[1]):
        found.append((method, max(height, found[-1][1] * factor) if found else height))
    return found
