"""Files that are either complete or absent: atomic writes, JSON, content hashes.

A file is written beside its final place as `.NAME.PID.unfinished`, flushed to disk and then renamed, so a reader never
sees half of it, whatever happens to the writer. What a killed writer left behind is removed by the next writer of the
same file, and after a day by the next writer in the same folder.
"""

import errno
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fewwords.errors import InputError, Remedy
from fewwords.store.json_text import parse_json, to_json_text

MOST_JSON_BYTES = 1 << 28
DAY = 24 * 60 * 60.0
_DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a binary file that appears at `path` only if the block ends without an exception."""
    remove_leftovers(path)
    temporary = unfinished_path(path)
    try:
        with naming_full_disk(path), temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def unfinished_path(path: Path) -> Path:
    """Where this process writes a file or folder before it moves to `path`."""
    return path.with_name(f".{path.name}.{os.getpid()}.unfinished")


def leftovers(path: Path) -> list[Path]:
    """What killed writers of `path`, a file or a folder, left beside it."""
    return left_by_the_dead(path.parent, re.escape(f".{path.name}.") + r"(\d+)\.unfinished")


def left_by_the_dead(folder: Path, pattern: str, *, age: float | None = None) -> list[Path]:
    """The entries of a folder whose names match `pattern`, with the number of a process in it that is not running.

    With an age, only those that nobody has touched for so many seconds: the process may run on another machine.
    """
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    found = [(folder / name, match) for name in names if (match := re.fullmatch(pattern, name))]
    dead = [path for path, match in found if not _is_running(int(match[1]))]
    return dead if age is None else [path for path in dead if time.time() - path.lstat().st_mtime > age]


def remove_leftovers(path: Path) -> None:
    """Remove what killed writers of `path` left behind, and what those of its neighbours did a day ago or earlier."""
    for leftover in (*leftovers(path), *left_by_the_dead(path.parent, r"\..+\.(\d+)\.unfinished", age=DAY)):
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    """Whether another process with this number is running."""
    if pid == os.getpid():
        return False
    if os.name != "posix":
        return True  # there is no harmless signal to probe with
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def naming_full_disk(place: Path) -> Iterator[None]:
    """Make the error of a full disk name `place`: a failed write names no file, or a temporary one."""
    try:
        yield
    except Exception as error:
        told = re.search(r"\(os error (\d+)\)", str(error))  # safetensors raises its own error with this text
        number = error.errno if isinstance(error, OSError) else int(told[1]) if told else None
        if number not in _DISK_IS_FULL:
            raise
        raise OSError(number, os.strerror(number), str(place)) from error


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, atomically; a number that is not finite becomes null."""
    with atomic_write(path) as file:
        file.write(to_json_text(value, indent=2).encode() + b"\n")


def read_json(path: Path) -> Any:
    """Read a JSON file; raises InputError when it is missing, damaged, or no file (a pipe would never end)."""
    check_file(path)
    try:
        with path.open("rb") as file:
            text = file.read(MOST_JSON_BYTES + 1)
        if len(text) > MOST_JSON_BYTES:
            raise InputError(f"larger than {MOST_JSON_BYTES >> 20} MiB")
        return parse_json(text)
    except InputError as error:
        raise InputError(f"{path}: {error}; make it again") from None


def check_file(path: Path, remedy: Remedy | tuple[Remedy, ...] = (), *, or_pipe: bool = False) -> None:
    """Raise InputError unless `path` is a file or a link to one: a pipe or a device could be read for ever."""
    if not path.is_file() and not (or_pipe and path.is_fifo()):
        told = "a folder, not a file" if path.is_dir() else "not a file" if path.exists() else "no such file"
        raise InputError(f"{path}: {told}", remedy=remedy)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
