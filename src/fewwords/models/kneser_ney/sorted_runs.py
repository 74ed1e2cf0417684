"""Count equal keys in bounded memory: sort a block, squeeze it, and beyond the budget merge sorted runs from disk.

If everything fits into one block, nothing is written. Otherwise each block becomes a run of distinct keys with their
counts in a temporary file without a name, which the system removes however the program ends. Runs are written with
plain writes, so that a full disk is an ordinary OSError, and read through memory maps.
"""

import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np
from numpy.typing import NDArray

from fewwords.models.kneser_ney.compiled import compiled

Int64s = NDArray[np.int64]
ROW_BYTES = 16  # a key and a count


@dataclass(frozen=True)
class Counted:
    """Distinct keys in ascending order, [rows], and how often each occurs, [rows]; in memory, or mapped from a file."""

    keys: Int64s
    counts: Int64s


def count_keys(
    pieces: Iterable[Int64s],
    num_keys: int,
    *,
    memory_bytes: int,
    folder: Path | None = None,
    merged: Callable[[int], None] | None = None,
) -> Counted:
    """Count the keys of all pieces, at most `num_keys` in total; `merged` is called with the number of rows merged.

    Blocks take at most `memory_bytes`; temporary files go to `folder`, or to the system's own.
    """
    block = max(1, min(num_keys, memory_bytes // ROW_BYTES))
    keys, counts = np.empty(block, np.int64), np.empty(block, np.int64)
    filled = 0
    with _Runs(folder) as runs:
        for piece in pieces:
            taken = 0
            while taken < len(piece):
                if filled == block:
                    runs.add(keys, counts, _sort(keys, counts))
                    filled = 0
                step = min(len(piece) - taken, block - filled)
                keys[filled : filled + step] = piece[taken : taken + step]
                filled += step
                taken += step
        num_rows = _sort(keys[:filled], counts)
        if not runs.num_runs:
            return Counted(keys[:num_rows].copy(), counts[:num_rows].copy())
        runs.add(keys, counts, num_rows)
        return runs.merge(keys, counts, merged)


def _sort(keys: Int64s, counts: Int64s) -> int:
    """Sort keys and squeeze them to distinct ones with their counts, in place; returns how many."""
    keys.sort()
    return int(_squeeze(keys, counts))


@compiled
def _squeeze(keys: Int64s, counts: Int64s) -> int:
    row = -1
    for key in keys:
        if row >= 0 and keys[row] == key:
            counts[row] += 1
        else:
            row += 1
            keys[row] = key
            counts[row] = 1
    return row + 1


class _Runs:
    """Sorted runs, one after another in two files, which exist from the first run on; a context manager."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._ends = [0]
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> "_Runs":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ExitStack() as closing:
            for file in self._files:
                closing.callback(file.close)

    @property
    def num_runs(self) -> int:
        """Runs so far."""
        return len(self._ends) - 1

    def add(self, keys: Int64s, counts: Int64s, num_rows: int) -> None:
        """Append the first rows of two arrays as a run."""
        if not self._files:
            self._files = [_temporary(self._folder), _temporary(self._folder)]
        for file, column in zip(self._files, (keys, counts)):
            file.write(column[:num_rows].data)
        self._ends.append(self._ends[-1] + num_rows)

    def merge(self, keys: Int64s, counts: Int64s, merged: Callable[[int], None] | None) -> Counted:
        """Merge all runs into one, through the two arrays as buffers."""
        all_keys, all_counts = map(_mapped, self._files)
        places, stops = np.array(self._ends[:-1]), np.array(self._ends[1:])
        with _temporary(self._folder) as merged_keys, _temporary(self._folder) as merged_counts:
            while filled := _merge(all_keys, all_counts, places, stops, keys, counts):
                merged_keys.write(keys[:filled].data)
                merged_counts.write(counts[:filled].data)
                if merged is not None:
                    merged(filled)
            return Counted(_mapped(merged_keys), _mapped(merged_counts))


@compiled
def _merge(keys: Int64s, counts: Int64s, places: Int64s, stops: Int64s, out_keys: Int64s, out_counts: Int64s) -> int:
    """Fill the output with the smallest keys of the runs, from `places`, which are advanced; returns how many rows."""
    for filled in range(len(out_keys)):
        least = np.int64(-1)  # keys are never negative
        for run in range(len(places)):
            if places[run] < stops[run]:
                key = keys[places[run]]
                if least < 0 or key < least:
                    least = key
        if least < 0:
            return filled
        out_keys[filled] = least
        out_counts[filled] = 0
        for run in range(len(places)):
            if places[run] < stops[run] and keys[places[run]] == least:
                out_counts[filled] += counts[places[run]]
                places[run] += 1
    return len(out_keys)


def _temporary(folder: Path | None) -> IO[bytes]:
    return tempfile.TemporaryFile(dir=folder)


def _mapped(file: IO[bytes]) -> Int64s:
    """The content of a file, memory-mapped; changes stay in memory."""
    file.flush()
    return np.asarray(np.memmap(file, np.int64, mode="c"))
