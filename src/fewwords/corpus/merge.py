"""Merging the sorted runs: the second half of the external sort, and the vocabulary of the training part.

The keys divide all sentences into dev (the smallest keys), test and train. First the runs' vocabularies are merged, one
alphabetical range after another, and the words of train are counted and ranked. Then the sentences are merged, one
range of keys after another. Memory depends on the size of a range and the number of distinct words, not on the corpus.
"""

import mmap
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewwords.corpus.runs import Keys, Run, gather
from fewwords.corpus.token_file import TokenWriter
from fewwords.vocabulary import NUM_SPECIAL, SPECIAL_WORDS, UNKNOWN, UNKNOWN_ID

PARTS = ("dev", "test", "train")
_RANGE_WORDS = 4_000_000
_RANGE_TYPES = 200_000
_SAMPLE_EVERY = 256
_LAST_KEY = (1 << 64) - 1


@dataclass(frozen=True)
class Division:
    """Where the keys of dev and of test end: dev has the keys below `dev_end`, test those from there to `test_end`."""

    dev_end: int
    test_end: int


ORDERED_DIVISION = Division(1 << 62, 2 << 62)


def count_words(runs: Sequence[Run]) -> int:
    """Running words in all runs."""
    return sum(int(run.lengths().sum()) for run in runs)


def divide(runs: Sequence[Run], dev_words: int, test_words: int) -> Division:
    """Cut after the first sentence that fills dev, and after the first that fills test."""
    total = max(1, count_words(runs))
    share = min(1.0, 1.25 * (dev_words + test_words) / total + 1e-6)
    while True:
        limit = np.uint64(min(_LAST_KEY, int(share * 2.0**64)))
        keys, lengths = [], []
        for run in runs:
            run_keys = run.keys()
            stop = int(np.searchsorted(run_keys, limit, side="right"))
            keys.append(run_keys[:stop])
            lengths.append(run.lengths(0, stop))
        all_keys = np.concatenate(keys)
        order = np.argsort(all_keys, kind="stable")
        words = np.cumsum(np.concatenate(lengths)[order])
        if share >= 1.0 or (len(words) and words[-1] >= dev_words + test_words):
            break
        share = min(1.0, 2 * share)
    ends = []
    wanted = 0
    for more in (dev_words, test_words):
        wanted += more
        last = int(np.searchsorted(words, wanted)) if more else -1
        if more and last < len(words):
            ends.append(int(all_keys[order[last]]) + 1)
            wanted = int(words[last])
        else:
            ends.append(ends[-1] if ends else 0)
    return Division(ends[0], ends[1])


def drop_duplicates(runs: Sequence[Run]) -> tuple[int, int]:
    """Drop all but one of the sentences with equal keys; returns how many sentences and words were dropped."""
    duplicates = [np.zeros(len(run.keys()), dtype=np.bool_) for run in runs]
    for _, starts, stops in _key_ranges(runs, []):
        keys = np.concatenate([run.keys(start, stop) for run, start, stop in zip(runs, starts, stops)])
        order = np.argsort(keys, kind="stable")
        again = np.zeros(len(keys), dtype=np.bool_)
        again[order[1:]] = keys[order[1:]] == keys[order[:-1]]
        place = 0
        for duplicate, start, stop in zip(duplicates, starts, stops):
            duplicate[start:stop] = again[place : place + stop - start]
            place += stop - start
    num_words = sum(int(run.lengths()[duplicate].sum()) for run, duplicate in zip(runs, duplicates))
    for run, duplicate in zip(runs, duplicates):
        if duplicate.any():
            run.drop(duplicate)
    return sum(int(duplicate.sum()) for duplicate in duplicates), num_words


