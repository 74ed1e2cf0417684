"""A lock on a folder, so that two runs do not write into it at the same time; it ends with its process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fewwords.errors import InputError
from fewwords.store.files import naming_full_disk


@contextmanager
def lock_folder(folder: Path, purpose: str) -> Iterator[None]:
    """Hold the folder's lock for `purpose`; raises InputError when another process has it.

    Makes the folder if needed, and removes it again if it stays empty. The error of a full disk names the folder,
    whichever file could not be written.
    """
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f".{purpose}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if os.name == "posix":
            import fcntl

            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(f"{folder}: another fewwords {purpose} is running there; wait until it ends") from None
        try:
            with naming_full_disk(folder):
                yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
        with suppress(OSError):  # not empty
            for each in made:
                each.rmdir()
