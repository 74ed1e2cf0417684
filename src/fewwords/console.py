"""What a person sees while a stage runs: log lines and progress on stderr, results on stdout.

On a terminal, progress is a bar with the rate and the time left; elsewhere (a file, a pipe, CI) it is a
plain line every few seconds, so that logs stay readable.
"""

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Table

SECONDS_BETWEEN_LINES = 10.0


def say(line: str) -> None:
    """Write one log line to stderr."""
    print(line, file=sys.stderr, flush=True)


def result_console() -> Console:
    """The console for results, on stdout; wide enough for a table where stdout is not a terminal."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=120)


def result_table(title: str, first: str, *columns: str) -> Table:
    """An empty table for results: the first column to the left, the others to the right."""
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def duration(seconds: float) -> str:
    """`75` -> `1:15`, `3675` -> `1:01:15`."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def quantity(value: float) -> str:
    """A number that can be read at a glance: `950`, `12.3 k`, `4.0 M`, `1.6 G`."""
    for factor, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= factor:
            return f"{value / factor:.1f}{letter}"
    return f"{value:.0f}"


class Progress:
    """Progress of one stage: `advance(amount, units)` moves it by `amount` of `total`.

    `units` counts what the rate is told in (words, say), which need not be what the total is told in
    (bytes, say). Use as a context manager.
    """

    def __init__(self, description: str, total: float | None, unit: str) -> None:
        self._description = description
        self._total = total
        self._unit = unit
        self._done = 0.0
        self._units = 0.0
        self._status = ""
        self._bar: RichProgress | None = None

    def __enter__(self) -> "Progress":
        self._start = self._last_line = time.monotonic()
        if sys.stderr.isatty():  # not what rich says, which FORCE_COLOR makes call any file a terminal
            console = Console(stderr=True)
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[status]}"),
            )
            self._bar = RichProgress(*columns, console=console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._description, total=self._total, rate="", status="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if error is None:
            seconds = time.monotonic() - self._start
            say(f"{self._description}: {self._counted()} in {duration(seconds)}, {self._rate(seconds)}")

    def advance(self, amount: float, units: float | None = None, status: str = "") -> None:
        """Move on by `amount` of the total; `units` (default: the same) feed the rate."""
        self._done += amount
        self._units += amount if units is None else units
        self._status = status or self._status
        now = time.monotonic()
        if self._bar is not None:
            rate = f"{self._counted()}, {self._rate(now - self._start)}"
            self._bar.update(self._task, completed=self._done, rate=rate, status=self._status)
        elif now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            say(self._line(now - self._start))

    def _line(self, seconds: float) -> str:
        parts = [self._counted(), self._rate(seconds)]
        if self._total and self._done:
            parts.insert(0, f"{min(1.0, self._done / self._total):.0%}")
            parts.append(f"{duration(seconds * max(0.0, self._total / self._done - 1))} left")
        if self._status:
            parts.append(self._status)
        return f"{self._description}: {', '.join(parts)}"

    def _counted(self) -> str:
        return f"{quantity(self._units)} {self._unit}"

    def _rate(self, seconds: float) -> str:
        return f"{quantity(self._units / max(seconds, 1e-9))} {self._unit}/s"
