"""Files that are either complete or absent: atomic writes, JSON, content hashes.

A file is written beside its final place, flushed to the disk and then renamed, so that a reader never
sees half of it, whatever happens to the writer.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fewwords.errors import InputError


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a binary file that appears at `path` only if the block ends without an exception."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, atomically."""
    with atomic_write(path) as file:
        file.write(json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")


def read_json(path: Path) -> Any:
    """Read a JSON file; raises InputError when it is missing or damaged."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except ValueError as error:
        raise InputError(f"{path}: not valid JSON ({error}); make it again") from None


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
