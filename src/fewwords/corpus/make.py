"""The first stage: raw text or a dump becomes shuffled, split, counted tokens (paper section 4.1, table 2).

Reads any mix of sources; writes `corpus/` in the work folder: `train.tokens`, `dev.tokens`, `test.tokens`, `words.tsv`,
`corpus.json`. Everything is built in a folder beside it and swapped in at the end, so `corpus/` is complete or absent.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords import __version__
from fewwords.corpus.merge import (
    ORDERED_DIVISION,
    Division,
    count_words,
    divide,
    drop_duplicates,
    merge_sentences,
    merge_vocabularies,
)
from fewwords.corpus.runs import Run, find_runs
from fewwords.corpus.settings import Settings
from fewwords.corpus.token_corpus import FORMAT, TokenCorpus
from fewwords.corpus.workers import Workers, start_workers
from fewwords.errors import InputError
from fewwords.progress import Progress, say
from fewwords.store.files import sha256_of, write_json
from fewwords.store.folders import recover_folder, replaced_folder
from fewwords.store.locks import lock_folder
from fewwords.text.decompress import decompress
from fewwords.text.formats import Block, BlockReader
from fewwords.text.segment import DUPLICATE, TOO_LONG, Tally
from fewwords.text.sources import Source, find_sources
from fewwords.vocabulary import END_ID, START_ID, UNKNOWN_ID
from fewwords.work_folder import corpus_folder

PAPER_DEV_WORDS, PAPER_TEST_WORDS = 100_000, 5_000_000
LARGEST_SHARE = 0.05
COVERAGE_SIZES = (10_000, 22_000, 36_000, 50_000)


@dataclass(frozen=True)
class _Part:
    name: str
    number: int
    sources: list[Source]


def prepare(
    sources: Sequence[str] = (),
    work: str | Path = "work",
    *,
    train: Sequence[str] = (),
    dev: Sequence[str] = (),
    test: Sequence[str] = (),
    settings: Settings | None = None,
    dev_words: int | None = None,
    test_words: int | None = None,
    jobs: int = 1,
    force: bool = False,
) -> TokenCorpus:
    """Prepare a corpus in `work/corpus` from `sources`, or from ready-made `train`, `dev` and `test` files.

    `sources` are paths, folders, globs, "-" or "builtin:sotu". `dev_words` and `test_words` default to the paper's
    100,000 and 5,000,000, but at most a twentieth of the corpus each. The result depends on the input, the settings and
    the seed alone, not on `jobs`. Raises InputError for anything the caller can fix, and then leaves nothing behind.
    """
    settings = settings or Settings()
    ready_made = bool(train or dev or test)
    parts = _parts(sources, train, dev, test, strict=settings.strict)
    if ready_made and settings.tokenized:
        settings = replace(settings, min_words=1, max_words=None)  # take a benchmark's lines as they are
    if ready_made and settings.dedup:
        raise InputError("`dedup` would change ready-made splits; leave it out, or give the files as one corpus")
    if ready_made and (dev_words is not None or test_words is not None):
        raise InputError("`dev_words` and `test_words` are for splitting; leave them out for ready-made splits")
    if jobs < 1:
        raise InputError(f"`jobs` {jobs}: choose 1 or more")
    folder = corpus_folder(work)
    with lock_folder(folder.parent, "prepare"), _replaced(folder, force) as building:
        with start_workers(settings, building, not ready_made, jobs) as workers:
            described, tally = _read(parts, settings, workers)
        runs = find_runs(building)
        if not runs:
            raise InputError(_nothing_left(parts, tally, settings))
        if settings.dedup:
            tally.drop(DUPLICATE, *drop_duplicates(runs))
        division = ORDERED_DIVISION if ready_made else _divide(runs, dev_words, test_words)
        counts = merge_vocabularies(runs, division, building, building / "words.tsv")
        with Progress("shuffling", count_words(runs), "words") as progress:
            sizes = merge_sentences(runs, division, building, progress.advance)
        if sizes["train"][0] == 0:
            remedy = "a larger `max_words`" if ready_made else "smaller `dev_words` and `test_words`"
            raise InputError(f"{_names(parts[-1:])}: no sentence is left for training; use {remedy}, or more text")
        if ready_made and sizes["dev"][0] == 0:
            raise InputError(
                f"{_names(parts[:1])}: no sentence is left for dev; use a larger `max_words`, or more text"
            )
        for run in runs:
            run.delete()
        (building / "all-words").unlink()
        statistics: dict[str, Any] = {
            part: {"words": words, "sentences": sentences} for part, (words, sentences) in sizes.items()
        }
        write_json(
            building / "corpus.json",
            {
                "format": FORMAT,
                "version": __version__,
                "settings": asdict(settings),
                "ready_made": ready_made,
                "sources": described,
                "parts": {part: statistics[part] for part in ("train", "dev", "test")},
                "types": len(counts),
                "dropped": {
                    reason: {"sentences": tally.sentences[reason], "words": tally.words[reason]}
                    for reason in sorted(tally.sentences)
                },
                "invalid_utf8": sum(tally.invalid_bytes.values()),
                "coverage": _coverage(building, counts),
                "sha256": {name: sha256_of(building / name) for name in _FILES},
            },
        )
    _warn(tally, settings, described, sum(words for words, _ in sizes.values()))
    return TokenCorpus.open(work)


_FILES = ("train.tokens", "dev.tokens", "test.tokens", "words.tsv")


def _parts(
    sources: Sequence[str], train: Sequence[str], dev: Sequence[str], test: Sequence[str], *, strict: bool
) -> list[_Part]:
    if not (train or dev or test):
        if not sources:
            raise InputError("no source given; name files, folders, '-', or builtin:sotu")
        return [_Part("corpus", 0, find_sources(sources, strict=strict))]
    if sources:
        raise InputError(f"{sources[0]}: give either sources to split, or `train`, `dev` and `test`, not both")
    if not train or not dev:
        raise InputError("ready-made splits need `train` and `dev` (and, for final results, `test`)")
    # the order of the keys: dev, test, train
    return [
        _Part("dev", 0, find_sources(dev, strict=strict)),
        _Part("test", 1, find_sources(test, strict=strict)),
        _Part("train", 2, find_sources(train, strict=strict)),
    ]


@contextmanager
def _replaced(folder: Path, force: bool) -> Iterator[Path]:
    """A folder that replaces `folder`, which must not exist unless `force` is given."""
    if recover_folder(folder):
        say(f"{folder}: left unfinished by an earlier run; starting over")
    if folder.exists() and not force:
        raise InputError(f"{folder}: there is a prepared corpus already; use `force` to replace it, or another `work`")
    with replaced_folder(folder) as building:
        yield building


def _read(parts: list[_Part], settings: Settings, workers: Workers) -> tuple[list[dict[str, Any]], Tally]:
    """Send all sources through the workers; returns their descriptions and the tally."""
    described: list[dict[str, Any]] = []
    total = sum(source.num_bytes for part in parts for source in part.sources)
    number = 0
    with Progress("preparing", total or None, "words") as progress:
        for part in parts:
            for source in part.sources:
                stream = _SourceStream(source, settings.tokenized, part.number)
                for block in stream.blocks(number):
                    number = block.number + 1
                    progress.advance(stream.take_progress(), workers.work_on(block), status=source.name)
                described.append({"part": part.name, **stream.description()})
        num_words, tally = workers.finish()
        progress.advance(0, num_words)
    for description in described:
        description["invalid_utf8"] = tally.invalid_bytes[description["name"]]
    return described, tally


class _SourceStream:
    """A source read from raw bytes to blocks, counted and hashed on the way."""

    def __init__(self, source: Source, tokenized: bool, part: int) -> None:
        self._source = source
        self._digest = hashlib.sha256()
        self._num_bytes = 0
        self._reported = 0
        self._compression, pieces = decompress(self._raw(), source.name)
        self._reader = BlockReader(source.name, pieces, tokenized, part)

    def _raw(self) -> Iterator[bytes]:
        for chunk in self._source.chunks():
            self._digest.update(chunk)
            self._num_bytes += len(chunk)
            yield chunk

    def blocks(self, first_number: int) -> Iterator[Block]:
        """The source's blocks."""
        return self._reader.blocks(first_number)

    def take_progress(self) -> int:
        """Raw bytes read since the last call."""
        step = self._num_bytes - self._reported
        self._reported = self._num_bytes
        return step

    def description(self) -> dict[str, Any]:
        """The entry of the source in `corpus.json`, once it has been read."""
        return {
            "name": self._source.name,
            "format": self._reader.format,
            "compression": self._compression,
            "bytes": self._num_bytes,
            "sha256": self._digest.hexdigest(),
            "torn_lines": self._reader.num_torn_lines,
        }


