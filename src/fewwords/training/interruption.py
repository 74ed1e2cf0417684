"""Ctrl-C and SIGTERM: the step is finished and a checkpoint written before the process ends."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interruption:
    """While active, SIGINT and SIGTERM set `asked`; a second one ends the process at once. A context manager."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interruption":
        # Python handles signals in the main thread only
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
