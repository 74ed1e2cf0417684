"""Worker processes under limits of memory and time, which an input may kill.

Workers are forked from a process that has imported and warmed up everything, so a new one costs nothing. A worker tries
inputs in order and reports each; one that dies, or says nothing for too long, has failed at the input after the last
one it reported, and another goes on behind it.
"""

import faulthandler
import os
import resource
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Literal

Outcome = Literal["refused", "same", "changed", "exceptions", "crashes", "timeouts"]
FAILURES: tuple[Outcome, ...] = ("exceptions", "crashes", "timeouts")
Report = tuple[int, Outcome, str]
# Tries the input of a number in a folder.
Try = Callable[[int, Path], tuple[Outcome, str]]


@dataclass(frozen=True)
class Limits:
    """For one input: seconds of a core, or of waiting, and memory beyond what a worker has when it starts."""

    seconds: float = 10.0
    mebibytes: int = 1024


class _Worker:
    """A process that tries the inputs of some numbers; `left` are those that it has not reported."""

    def __init__(self, try_one: Try, left: range, scratch: Path, limits: Limits) -> None:
        self.left = left
        self.has_ended = False
        self.connection, theirs = Pipe(duplex=False)
        self._limits = limits
        self._log = scratch / f"log-{left.start}"
        self._reported = time.monotonic()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                self._serve(try_one, theirs, scratch / f"worker-{left.start}")
                os._exit(0)
            finally:
                os._exit(1)
        theirs.close()

    def _serve(self, try_one: Try, connection: Connection, folder: Path) -> None:
        log = self._log.open("w")
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
        faulthandler.enable(log)
        faulthandler.register(signal.SIGPROF, log, chain=True)  # tells where it was when its time ran out, and ends it
        first_size = _address_space()
        room = self._limits.mebibytes << 20
        resource.setrlimit(resource.RLIMIT_AS, (first_size + room,) * 2)
        for number in self.left:
            signal.setitimer(signal.ITIMER_PROF, self._limits.seconds)
            connection.send((number, *try_one(number, folder)))
            shutil.rmtree(folder, ignore_errors=True)
            if _address_space() - first_size > room / 4:
                return  # the allocator has kept much of what an input took: the next one shall have all of the room

    def report(self) -> Report | None:
        """The next report, be it of the end of the process; None if there is none yet, or none to come."""
        if self.connection.poll():
            try:
                report: Report = self.connection.recv()
            except EOFError:
                code, told = self._end()
                self.has_ended = True
                if code == 0:
                    return None
                report = (self.left[0], "timeouts" if code == -signal.SIGPROF else "crashes", told)
        elif time.monotonic() - self._reported > self._limits.seconds and self._is_waiting():
            os.kill(self._pid, signal.SIGPROF)  # tells where it waits
            time.sleep(0.1)
            os.kill(self._pid, signal.SIGKILL)
            report = (self.left[0], "timeouts", self._end()[1])
            self.has_ended = True
        else:
            return None
        self._reported = time.monotonic()
        self.left = self.left[1:]
        return report

    def _is_waiting(self) -> bool:
        """Whether the process sleeps, as it does when it waits for a pipe, rather than wait for a core."""
        return Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"

    def _end(self) -> tuple[int, str]:
        """How the process ended: its exit code, and the story with what it left on stderr."""
        code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return code, f"the process ended with {name}\n{self._log.read_text(errors='replace')[-4000:]}"


def _address_space() -> int:
    """The bytes of address space that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def try_all(try_one: Try, numbers: range, scratch: Path, limits: Limits, workers: int = 1) -> Iterator[Report]:
    """Try the inputs of all numbers; yields a report of each, in no order."""
    running = [_Worker(try_one, numbers[place::workers], scratch, limits) for place in range(workers)]
    while running:
        wait([worker.connection for worker in running], timeout=0.5)
        for worker in list(running):
            report = worker.report()
            if report is not None:
                yield report
            if worker.has_ended:
                running.remove(worker)
                worker.connection.close()
                if worker.left:
                    running.append(_Worker(try_one, worker.left, scratch, limits))