def _divide(runs: list[Run], dev_words: int | None, test_words: int | None) -> Division:
    total = count_words(runs)
    wanted = []
    for name, asked, paper in (("dev", dev_words, PAPER_DEV_WORDS), ("test", test_words, PAPER_TEST_WORDS)):
        share = int(LARGEST_SHARE * total)
        if asked is not None and asked < 0:
            raise InputError(f"`{name}_words` {asked}: choose 0 or more")
        if asked is None and paper > share:
            say(
                f"{name}: {share:,} words instead of the paper's {paper:,}, to leave most of {total:,} words for training"
            )
        wanted.append(min(paper, share) if asked is None else asked)
    if sum(wanted) >= total:
        raise InputError(
            f"`dev_words` {wanted[0]} and `test_words` {wanted[1]} leave none of {total:,} words for training; "
            "use smaller numbers"
        )
    return divide(runs, *wanted)


def _coverage(folder: Path, counts: NDArray[np.int64]) -> dict[str, dict[str, float]]:
    """For each vocabulary size, the share of each part's running words that it covers; `<unk>` does not count."""
    words = counts.copy()
    words[[START_ID, END_ID]] = 0
    by_rank = {"train": words}  # train is not read again: it can be large
    for part in ("dev", "test"):
        by_rank[part] = np.bincount(TokenCorpus.read_part(folder, part).tokens, minlength=len(counts))
    sizes = [size for size in COVERAGE_SIZES if size < len(counts)] + [len(counts)]
    return {
        str(size): {
            part: round(float(ranks[UNKNOWN_ID + 1 : size].sum() / ranks.sum()), 6)
            for part, ranks in by_rank.items()
            if ranks.any()
        }
        for size in sizes
    }


