"""Sorted runs: the first half of the external sort that shuffles the sentences in bounded memory.

Each sentence gets a 64-bit key, and the shuffled order is the order of the keys. A `RunBuilder` collects sentences
until its memory is used up, sorts them by key and writes them as a run: four plain files with the keys, the lengths,
the tokens (ids into the run's own vocabulary) and that vocabulary in alphabetical order. `merge` merges the runs.
"""

import hashlib
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.text.lexicon import Lexicon

Keys = NDArray[np.uint64]


def mix(values: Keys) -> Keys:
    """Scramble 64-bit values one to one (the finaliser of SplitMix64): different values stay different."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def shuffle_keys(block_number: int, num_sentences: int, seed: int) -> Keys:
    """Keys in random order, distinct for all sentences of all blocks, from the seed and the places alone.

    Sentences are numbered within a block in 24 bits; a block of the longest page has far fewer.
    """
    first = int(mix(np.array([seed], dtype=np.uint64))[0]) + (block_number << 24)
    return mix(np.arange(num_sentences, dtype=np.uint64) + np.uint64(first % (1 << 64)))


def ordered_keys(part: int, block_number: int, num_sentences: int) -> Keys:
    """Keys that keep the order of the source, one part after another."""
    keys: Keys = np.arange(num_sentences, dtype=np.uint64) + np.uint64(part << 62 | block_number << 24)
    return keys


def content_keys(word_hashes: Keys, lengths: NDArray[np.int64], seed: int) -> Keys:
    """Keys from the words of the sentences alone: equal sentences get equal keys, others almost surely different ones.

    With n sentences, two different ones share a key with a probability of about n² / 2^65: 0.01 % for 70 million.
    """
    starts = np.cumsum(lengths) - lengths
    places = np.arange(len(word_hashes), dtype=np.uint64) - np.repeat(starts, lengths).astype(np.uint64)
    placed = mix(word_hashes + places * np.uint64(0x9E3779B97F4A7C15))
    return mix(np.add.reduceat(placed, starts) + mix(np.array([seed], dtype=np.uint64)))


def gather(tokens: NDArray[np.uint32], lengths: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The tokens of ragged sentences, rearranged into `order`."""
    starts = (np.cumsum(lengths) - lengths)[order]
    new_lengths = lengths[order]
    shift = starts - (np.cumsum(new_lengths) - new_lengths)
    result: NDArray[np.uint32] = tokens[np.repeat(shift, new_lengths) + np.arange(len(tokens))]
    return result


class RunBuilder:
    """Collects sentences in memory and writes them to `folder` as sorted runs; `dedup` takes keys from the content."""

    def __init__(self, folder: Path, name: str, *, dedup: bool, seed: int) -> None:
        self._folder = folder
        self._name = name
        self._dedup = dedup
        self._seed = seed
        self._num_runs = 0
        self._clear()

    def _clear(self) -> None:
        self._tokens: list[bytes] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._keys: list[Keys] = []
        self.num_words = 0

    def add(self, tokens: bytes, lengths: NDArray[np.int64], keys: Keys) -> None:
        """Add the sentences of a block: their words as ids of the lexicon, the length and the key of each."""
        self._tokens.append(tokens)
        self._lengths.append(lengths)
        self._keys.append(keys)
        self.num_words += len(tokens) // 4

    def flush(self, lexicon: Lexicon) -> None:
        """Write what was collected, if anything."""
        if self.num_words:
            tokens = np.frombuffer(b"".join(self._tokens), dtype="<u4")
            self._tokens.clear()
            occurs = np.bincount(tokens, minlength=len(lexicon)) > 0
            words = sorted(compress(lexicon, occurs.tolist()))
            alphabetical = np.empty(len(lexicon), dtype=np.uint32)
            alphabetical[np.frombuffer(lexicon.encode(words), dtype="<u4")] = np.arange(len(words))
            tokens = alphabetical[tokens]
            lengths = np.concatenate(self._lengths)
            keys = np.concatenate(self._keys)
            if self._dedup:
                digests = b"".join(hashlib.blake2b(word.encode(), digest_size=8).digest() for word in words)
                keys = content_keys(np.frombuffer(digests, dtype="<u8")[tokens], lengths, self._seed)
            order = np.argsort(keys, kind="stable")
            run = Run(self._folder / f"{self._name}-{self._num_runs:05}")
            run.write(keys[order], lengths[order], gather(tokens, lengths, order), words)
            self._num_runs += 1
        self._clear()


