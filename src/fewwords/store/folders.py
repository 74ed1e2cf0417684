"""Folders that are either complete or absent: written elsewhere, then swapped or moved in.

A folder is built beside its final place as `.NAME.PID.unfinished`. `replaced_folder` then swaps it in as a whole: the
old folder becomes `.NAME.old`, the new one takes its name, and the old one is removed. A kill between the two renames
leaves the old folder whole, and `recover_folder` puts it back. `merged_folder` moves the new files into a folder that
has other files too. There one file, the seal, is the first old one removed and the last new one moved in, so a folder
without it counts as incomplete. A lock (see `locks`) keeps two writers out of one folder.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fewwords.store.files import (
    DAY,
    left_by_the_dead,
    leftovers,
    naming_full_disk,
    remove_leftovers,
    unfinished_path,
)


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """A new folder that takes the place of `folder` as a whole if the block ends without an exception."""
    recover_folder(folder)
    with _building(folder) as building:
        yield building
        _flush(building)
        try:
            if folder.exists():
                folder.rename(_old(folder))
            building.rename(folder)
        except BaseException:
            recover_folder(folder)
            raise
        _flush_folder(folder.parent)
    shutil.rmtree(_old(folder), ignore_errors=True)


@contextmanager
def merged_folder(folder: Path, seal: str) -> Iterator[Path]:
    """A new folder whose entries move into `folder` if the block ends without an exception, the file `seal` last.

    Entries of the same name are replaced, subfolders as a whole; all others stay.
    """
    place = folder.resolve()  # "." has no name
    with _building(place) as building:
        yield building
        _flush(building)
        names = sorted(path.name for path in building.iterdir() if path.name != seal)
        replaced = building / ".replaced"
        replaced.mkdir()
        place.mkdir(parents=True, exist_ok=True)
        (place / seal).unlink(missing_ok=True)
        for name in names:
            if (building / name).is_dir() and (place / name).is_dir():
                (place / name).rename(replaced / name)  # as a whole: half a subfolder would belong to nobody
            (building / name).replace(place / name)
        (building / seal).replace(place / seal)
        _flush_folder(place)


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A folder among the system's temporary files, removed at the end; after a kill, by a later one of its purpose."""
    place = Path(tempfile.gettempdir())
    for leftover in left_by_the_dead(place, rf"fewwords-{purpose}-(\d+)-\w+", age=DAY):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"fewwords-{purpose}-{os.getpid()}-") as folder:
        yield Path(folder)


def recover_folder(folder: Path) -> bool:
    """Finish or undo an interrupted swap and remove what killed writers left; returns whether there was anything."""
    unfinished = is_unfinished(folder)
    if _old(folder).exists() and not folder.exists():
        _old(folder).rename(folder)
    shutil.rmtree(_old(folder), ignore_errors=True)
    remove_leftovers(folder)
    return unfinished


def is_unfinished(folder: Path) -> bool:
    """Whether a killed writer left `folder` unfinished, or left the previous folder under its other name."""
    return bool(leftovers(folder)) or _old(folder).exists()


def find_folder(folder: Path) -> Path | None:
    """Where the folder is, at whatever moment its writer was killed; None if there is none."""
    return next((place for place in (folder, _old(folder)) if place.is_dir()), None)


def remove_folder(folder: Path) -> None:
    """Remove a folder; at every moment it is whole or gone."""
    recover_folder(folder)
    if folder.exists():
        shutil.rmtree(folder.rename(unfinished_path(folder)), ignore_errors=True)


@contextmanager
def _building(folder: Path) -> Iterator[Path]:
    remove_leftovers(folder)
    building = unfinished_path(folder)
    building.mkdir(parents=True)
    try:
        with naming_full_disk(folder):
            yield building
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _old(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _flush(folder: Path) -> None:
    """Flush all files below a folder to disk before it is renamed."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