def _names(parts: list[_Part]) -> str:
    first, *others = [source.name for part in parts for source in part.sources]
    return f"{first} and {len(others)} more" if others else first


def _nothing_left(parts: list[_Part], tally: Tally, settings: Settings) -> str:
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in tally.sentences.most_common())
    if not reasons:
        return f"{_names(parts)}: no words at all; check that this is text"
    lengths = (
        f"{settings.min_words} or more"
        if settings.max_words is None
        else f"{settings.min_words} to {settings.max_words}"
    )
    return (
        f"{_names(parts)}: no sentence is left after filtering ({reasons}); "
        f"sentences of {lengths} words are kept: change `min_words` or `max_words`"
    )


def _warn(tally: Tally, settings: Settings, described: list[dict[str, Any]], num_words: int) -> None:
    for source in described:
        if source["invalid_utf8"]:
            say(
                f"{source['name']}: {source['invalid_utf8']:,} invalid UTF-8 sequences were replaced (`strict` would stop there)"
            )
        if source["torn_lines"]:
            say(
                f"{source['name']}: lines of over 8 MB were cut in {source['torn_lines']:,} places; is one line one paragraph?"
            )
    if tally.words[TOO_LONG] > 0.2 * num_words:
        say(
            f"{tally.words[TOO_LONG]:,} words were in sentences longer than {settings.max_words} words and were dropped; "
            "text without punctuation needs one sentence per line, or a larger `max_words`"
        )
