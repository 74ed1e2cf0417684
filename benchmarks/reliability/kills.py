"""A command run in a forked process, which is killed at a chosen step or moment.

A step is the time just before or just after a call that changes the file system (a rename, a removal, a new folder, a
flush): the process kills itself there. A moment is a number of seconds after which it is killed from outside. In the
process the clock stands still, so that recorded times do not differ between a killed run and an undisturbed one.
"""

import io
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewwords.cli import main
from reliability.inputs import write_files

RENAMES = ("rename", "replace")
_STEPS = (*RENAMES, "unlink", "remove", "mkdir", "rmdir", "link", "fsync")
_EXIT_CODE_OF_PYTHON = 70  # an exception that the command line let through


@dataclass(frozen=True)
class Kill:
    """When a command is killed: at a step, counted from 0, or after some seconds; or never."""

    step: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, or None if it was killed, what it said, and what it had done before."""

    code: int | None
    said: str
    steps: list[str]
    seconds: float


def run_command(arguments: list[str], folder: Path, log: Path, kill: Kill | None = None) -> Ended:
    """Run `fewwords ARGUMENTS` in a folder and perhaps kill it."""
    assert threading.active_count() == 1, "threads do not survive a fork"
    kill = kill or Kill()
    steps = log.with_suffix(".steps")
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        code = _EXIT_CODE_OF_PYTHON
        try:
            code = _be_command(arguments, folder, log, steps, kill.step)
        finally:
            os._exit(code)
    if kill.seconds is not None:
        time.sleep(kill.seconds)
        os.kill(child, signal.SIGKILL)  # harmless if it has ended: it is waited for below
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    seconds = time.monotonic() - started
    done = steps.read_text().split() if steps.exists() else []
    return Ended(None if code == -signal.SIGKILL else code, log.read_text(errors="replace"), done, seconds)


def warm_up(arguments: list[str], folder: Path) -> None:
    """Run a command in this process, so that its imports and compiled loops are there in every fork."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            main(arguments)
    except SystemExit as end:
        if end.code:
            raise RuntimeError(said.getvalue()) from None
    finally:
        os.chdir(here)


def _be_command(arguments: list[str], folder: Path, log: Path, steps: Path, kill_step: int | None) -> int:
    """Turn this process into the command."""
    os.chdir(folder)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    now = time.monotonic()
    time.monotonic = lambda: now
    _count_steps(os.open(steps, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), kill_step)
    try:
        main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _count_steps(record: int, kill_step: int | None) -> None:
    """Note every step of this process in a file; at the step of the kill, end it."""
    process = os.getpid()
    count = 0

    def step(name: str) -> None:
        nonlocal count
        if os.getpid() != process:
            return  # a worker process of the command
        if count == kill_step:
            os.kill(process, signal.SIGKILL)
        os.write(record, f"{name}\n".encode())
        count += 1

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            step(f"before-{name}")
            result = function(*arguments, **named)
            step(f"after-{name}")
            return result

        return call

    for name in _STEPS:
        setattr(os, name, counted(name, getattr(os, name)))


def fresh_folder(scratch: Path, files: dict[str, bytes]) -> Path:
    """A new folder with these files."""
    folder = scratch / f"work-{time.monotonic_ns()}"
    write_files(folder, files)
    return folder
