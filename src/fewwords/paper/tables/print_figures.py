"""How figures are printed, in the report and in markdown alike: a dash for what is not there."""

from collections.abc import Mapping
from typing import Any

from fewwords.readable import quantity

DASH = "–"


def number(value: int | None) -> str:
    """`12,345`."""
    return DASH if value is None else f"{value:,}"


def figure(value: float | None) -> str:
    """A perplexity or size with one digit after the point; a huge one rounded to what can be read."""
    return DASH if value is None else quantity(value) if value >= 100_000 else f"{value:,.1f}"


def percent(value: float | None, digits: int = 1) -> str:
    """`58.8 %`."""
    return DASH if value is None else f"{value:.{digits}f} %"


def perplexity(entry: Mapping[str, Any] | None) -> str:
    """The mean over seeds of a cell; what became of it when there is none."""
    if entry is None:
        return DASH
    if entry["diverged"]:
        return "diverged" if entry["ppl"] is None else f"diverged ({figure(entry['ppl'])})"
    return figure(entry["mean"])


def spread_note(entry: Mapping[str, Any]) -> str:
    """`± 0.6, 3 seeds`, for cells that have several."""
    return "" if entry["spread"] is None or entry["seeds"] < 2 else f"± {entry['spread']:.1f}, {entry['seeds']} seeds"


def signed(value: float, digits: int = 1) -> str:
    """`+0.5` or `−0.5`, with a real minus."""
    return f"{value:+.{digits}f}".replace("-", "−")
