"""`training.jsonl`: one line per evaluation, in order of words seen, flushed to disk before training continues."""

import os
from pathlib import Path
from typing import Any

from fewwords.errors import InputError
from fewwords.store.files import atomic_write, check_file
from fewwords.store.json_text import parse_json, to_json_text


def append_line(path: Path, line: dict[str, Any]) -> None:
    """Add a line and flush it to the disk."""
    with path.open("ab") as file:
        file.write(to_json_text(line).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The complete lines of a record; a line cut short by a kill is left out."""
    if not path.exists():
        return []
    check_file(path, "start over with `force`")
    lines = []
    for text in path.read_bytes().splitlines(keepends=True):
        try:
            lines.append(parse_json(text) if text.endswith(b"\n") else None)
        except InputError:
            continue
    return [line for line in lines if isinstance(line, dict)]


def cut_after(path: Path, words: int) -> None:
    """Drop the lines of more than `words` words, which training from a checkpoint at `words` will write again."""
    kept = [line for line in read_lines(path) if type(seen := line.get("words")) is int and seen <= words]
    with atomic_write(path) as file:
        file.writelines(to_json_text(line).encode() + b"\n" for line in kept)
