"""Folders are swapped in whole or moved in file by file; a kill at any moment loses nothing that was complete."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fewwords.store.folders import (
    find_folder,
    is_unfinished,
    merged_folder,
    recover_folder,
    remove_folder,
    replaced_folder,
)


class KilledError(BaseException):
    """Stands for SIGKILL: nothing after it happens."""


@pytest.fixture
def kill_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Stop everything from the given number of changes to the disk on; a large number lets all go on."""
    left = 1000

    def count(real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise KilledError
            return real(*arguments, **options)

        return counted

    for owner, names in ((Path, ("rename", "replace", "mkdir", "unlink", "write_text")), (shutil, ("rmtree",))):
        for name in names:
            monkeypatch.setattr(owner, name, count(getattr(owner, name)))

    def let(changes: int) -> None:
        nonlocal left
        left = changes

    yield let
    left = 1000


def write(folder: Path, text: str) -> None:
    with replaced_folder(folder) as building:
        (building / "one").write_text(text)
        (building / "two").write_text(text)


def test_a_swap_that_is_killed_at_any_moment(tmp_path: Path, kill_before: Callable[[int], None]) -> None:
    found = []
    for moment in range(100):
        kill_before(1000)
        folder = tmp_path / str(moment) / "corpus"
        write(folder, "old")
        kill_before(moment)
        try:
            write(folder, "new")
            break
        except KilledError:
            kill_before(1000)
        place = find_folder(folder)
        assert place is not None
        texts = {path.name: path.read_text() for path in place.iterdir()}
        assert texts in ({"one": "old", "two": "old"}, {"one": "new", "two": "new"})
        found.append((place.name, texts["one"]))
        assert is_unfinished(folder) == recover_folder(folder)
        assert {path.name: path.read_text() for path in folder.iterdir()} == texts
        assert [path.name for path in folder.parent.iterdir()] == ["corpus"]
        assert not is_unfinished(folder)
    assert {("corpus", "old"), (".corpus.old", "old"), ("corpus", "new")} <= set(found)


def test_an_exception_leaves_the_old_folder(tmp_path: Path) -> None:
    write(tmp_path / "corpus", "old")
    with pytest.raises(FileExistsError), replaced_folder(tmp_path / "corpus") as building:
        shutil.copytree(tmp_path / "corpus", building)
    assert (tmp_path / "corpus" / "one").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_merging_keeps_what_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "m" / "parts" / "old").mkdir(parents=True)
    for name in ("seal", "log", "file"):
        (tmp_path / "m" / name).write_text("old")
    with merged_folder(tmp_path / "m", "seal") as building:
        (building / "parts").mkdir()
        for name in ("seal", "file", "parts/new"):
            (building / name).write_text("new")
        assert (tmp_path / "m" / "seal").read_text() == "old"
    texts = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert texts == {"m/seal": "new", "m/log": "old", "m/file": "new", "m/parts/new": "new"}
    assert not (tmp_path / "m" / "parts" / "old").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_merge_into_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with merged_folder(Path(), "seal") as building:
        (building / "seal").write_text("new")
    assert (tmp_path / "seal").read_text() == "new"


def test_a_folder_that_is_being_removed_is_whole_or_gone(tmp_path: Path, kill_before: Callable[[int], None]) -> None:
    for moment in range(100):
        kill_before(1000)
        folder = tmp_path / str(moment) / "checkpoint"
        write(folder, "old")
        kill_before(moment)
        try:
            remove_folder(folder)
            break
        except KilledError:
            kill_before(1000)
        assert not folder.exists() or len(list(folder.iterdir())) == 2
        remove_folder(folder)
    assert list(folder.parent.iterdir()) == []
