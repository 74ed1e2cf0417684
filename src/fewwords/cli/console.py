"""What a person sees while a stage runs: log lines and progress on stderr, results on stdout.

On a terminal, progress is a bar with the rate and the time left; elsewhere (a file, a pipe, CI) it is a
plain line every few seconds, so that logs stay readable.
"""

import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress

from fewwords.cli.wording import with_flags
from fewwords.progress import Progress, listen
from fewwords.readable import duration, quantity

SECONDS_BETWEEN_LINES = 10.0


def show_progress() -> None:
    """Show on stderr what stages report, as the command line does; for notebooks and scripts."""
    listen(Display(str))


def result_console() -> Console:
    """The console for results, on stdout; wide enough for a table where stdout is not a terminal."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=120)


class Display:
    """A listener that draws on stderr; `wording` turns a line into what is shown, by default settings into flags."""

    def __init__(self, wording: Callable[[str], str] = with_flags) -> None:
        self._wording = wording
        self._bars: dict[int, _Bar | _Lines] = {}

    def __call__(self, report: str | Progress) -> None:
        """Show a line, or how a stage has moved."""
        if isinstance(report, str):
            _print(self._wording(report))
        elif report.state == "started":
            # not what rich says, which FORCE_COLOR makes call any file a terminal
            self._bars[id(report)] = _Bar(report) if sys.stderr.isatty() else _Lines()
        elif report.state == "running":
            if (bar := self._bars.get(id(report))) is not None:
                bar.move(report)
        else:
            if (bar := self._bars.pop(id(report), None)) is not None:
                bar.stop()
            if report.state == "finished":
                _print(f"{report.description}: {_counted(report)} in {duration(report.seconds)}, {_rate(report)}")


class _Bar:
    def __init__(self, progress: Progress) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[told]}"),
        )
        self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(progress.description, total=progress.total, told="")

    def move(self, progress: Progress) -> None:
        self._bar.update(self._task, completed=progress.done, told=_told(progress))

    def stop(self) -> None:
        self._bar.stop()


class _Lines:
    def __init__(self) -> None:
        self._last_line = time.monotonic()

    def move(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            share = f"{min(1.0, progress.done / progress.total):.0%}, " if progress.total and progress.done else ""
            _print(f"{progress.description}: {share}{_told(progress)}")

    def stop(self) -> None:
        pass


def _told(progress: Progress) -> str:
    left = progress.seconds_left
    parts = [_counted(progress), _rate(progress), "" if left is None else f"{duration(left)} left", progress.status]
    return ", ".join(part for part in parts if part)


def _counted(progress: Progress) -> str:
    return f"{quantity(progress.units)} {progress.unit}"


def _rate(progress: Progress) -> str:
    return f"{quantity(progress.rate)} {progress.unit}/s"


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
