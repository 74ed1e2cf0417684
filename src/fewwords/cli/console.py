"""What a person sees while a stage runs: log lines and progress on stderr, results on stdout.

On a terminal, progress is a bar with the rate and the time left; elsewhere (a file, a pipe, CI) it is a
plain line every few seconds, so that logs stay readable.
"""

import sys
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress

from fewwords.cli.wording import with_flags
from fewwords.progress import Progress, listen
from fewwords.progress_lines import ProgressLines, told


def show_progress() -> None:
    """Show on stderr what stages report, as the command line does; for notebooks and scripts."""
    listen(Display(str))


def result_console() -> Console:
    """The console for results, on stdout; wide enough for a table where stdout is not a terminal."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=120)


class Display(ProgressLines):
    """A listener that draws bars on a terminal, and writes lines elsewhere; by default settings are shown as flags."""

    def __init__(self, wording: Callable[[str], str] = with_flags) -> None:
        super().__init__(wording)
        self._bars: dict[int, _Bar] = {}

    def __call__(self, report: str | Progress) -> None:
        """Show a line, or how a stage has moved."""
        if isinstance(report, Progress):
            # not what rich says, which FORCE_COLOR makes call any file a terminal
            if report.state == "started" and sys.stderr.isatty():
                self._bars[id(report)] = _Bar(report)
            elif report.state == "running" and id(report) in self._bars:
                self._bars[id(report)].move(report)
                return
            elif report.state in ("finished", "failed") and id(report) in self._bars:
                self._bars.pop(id(report)).stop()
        super().__call__(report)


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
        self._bar.update(self._task, completed=progress.done, told=told(progress))

    def stop(self) -> None:
        self._bar.stop()