@dataclass(frozen=True)
class Run:
    """A run on disk; `path` is the common start of its file names."""

    path: Path

    def _file(self, kind: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{kind}")

    def _save(self, kind: str, values: NDArray[Any]) -> None:
        # not ndarray.tofile, which reports no error when a small array does not fit on the disk
        self._file(kind).write_bytes(values.data)

    def write(self, keys: Keys, lengths: NDArray[np.int64], tokens: NDArray[np.uint32], words: list[str]) -> None:
        """Write sorted sentences and the run's words, which are in alphabetical order."""
        self._save("keys", keys)
        self._save("lengths", lengths.astype(np.uint32))
        self._save("tokens", tokens)
        encoded = [word.encode() for word in words]
        ends = np.cumsum([len(word) + 1 for word in encoded], dtype=np.uint32)
        self._save("word-ends", ends)
        self._file("words").write_bytes(b"\n".join(encoded) + b"\n")

    def drop(self, duplicate: NDArray[np.bool_]) -> None:
        """Write the run again without the sentences that `duplicate` [num_sentences] marks."""
        lengths = self.lengths()
        tokens = np.fromfile(self._file("tokens"), dtype=np.uint32)
        self._save("tokens", tokens[~np.repeat(duplicate, lengths)])
        self._save("lengths", lengths[~duplicate].astype(np.uint32))
        self._save("keys", self.keys()[~duplicate])

    def delete(self) -> None:
        """Remove the run's files."""
        for kind in ("keys", "lengths", "tokens", "words", "word-ends", "ranks"):
            self._file(kind).unlink(missing_ok=True)

    def keys(self, start: int = 0, stop: int | None = None) -> Keys:
        """The keys of the sentences `start` to `stop`, ascending."""
        count = -1 if stop is None else stop - start
        return np.fromfile(self._file("keys"), dtype=np.uint64, count=count, offset=8 * start)

    def lengths(self, start: int = 0, stop: int | None = None) -> NDArray[np.int64]:
        """The lengths of the sentences `start` to `stop`, in words."""
        count = -1 if stop is None else stop - start
        return np.fromfile(self._file("lengths"), dtype=np.uint32, count=count, offset=4 * start).astype(np.int64)

    def tokens(self, start: int = 0, stop: int | None = None) -> NDArray[np.uint32]:
        """The tokens `start` to `stop`, as ids of the run's own words."""
        count = -1 if stop is None else stop - start
        return np.fromfile(self._file("tokens"), dtype=np.uint32, count=count, offset=4 * start)

    def word_ends(self) -> NDArray[np.uint32]:
        """Where each word ends in the run's list of words, its line end included."""
        return np.fromfile(self._file("word-ends"), dtype=np.uint32)

    def words_file(self) -> Path:
        """The run's words, one per line, in alphabetical order."""
        return self._file("words")

    def save_ranks(self, ranks: NDArray[np.uint32]) -> None:
        """Keep a number for each of the run's words."""
        self._save("ranks", ranks)

    def ranks(self) -> NDArray[np.uint32]:
        """What `save_ranks` kept."""
        return np.fromfile(self._file("ranks"), dtype=np.uint32)


def find_runs(folder: Path) -> list[Run]:
    """All runs in a folder, by name."""
    return [Run(path.with_suffix("")) for path in sorted(folder.glob("*.keys"))]
