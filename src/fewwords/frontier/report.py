"""The report of the frontier: `frontier.json` (all points), `frontier.md`, the figure, and a block for a README.

The best of each size is chosen by dev; what is told is test. A method's line has its lower envelope: the points with no other
of the method that is both smaller and better. Trials, which are judged on dev alone, have a table of their own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from fewwords.errors import InputError
from fewwords.frontier.figure import draw_frontier
from fewwords.frontier.points import Point
from fewwords.paper.report.markdown import markdown_table, put_between
from fewwords.paper.tables.table import Table, Value
from fewwords.readable import quantity
from fewwords.store.files import atomic_write, write_json

SIZES = (1, 2, 4, 8)
LEVEL = 0.8  # per cent: twice the spread of seeds (docs/log.md)
SAME_SIZE = 1.02  # a larger point than this is worth a place of its own in the figure
MARKS = ("<!-- frontier -->", "<!-- /frontier -->")


@dataclass(frozen=True)
class Best:
    """Of the models of at most `mb` megabytes, ours and the rival with the lowest dev perplexity, where there are any."""

    mb: float
    ours: Point | None
    rival: Point | None

    @property
    def lead(self) -> float | None:
        """By how many percent our test perplexity is below the rival's."""
        if self.ours is None or self.rival is None or self.ours.ppl is None or self.rival.ppl is None:
            return None
        return 100 * (1 - self.ours.ppl / self.rival.ppl)


def best_at(points: Sequence[Point], mb: float) -> Best:
    """The best models of at most `mb` megabytes."""
    small = [point for point in points if point.mb <= mb and point.dev_ppl is not None]
    ours, rival = (
        min((point for point in small if point.ours == side), key=lambda point: point.dev_ppl or 0, default=None)
        for side in (True, False)
    )
    return Best(mb, ours, rival)


def envelope(points: Sequence[Point]) -> list[Point]:
    """The points, from small to large, that no smaller one, nor one of about their size, is as good as, on dev."""
    found: list[Point] = []
    for point in sorted(points, key=lambda each: (each.mb, each.dev_ppl or 0)):
        if point.dev_ppl is not None and (not found or point.dev_ppl < (found[-1].dev_ppl or 0)):
            found.append(point)
    return [*(one for one, after in pairwise(found) if after.mb > SAME_SIZE * one.mb), *found[-1:]]


def lines(points: Sequence[Point]) -> dict[str, list[Point]]:
    """The envelope of each method, ours first."""
    ordered = sorted(points, key=lambda point: (not point.ours, point.method))
    return {method: envelope(list(group)) for method, group in groupby(ordered, key=lambda point: point.method)}


def best_table(points: Sequence[Point]) -> Table:
    """The best at each size, ours and the best rival."""
    rows: list[list[Value | str]] = []
    found = (best_at(points, mb) for mb in SIZES)
    for each in (best for best in found if best.ours or best.rival):
        lead = "" if each.lead is None else f"{each.lead:+.1f} %"
        rows.append([f"{each.mb:g} MB", _told(each.ours), _told(each.rival), lead])
    title = "The best model at a size"
    return Table("best", title, ("at most", "sparse codes", "best rival", "lower by"), rows)


def _told(point: Point | None) -> Value:
    if point is None or point.ppl is None:
        return Value("none")
    method = "" if point.ours else f"{point.method}, "
    return Value(f"{point.ppl:.1f}", f"{method}{_bits(point)}, {point.mb:.2f} MB")


def all_table(points: Sequence[Point]) -> Table:
    """Every point, by size."""
    rows = [
        [_run(point), point.method, _bits(point), f"{point.mb:.3f}", _figure(point.dev_ppl), _figure(point.ppl)]
        for point in sorted(points, key=lambda each: each.mb)
    ]
    return Table("all", "All models", ("run", "method", "stored in", "MB", "dev perplexity", "test perplexity"), rows)


def trials_table(points: Sequence[Point]) -> Table:
    """What chose the shapes: each trial's largest file and its smallest, ordered by the smallest."""
    rows = []
    for (run, method), group in groupby(points, key=lambda point: (_run(point), point.method)):
        by_size = sorted(group, key=lambda point: point.mb)
        small, large = by_size[0], by_size[-1]
        figures = [f"{large.mb:.1f}", _figure(large.dev_ppl), f"{small.mb:.3f}", _figure(small.dev_ppl)]
        rows.append((small.mb, [run, method, *figures]))
    titles = ("run", "method", "MB, largest", "dev perplexity", "MB, smallest", "dev perplexity")
    return Table("trials", "Trials", titles, [row for _, row in sorted(rows, key=lambda each: each[0])])


def _is_bfloat16(point: Point) -> bool:
    return point.settings.get("precision") == "bfloat16"


def _run(point: Point) -> str:
    """The name of a run, with a mark if its encoder was trained in bfloat16."""
    return f"{point.run} †" if _is_bfloat16(point) else point.run


