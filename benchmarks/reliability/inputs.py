"""An input: the files of a folder by path, in memory, so that it can be changed and written out quickly."""

import os
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Union


class Special(Enum):
    """What can lie where a file is expected; the value of a link is where it leads."""

    DIRECTORY = "a directory"
    PIPE = "a named pipe"
    LOOP = "."
    NOWHERE = "no-such-file"
    EMPTY_DEVICE = "/dev/null"
    ENDLESS_DEVICE = "/dev/zero"


Content = Union[bytes, Special]
Files = dict[str, Content]


def read_files(folder: Path) -> dict[str, bytes]:
    """The content of every file below a folder, by relative path, hidden ones included."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def write_files(folder: Path, files: Mapping[str, Content]) -> None:
    """Write files into a folder, which is made; a file below something that is no directory is left out."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif content is Special.DIRECTORY:
            path.mkdir()
        elif content is Special.PIPE:
            os.mkfifo(path)
        else:
            path.symlink_to(path.name if content is Special.LOOP else content.value)
