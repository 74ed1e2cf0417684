"""Model calls in threads, one for each core, with bounds on how many wait and for how long."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import TypeVar

Result = TypeVar("Result")


class BusyError(Exception):
    """Too many requests are waiting, or this one took too long."""


class Workers:
    """Runs calls in `num_threads` threads; at most `most_waiting` others wait, and nobody longer than `seconds`."""

    def __init__(self, num_threads: int, most_waiting: int, seconds: float) -> None:
        self.seconds = seconds
        self._pool = ThreadPoolExecutor(num_threads, "fewwords-model")
        self._places = BoundedSemaphore(num_threads + most_waiting)

    async def run(self, call: Callable[[], Result]) -> Result:
        """The result of a call; raises BusyError. A call that takes too long keeps its place until it ends."""
        if not self._places.acquire(blocking=False):
            raise BusyError("too many requests are waiting")
        work = self._pool.submit(call)
        work.add_done_callback(lambda _: self._places.release())
        try:
            return await asyncio.wait_for(asyncio.wrap_future(work), self.seconds)
        except asyncio.TimeoutError:
            raise BusyError(f"no answer within {self.seconds:g} seconds") from None