def _bits(point: Point) -> str:
    settings = point.settings
    known = ("bits", "encoder_bits", "ngrams", "precision")
    more = ", ".join(f"{name} {value}" for name, value in settings.items() if name not in known)
    bits = "float32" if settings.get("bits") == 32 else f"{settings.get('bits')} bits"
    if settings.get("encoder_bits", settings.get("bits")) != settings.get("bits"):
        bits += f" (encoder {settings['encoder_bits']})"
    return f"{bits}, {more}" if more else bits


def _figure(value: float | None, digits: int = 2) -> str:
    return "none" if value is None else f"{value:.{digits}f}"


def write_frontier(
    points: Sequence[Point],
    results: Path,
    readme: Path | None = None,
    more: Sequence[Sequence[Point]] = (),
    trials: Sequence[Point] = (),
    missing: Sequence[str] = (),
) -> Table:
    """Write the report of the points into the folder `results`, and the block between its marks into `readme`.

    `more` are the points of other plans, with more words: their best models stand below. `trials` are those that chose the
    shapes. Where runs of the plan are `missing`, the report names them.
    """
    points = [point for point in points if point.ppl is not None]
    if not points:
        raise InputError("no run of the frontier is measured on test yet; run the plan first")
    results.mkdir(parents=True, exist_ok=True)
    everything = [point for group in (points, *more) for point in group]
    write_json(results / "frontier.json", [point.to_json() for point in everything])
    draw_frontier(lines(points), results / "figures")
    best = best_table(points)
    block = "\n\n".join(f"{_says(group)}\n\n{markdown_table(best_table(group))}" for group in (points, *more) if group)
    if missing:
        block = f"**Not finished.** Still to run, so that rows may change: {', '.join(missing)}.\n\n{block}"
    parts = [
        "# The frontier: perplexity against megabytes",
        "Written by `fewwords frontier`; do not edit.",
        block,
    ]
    parts.append("![Perplexity against megabytes](figures/frontier.svg)")
    found = all_table(everything)
    parts += [f"## {found.title}", markdown_table(found)]
    if any(map(_is_bfloat16, (*everything, *trials))):
        parts.append("† with an encoder in bfloat16 while it was trained, the others in float32.")
    if trials:
        tried = trials_table(trials)
        parts += [f"## {tried.title}", _says_of_trials(trials), markdown_table(tried)]
    with atomic_write(results / "frontier.md") as file:
        file.write(("\n\n".join(parts) + "\n").encode())
    if readme is not None:
        figure = f"![Perplexity against megabytes](results/figures/frontier.svg)\n\n{block}"
        text = put_between(readme.read_text(encoding="utf-8"), MARKS, figure)
        with atomic_write(readme) as file:
            file.write(text.encode())
    return best


def _says_of_trials(trials: Sequence[Point]) -> str:
    words = quantity(max(point.train_words for point in trials))
    return (
        f"How shapes were chosen: on {words} words at most, with the same recipe, judged on dev alone, without a last "
        "stretch. The best of each size were then trained on all words."
    )


def _says(points: Sequence[Point]) -> str:
    """What was trained and counted, and where this method is ahead or behind."""
    fewest, most = (limit(point.train_words for point in points) for limit in (min, max))
    leads = [each for each in (best_at(points, mb) for mb in SIZES) if each.lead is not None]
    ahead, level, behind = (
        [f"{each.mb:g} MB" for each in leads if lowest < (each.lead or 0) <= highest]
        for lowest, highest in ((LEVEL, math.inf), (-LEVEL, LEVEL), (-math.inf, -LEVEL))
    )
    told = f"Models of {quantity(fewest)} words, every byte counted, chosen on dev and measured on test."
    if most > fewest:
        told += f" Those with a last stretch read up to {quantity(most)} in all, most of them some words again."
    if ahead:
        told += f" Sparse codes are ahead at {_list(ahead)}."
    if level:
        told += f" Sparse codes and the best rival are level at {_list(level)}: within {LEVEL:g} %, twice the spread of seeds."
    if behind:
        told += f" The best rival is ahead at {_list(behind)}."
    return told + _beside_dense(points)


def _beside_dense(points: Sequence[Point]) -> str:
    """Each dense model in float32, and our smallest model that is as good, on dev."""
    told = ""
    for rival in points:
        if not rival.method.startswith("dense") or rival.settings.get("bits") != 32 or rival.dev_ppl is None:
            continue
        as_good = [point for point in points if point.ours and (point.dev_ppl or math.inf) <= rival.dev_ppl]
        ours = min(as_good, key=lambda point: point.mb, default=None)
        beside = "no sparse codes are as good" if ours is None else f"sparse codes {_figures(ours)}"
        told += f" A dense model in float32 has {_figures(rival)}, {beside}."
    return told


def _figures(point: Point) -> str:
    return f"{_figure(point.ppl, 1)} in {point.mb:.2f} MB"


def _list(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
