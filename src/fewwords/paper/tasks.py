"""Tasks in processes of their own, one or several at a time, with their messages in files.

An error comes back through a pipe, as one line. SIGTERM is passed on to the tasks: training writes a checkpoint and ends.
"""

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from fewwords.errors import DivergedError, InputError
from fewwords.progress import listen, say
from fewwords.progress_lines import ProgressLines
from fewwords.readable import duration
from fewwords.training.interruption import Interruption

SECONDS_BETWEEN_LOOKS = 0.5
_NUMPY_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Task:
    """What a process does: `do` must be a function of a module, or a `partial` of one.

    `before` is done here just before the process starts: what no two tasks may do at once.
    """

    name: str
    do: Callable[[], object]
    before: Callable[[], object] = lambda: None


@dataclass
class TaskRunner:
    """Runs tasks, `jobs` at a time with `threads` each; `title` is the command's, and `logs` the folder of their messages."""

    title: str
    waiting: list[Task]
    logs: Path
    jobs: int
    threads: int
    running: list["_Running"] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    def run(self) -> dict[str, str]:
        """Run them all; returns the errors by name. Raises KeyboardInterrupt on SIGINT and SIGTERM, once all have ended."""
        with Interruption() as interruption:
            try:
                while (self.waiting or self.running) and not interruption.asked:
                    while self.waiting and len(self.running) < self.jobs:
                        self._start(self.waiting.pop(0))
                    wait([each.process.sentinel for each in self.running], SECONDS_BETWEEN_LOOKS)
                    for each in [each for each in self.running if not each.process.is_alive()]:
                        self._finish(each)
            finally:
                for each in self.running:
                    each.process.terminate()
                for each in self.running:
                    each.process.join()
        if interruption.asked:
            raise KeyboardInterrupt
        return self.failures

    def _start(self, task: Task) -> None:
        log = self.logs / f"{task.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            task.before()
        except InputError as error:
            self._fail(task.name, str(error))
            return
        context = multiprocessing.get_context("spawn")
        errors, theirs = context.Pipe(duplex=False)
        process = context.Process(target=run_task_process, args=(task.name, task.do, log, theirs), name=task.name)
        with _numpy_threads(self.threads):
            process.start()
        theirs.close()
        self.running.append(_Running(task.name, process, errors, log))
        say(f"{self.title}: {task.name} starts, {len(self.waiting)} waiting; its messages are in {log}")

    def _finish(self, ended: "_Running") -> None:
        self.running.remove(ended)
        error = ended.error()
        if error is None:
            say(f"{self.title}: {ended.name} done in {duration(time.monotonic() - ended.started)}")
            return
        self._fail(ended.name, error)

    def _fail(self, name: str, error: str) -> None:
        self.failures[name] = error
        say(f"{self.title}: {name} failed: {error}")


@contextmanager
def _numpy_threads(threads: int) -> Iterator[None]:
    """Processes that start within have so many threads for numpy's products, which numpy reads only when it is loaded.

    With more, they would wait for threads that have no core while others train.
    """
    before = {name: os.environ.get(name) for name in _NUMPY_THREADS}
    os.environ.update(dict.fromkeys(_NUMPY_THREADS, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def run_task_process(name: str, do: Callable[[], object], log: Path, errors: Connection) -> None:
    """What the process of a task does: the task with stdout and stderr in `log`; an error is sent as one line."""
    if os.name == "posix":
        os.setsid()  # the parent passes Ctrl-C on, once
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    listen(ProgressLines())
    try:
        do()
    except KeyboardInterrupt:
        errors.send("interrupted")
    except (InputError, DivergedError, OSError) as error:
        say(f"{name}: {error}")
        errors.send(str(error))
    except Exception as error:
        traceback.print_exc()
        errors.send(f"internal error ({type(error).__name__}: {error}); see {log}")


@dataclass(frozen=True)
class _Running:
    name: str
    process: SpawnProcess
    errors: Connection
    log: Path
    started: float = field(default_factory=time.monotonic)

    def error(self) -> str | None:
        """What went wrong in the ended process."""
        self.process.join()
        if self.errors.poll():
            try:
                return str(self.errors.recv())
            except EOFError:  # it ended without a message
                pass
        code = self.process.exitcode
        return None if code == 0 else f"the process ended with exit code {code}; see {self.log}"