def merge_vocabularies(runs: Sequence[Run], division: Division, folder: Path, words_path: Path) -> NDArray[np.int64]:
    """Rank the words of train by count, write `words.tsv`, and save for each run the ranks of its words.

    Returns the counts by rank. `<s>` and `</s>` count once per sentence, `<unk>` only where it is in the text itself.
    """
    counts_of_runs = [_train_counts(run, division) for run in runs]
    num_sentences = sum(len(run.keys()) - _first_of_train(run, division) for run in runs)
    alphabetical = folder / "all-words"
    counts_pieces: list[NDArray[np.int64]] = []
    ids_of_runs: list[list[NDArray[np.uint32]]] = [[] for _ in runs]
    num_types = 0
    with alphabetical.open("wb") as file:
        for words_of_runs, first_ids in _word_ranges(runs):
            distinct = sorted(set().union(*words_of_runs))
            places = {word: place for place, word in enumerate(distinct)}
            counts = np.zeros(len(distinct), dtype=np.int64)
            for ids, words, first, run_counts in zip(ids_of_runs, words_of_runs, first_ids, counts_of_runs):
                local = np.fromiter(map(places.__getitem__, words), np.int64, len(words))
                counts[local] += run_counts[first : first + len(words)]
                ids.append((local + num_types).astype(np.uint32))
            if distinct:
                file.write(b"\n".join(distinct) + b"\n")
            num_types += len(distinct)
            counts_pieces.append(counts)
    all_counts = np.concatenate(counts_pieces)
    ranks, counts_by_rank = _write_ranked(alphabetical, all_counts, num_sentences, words_path)
    for run, ids in zip(runs, ids_of_runs):
        run.save_ranks(ranks[np.concatenate(ids)])
    return counts_by_rank


def _first_of_train(run: Run, division: Division) -> int:
    return int(np.searchsorted(run.keys(), np.uint64(min(division.test_end, _LAST_KEY))))


def _train_counts(run: Run, division: Division) -> NDArray[np.uint32]:
    tokens = run.tokens(int(run.lengths(0, _first_of_train(run, division)).sum()))
    return np.bincount(tokens, minlength=len(run.word_ends())).astype(np.uint32)


