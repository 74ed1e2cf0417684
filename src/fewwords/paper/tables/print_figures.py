"""How figures are printed, whatever shows them: a dash for unknown ones."""

from fewwords.paper.tables.seeds import Runs
from fewwords.readable import quantity

DASH = "–"
NOT_RUN = "not run yet"
BYTES_PER_NUMBER = 4  # float32


def number(value: int | None) -> str:
    """`12,345`."""
    return DASH if value is None else f"{value:,}"


def figure(value: float | None, digits: int = 1) -> str:
    """A perplexity or size with one digit after the point; huge ones are rounded."""
    return DASH if value is None else quantity(value) if value >= 100_000 else f"{value:,.{digits}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """`58.8 %`."""
    return DASH if value is None else f"{value:.{digits}f} %"


def perplexity(runs: Runs | None, *, planned: bool = True) -> str:
    """The mean over seeds of a cell; if there is none, the reason."""
    if runs is None:
        return NOT_RUN if planned else DASH
    if runs.mean is None:
        return "diverged" if runs.first.ppl is None else f"diverged ({figure(runs.first.ppl)})"
    return figure(runs.mean)


def spread_note(runs: Runs) -> str:
    """`± 0.6, 3 seeds`, for cells that have several."""
    return "" if runs.deviation is None else f"± {runs.deviation:.1f}, {len(runs.records)} seeds"


def signed(value: float, digits: int = 1) -> str:
    """`+0.5` or `−0.5`, with a real minus."""
    return f"{value:+.{digits}f}".replace("-", "−")


def megabytes(numbers: int) -> float:
    """The size of this many numbers in float32, in megabytes."""
    return BYTES_PER_NUMBER * numbers / 1e6
