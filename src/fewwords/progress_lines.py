"""A listener that writes plain lines: every report, and how a stage has moved every few seconds, so that logs stay readable."""

import sys
import time
from collections.abc import Callable

from fewwords.progress import Progress
from fewwords.readable import duration, quantity

SECONDS_BETWEEN_LINES = 10.0


class ProgressLines:
    """Writes to stderr, wherever that goes; `wording` turns a report into what is shown."""

    def __init__(self, wording: Callable[[str], str] = str) -> None:
        self._wording = wording
        self._last_lines: dict[int, float] = {}

    def __call__(self, report: str | Progress) -> None:
        """Write a line, or how a stage has moved where that is due."""
        if isinstance(report, str):
            self.write(self._wording(report))
        elif report.state == "started":
            self._last_lines[id(report)] = time.monotonic()
        elif report.state == "running":
            now = time.monotonic()
            if now - self._last_lines.get(id(report), now) >= SECONDS_BETWEEN_LINES:
                self._last_lines[id(report)] = now
                share = f"{min(1.0, report.done / report.total):.0%}, " if report.total and report.done else ""
                self.write(f"{report.description}: {share}{told(report)}")
        else:
            self._last_lines.pop(id(report), None)
            if report.state == "finished":
                counted = f"{quantity(report.units)} {report.unit} in {duration(report.seconds)}"
                self.write(f"{report.description}: {counted}, {quantity(report.rate)} {report.unit}/s")

    @staticmethod
    def write(line: str) -> None:
        """Write one line."""
        print(line, file=sys.stderr, flush=True)


def told(progress: Progress) -> str:
    """`12.3 M words, 30.1 k words/s, 1:15 left`."""
    left = progress.seconds_left
    parts = [
        f"{quantity(progress.units)} {progress.unit}",
        f"{quantity(progress.rate)} {progress.unit}/s",
        "" if left is None else f"{duration(left)} left",
        progress.status,
    ]
    return ", ".join(part for part in parts if part)
