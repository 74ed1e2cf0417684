"""What a stage reports while it runs. Nothing is shown unless somebody listens.

`say` reports a line, `Progress` how far a stage has come. Both go to one listener, a function that takes a line (a string) or a
`Progress` that has started, moved or ended. `with listening(callback):` installs one; the command line installs one that
draws, and `fewwords.show_progress()` does the same for Python. Settings are named in lines as in `InputError`: in backticks.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, Union

WINDOW_SECONDS = 10.0
SECONDS_BETWEEN_SAMPLES = 0.25

Listener = Callable[[Union[str, "Progress"]], None]

_listener: Listener | None = None
_listener_process = 0
_number = ""


def listen(listener: Listener | None) -> None:
    """Send all reports of this process to `listener` from now on; None: to nobody."""
    global _listener, _listener_process
    _listener, _listener_process = listener, os.getpid()


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Send all reports of this process to `listener` for a while."""
    before = _listener
    listen(listener)
    try:
        yield
    finally:
        listen(before)


@contextmanager
def without_lines() -> Iterator[None]:
    """Report progress for a while, and no lines."""
    heard = _listener

    def progress_only(report: "str | Progress") -> None:
        if heard is not None and not isinstance(report, str):
            heard(report)

    with listening(progress_only):
        yield


@contextmanager
def numbered(number: int, total: int) -> Iterator[None]:
    """Report everything for a while as belonging to step `number` of `total`: `2/5 vectors`."""
    global _number
    before, _number = _number, f"{number}/{total} "
    try:
        yield
    finally:
        _number = before


def say(line: str) -> None:
    """Report one line."""
    _report(_number + line)


def _report(what: "str | Progress") -> None:
    # A forked worker has a copy of the listener, which may hold a lock or draw over its parent's bar.
    if _listener is not None and _listener_process == os.getpid():
        _listener(what)


class Progress:
    """Progress of one stage: `advance(amount, units)` moves it by `amount` of `total`.

    `units` counts what the rate is told in (words, say), which need not be what the total is told in (bytes, say). Use as a
    context manager. `state` tells a listener what has just happened.
    """

    def __init__(self, description: str, total: float | None, unit: str) -> None:
        self.description = _number + description
        self.total = total
        self.unit = unit
        self.done = 0.0
        self.units = 0.0
        self.status = ""
        self.state: Literal["started", "running", "finished", "failed"] = "started"
        self._start = self._now = 0.0
        # (time, done, units), the oldest first; the first is taken after the first step, so that warming up does not count
        self._samples: deque[tuple[float, float, float]] = deque()

    def __enter__(self) -> "Progress":
        self._start = self._now = time.monotonic()
        _report(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._now = time.monotonic()
        self.state = "finished" if error is None else "failed"
        _report(self)

    def advance(self, amount: float, units: float | None = None, status: str = "") -> None:
        """Move on by `amount` of the total; `units` (default: the same) feed the rate."""
        self.state = "running"
        self.done += amount
        self.units += amount if units is None else units
        self.status = status or self.status
        self._now = time.monotonic()
        if not self._samples or self._now - self._samples[-1][0] >= SECONDS_BETWEEN_SAMPLES:
            self._samples.append((self._now, self.done, self.units))
        while len(self._samples) > 1 and self._now - self._samples[1][0] >= WINDOW_SECONDS:
            self._samples.popleft()
        _report(self)

    @property
    def seconds(self) -> float:
        """Since the start, at the last step."""
        return self._now - self._start

    @property
    def rate(self) -> float:
        """Units a second: over the last ten seconds while the stage runs, over all of it at the end."""
        return self._speed()[1]

    @property
    def seconds_left(self) -> float | None:
        """At the pace of the last ten seconds; None when that cannot be told."""
        pace = self._speed()[0]
        return None if self.total is None or pace <= 0 else max(0.0, self.total - self.done) / pace

    def _speed(self) -> tuple[float, float]:
        """Amount and units a second."""
        since, done, units = self._start, 0.0, 0.0
        if self.state == "running" and self._samples and self._now - self._samples[0][0] >= SECONDS_BETWEEN_SAMPLES:
            since, done, units = self._samples[0]
        seconds = max(self._now - since, 1e-9)
        return (self.done - done) / seconds, (self.units - units) / seconds
