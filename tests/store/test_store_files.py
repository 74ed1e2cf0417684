"""Files are complete or absent, what killed writers left goes, and a full disk has a name."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fewwords.store.files import DAY, atomic_write, naming_full_disk
from fewwords.store.folders import scratch_folder
from fewwords.store.locks import lock_folder


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(TypeError), atomic_write(path) as file:
        file.writelines([b"new", None])  # type: ignore[list-item]
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"file": "old"}


def test_leftovers_of_dead_writers_of_the_same_file_are_removed(tmp_path: Path, dead: int) -> None:
    living = os.getppid()
    gone, kept = [f".[f].{dead}.unfinished"], [f".[f].{living}.unfinished", f".g.{dead}.unfinished", "..unfinished"]
    for name in gone + kept:
        (tmp_path / name).write_text("half")
    with atomic_write(tmp_path / "[f]") as file:
        file.write(b"whole")
    assert {each.name for each in tmp_path.iterdir()} == {"[f]", *kept}


def test_old_leftovers_of_dead_writers_of_other_files_are_removed_too(tmp_path: Path, dead: int) -> None:
    old, new, living = f".g.{dead}.unfinished", f".h.{dead}.unfinished", f".i.{os.getppid()}.unfinished"
    (tmp_path / old).mkdir()
    (tmp_path / old / "part").write_text("half")
    for name in (new, living):
        (tmp_path / name).write_text("half")
    for name in (old, living):
        os.utime(tmp_path / name, (0, time.time() - 2 * DAY))
    with atomic_write(tmp_path / "f") as file:
        file.write(b"whole")
    assert {each.name for each in tmp_path.iterdir()} == {"f", new, living}


def test_a_scratch_folder_goes_and_so_does_an_old_one_of_a_dead_process(
    tmp_path: Path, dead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    old, new = tmp_path / f"fewwords-test-{dead}-abc_1", tmp_path / f"fewwords-test-{dead}-abc_2"
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (0, time.time() - 2 * DAY))
    with scratch_folder("test") as folder:
        assert folder.name.startswith(f"fewwords-test-{os.getpid()}-")
        assert {each.name for each in tmp_path.iterdir()} == {new.name, folder.name}
    assert [each.name for each in tmp_path.iterdir()] == [new.name]


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded", "/some/.temporary"),
        RuntimeError("I/O error: File too large (os error 27)"),
    ],
)
def test_the_error_of_a_full_disk_names_the_outermost_place(tmp_path: Path, error: Exception) -> None:
    work = tmp_path / "work"
    with pytest.raises(OSError, match="work") as caught, lock_folder(work, "test"), naming_full_disk(work / "file"):
        raise error
    assert caught.value.filename == str(tmp_path / "work")
    assert os.strerror(caught.value.errno or 0) in str(caught.value)
    assert not (tmp_path / "work").exists()


def test_other_errors_stay_as_they_are(tmp_path: Path) -> None:
    error = PermissionError(errno.EACCES, "Permission denied", "/some/file")
    with pytest.raises(PermissionError) as caught, naming_full_disk(tmp_path):
        raise error
    assert caught.value is error