def _word_ranges(runs: Sequence[Run]) -> Iterator[tuple[list[list[bytes]], list[int]]]:
    """Alphabetical ranges of the runs' words, each small enough for memory, with the first id of each run in it."""
    ends_of_runs = [run.word_ends() for run in runs]
    num_ranges = -(-sum(map(len, ends_of_runs)) // _RANGE_TYPES)
    largest = max(range(len(runs)), key=lambda index: len(ends_of_runs[index]))
    splitters = _WordList(runs[largest], ends_of_runs[largest]).quantiles(num_ranges)
    starts = [0] * len(runs)
    for splitter in [*splitters, None]:
        words_of_runs, first_ids = [], list(starts)
        for index, (run, ends) in enumerate(zip(runs, ends_of_runs)):
            words = _WordList(run, ends)
            stop = len(ends) if splitter is None else bisect_left(words, splitter)
            words_of_runs.append(words.between(starts[index], stop))
            starts[index] = stop
        yield words_of_runs, first_ids


class _WordList(Sequence[bytes]):
    """A run's words, read from disk on demand."""

    def __init__(self, run: Run, ends: NDArray[np.uint32]) -> None:
        self._path = run.words_file()
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> bytes:  # type: ignore[override]
        return self.between(index, index + 1)[0]

    def between(self, start: int, stop: int) -> list[bytes]:
        if start >= stop:
            return []
        first = int(self._ends[start - 1]) if start else 0
        with self._path.open("rb") as file:
            file.seek(first)
            return file.read(int(self._ends[stop - 1]) - first - 1).split(b"\n")

    def quantiles(self, pieces: int) -> list[bytes]:
        return [self[len(self) * piece // pieces] for piece in range(1, pieces)]


def _write_ranked(
    alphabetical: Path, counts: NDArray[np.int64], num_sentences: int, words_path: Path
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Write the words by rank; returns the rank of each word in alphabetical order, and the counts by rank."""
    with alphabetical.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        ends = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == ord("\n"))
        starts = np.concatenate([[0], ends[:-1] + 1])
        special_counts = np.array([0, num_sentences, num_sentences], dtype=np.int64)
        by_count = np.argsort(-counts, kind="stable")
        by_count = by_count[: int((counts > 0).sum())]
        unknown = _find(content, starts, ends, UNKNOWN.encode())
        if unknown is not None:
            special_counts[UNKNOWN_ID] = counts[unknown]
            by_count = by_count[by_count != unknown]
        with words_path.open("wb") as output:
            for rank, (special, count) in enumerate(zip(SPECIAL_WORDS, special_counts)):
                output.write(f"{rank}\t{special}\t{count}\n".encode())
            for rank, place in enumerate(by_count.tolist(), NUM_SPECIAL):
                output.write(b"%d\t%s\t%d\n" % (rank, content[starts[place] : ends[place]], counts[place]))
    ranks = np.full(len(counts), UNKNOWN_ID, dtype=np.uint32)
    ranks[by_count] = np.arange(NUM_SPECIAL, NUM_SPECIAL + len(by_count))
    return ranks, np.concatenate([special_counts, counts[by_count]])


def _find(content: mmap.mmap, starts: NDArray[np.int64], ends: NDArray[np.int64], word: bytes) -> int | None:
    place = bisect_left(range(len(starts)), word, key=lambda index: content[starts[index] : ends[index]])
    found = place < len(starts) and content[starts[place] : ends[place]] == word
    return place if found else None


def merge_sentences(
    runs: Sequence[Run], division: Division, folder: Path, advance: Callable[[int], None]
) -> dict[str, tuple[int, int]]:
    """Write the token files of dev, test and train in the order of the keys; returns words and sentences of each."""
    sizes = dict.fromkeys(PARTS, (0, 0))
    ranges = list(_key_ranges(runs, [division.dev_end, division.test_end]))
    ranks = [run.ranks() for run in runs]
    bounds = _word_bounds(runs, ranges)
    for part in PARTS:
        low, high = {
            "dev": (0, division.dev_end),
            "test": (division.dev_end, division.test_end),
            "train": (division.test_end, _LAST_KEY + 1),
        }[part]
        inside = [
            (starts, stops, first_words, last_words)
            for (key, starts, stops), first_words, last_words in zip(ranges, bounds, bounds[1:])
            if low <= key < high
        ]
        num_sentences = sum(int((stops - starts).sum()) for starts, stops, _, _ in inside)
        num_words = sum(int((last_words - first_words).sum()) for _, _, first_words, last_words in inside)
        sizes[part] = (num_words, num_sentences)
        with TokenWriter(folder / f"{part}.tokens", num_words, num_sentences) as writer:
            for starts, stops, first_words, last_words in inside:
                keys, lengths, tokens = [], [], []
                places = zip(runs, ranks, starts, stops, first_words, last_words)
                for run, run_ranks, start, stop, first_word, last_word in places:
                    keys.append(run.keys(start, stop))
                    lengths.append(run.lengths(start, stop))
                    tokens.append(run_ranks[run.tokens(int(first_word), int(last_word))])
                order = np.argsort(np.concatenate(keys), kind="stable")
                all_lengths = np.concatenate(lengths)
                writer.append(gather(np.concatenate(tokens), all_lengths, order), all_lengths[order])
                advance(int(all_lengths.sum()))
    return sizes


def _word_bounds(
    runs: Sequence[Run], ranges: Sequence[tuple[int, NDArray[np.int64], NDArray[np.int64]]]
) -> NDArray[np.int64]:
    """Where each range begins among the words of each run [num_ranges + 1, num_runs], and where the last one ends."""
    bounds = np.zeros((len(ranges) + 1, len(runs)), dtype=np.int64)
    for index, run in enumerate(runs):
        offsets = np.concatenate([[0], np.cumsum(run.lengths())])
        bounds[:-1, index] = offsets[[starts[index] for _, starts, _ in ranges]]
        bounds[-1, index] = offsets[-1]
    return bounds


def _key_ranges(runs: Sequence[Run], cuts: Sequence[int]) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Ranges of keys that fit in memory and do not cross `cuts`: the lowest key, and each run's sentences in it."""
    samples: list[Keys] = []
    num_words = 0
    for run in runs:
        samples.append(run.keys()[::_SAMPLE_EVERY])
        num_words += int(run.lengths().sum())
    sample = np.sort(np.concatenate(samples))
    step = max(1, int(len(sample) * _RANGE_WORDS / max(1, num_words)))
    bounds = sorted({0, *map(int, sample[step::step]), *(cut for cut in cuts if cut <= _LAST_KEY)})
    places = [
        np.append(np.searchsorted(run.keys(), np.array(bounds, dtype=np.uint64)), len(run.keys())) for run in runs
    ]
    for index, bound in enumerate(bounds):
        yield (
            bound,
            np.array([place[index] for place in places], dtype=np.int64),
            np.array([place[index + 1] for place in places], dtype=np.int64),
        )
