"""A prepared corpus, opened for reading: parts, sentences, and equal-length batches at any vocabulary size.

Tokens are stored by rank, so a vocabulary of V words is read by turning every rank past V into `<unk>`, without
preparing anything again. Files stay on disk and are mapped into memory.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fewwords.corpus.batches import Batch, Position, make_batches
from fewwords.corpus.settings import Settings
from fewwords.corpus.token_file import TokenFile
from fewwords.errors import InputError, Stage
from fewwords.store.files import read_json
from fewwords.store.folders import is_unfinished
from fewwords.store.typed import describe, read_object
from fewwords.text.rules import TextRules
from fewwords.vocabulary import NUM_SPECIAL, UNKNOWN_ID, Vocabulary
from fewwords.work_folder import corpus_folder

FORMAT = "fewwords corpus 1"
PartName = Literal["train", "dev", "test"]


@dataclass(frozen=True)
class Part:
    """One part of a corpus, read through a vocabulary: every word past it is `<unk>`."""

    name: str
    file: TokenFile
    vocabulary_size: int

    @property
    def num_sentences(self) -> int:
        """Sentences."""
        return self.file.num_sentences

    @property
    def num_words(self) -> int:
        """Running words."""
        return self.file.num_words

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The length of each sentence, [num_sentences]."""
        return np.diff(self.file.offsets)

    def head(self, max_words: int | None) -> "Part":
        """The first sentences with at most `max_words` words in total, but at least one; None gives the whole part.

        Raises InputError when the part is empty.
        """
        if self.num_sentences == 0:
            raise InputError(f"the part {self.name} is empty; prepare the corpus with more text")
        if max_words is None:
            return self
        if max_words < 1:
            raise InputError(f"the first {max_words} words: choose 1 or more")
        num_sentences = max(1, int(np.searchsorted(self.file.offsets, max_words, side="right")) - 1)
        return Part(self.name, self.file.head(num_sentences), self.vocabulary_size)

    def tail(self, skip_words: int) -> "Part":
        """What `head(skip_words)` leaves out; all for 0. Raises InputError when nothing is left."""
        if skip_words < 1:
            return self
        if skip_words >= self.num_words:
            raise InputError(
                f"the part {self.name} has {self.num_words:,} words, and `skip_words` {skip_words:,} leaves none; skip fewer"
            )
        return Part(self.name, self.file.tail(self.head(skip_words).num_sentences), self.vocabulary_size)

    def tokens(self, start: int, stop: int) -> NDArray[np.int64]:
        """The ids of the running words `start` to `stop`."""
        tokens = np.asarray(self.file.tokens[start:stop], dtype=np.int64)
        tokens[tokens >= self.vocabulary_size] = UNKNOWN_ID
        return tokens

    def sentence(self, index: int) -> NDArray[np.int64]:
        """The ids of one sentence, without `<s>` and `</s>`."""
        if not 0 <= index < self.num_sentences:
            raise IndexError(f"sentence {index} of {self.num_sentences}")
        return self.tokens(int(self.file.offsets[index]), int(self.file.offsets[index + 1]))

    def sentences(self, start: int = 0, stop: int | None = None) -> Iterator[NDArray[np.int64]]:
        """The ids of the sentences `start` to `stop`, one after another."""
        for index in range(start, self.num_sentences if stop is None else min(stop, self.num_sentences)):
            yield self.sentence(index)

    def batches(self, batch_words: int, *, seed: int = 1, position: Position | None = None) -> Iterator[Batch]:
        """Batches of sentences of equal length, epoch after epoch without end, starting at `position`.

        Each batch has the position after it, where a later call continues as if nothing had stopped.
        """
        return make_batches(self, batch_words, seed=seed, position=position or Position())


@dataclass(frozen=True)
class _Source:
    part: str
    name: str
    format: str
    compression: str | None
    bytes: int
    sha256: str
    torn_lines: int = 0
    invalid_utf8: int = 0


@dataclass(frozen=True)
class _Amount:
    words: int
    sentences: int


@dataclass(frozen=True)
class _Description:
    """What `corpus.json` says besides its format."""

    version: str
    settings: Settings
    ready_made: bool
    sources: tuple[_Source, ...]
    parts: dict[PartName, _Amount]
    types: int
    dropped: dict[str, _Amount]
    invalid_utf8: int
    coverage: dict[str, dict[str, float]]
    sha256: dict[str, str]

    def __post_init__(self) -> None:
        if self.types <= NUM_SPECIAL or not all(re.fullmatch("[0-9]{1,18}", size) for size in self.coverage):
            raise InputError("types is too small, or a size of coverage is no number")
        if set(self.parts) != set(get_args(PartName)):
            raise InputError("parts are not train, dev and test")
        if any(not self.parts.keys() >= shares.keys() >= _with_words(self.parts) for shares in self.coverage.values()):
            raise InputError("coverage is not that of the parts")


def _with_words(parts: dict[PartName, _Amount]) -> set[PartName]:
    return {name for name, amount in parts.items() if amount.words}


class TokenCorpus:
    """A prepared corpus: `TokenCorpus.open(DIR).part("train", vocabulary_size=50_000)`."""

    def __init__(self, folder: Path, description: dict[str, Any]) -> None:
        self.folder = folder
        self.description = description

    @classmethod
    def open(cls, work: str | Path) -> "TokenCorpus":
        """Open the corpus of a work folder (or the corpus folder itself); raises InputError if it is incomplete."""
        work = Path(work)
        folder = work if (work / "corpus.json").exists() else corpus_folder(work)
        if not (folder / "corpus.json").exists():
            if is_unfinished(folder):
                raise InputError(f"{work}: its corpus is unfinished", remedy=Stage("prepare", work=work))
            raise InputError(f"{work}: there is no prepared corpus", remedy=Stage("prepare", work=work))
        path = folder / "corpus.json"
        description = read_json(path)
        what = "the description of a corpus that this version can read"
        describe(description, path, _Description, FORMAT, what, Stage("prepare", work=work, force=True))
        return cls(folder, description)

    @property
    def num_types(self) -> int:
        """Distinct words of the training part, special words included: the size of the largest vocabulary."""
        return int(self.description["types"])

    @property
    def made_from(self) -> dict[str, Any]:
        """What a model folder records of its corpus: names of the sources, how they were read, hashes of the files."""
        sources = [source["name"] for source in self.description["sources"]]
        return {"sources": sources, **{name: self.description[name] for name in ("settings", "sha256")}}

    @property
    def rules(self) -> TextRules:
        """How its text became words."""
        return read_object(Settings, self.description["settings"]).rules

    def vocabulary(self, size: int | None = None) -> Vocabulary:
        """The first `size` words by rank, special words included; `<unk>` counts all others."""
        whole = Vocabulary.load(self.folder / "words.tsv")
        if len(whole) != self.num_types:
            raise InputError(
                f"{self.folder / 'words.tsv'}: {len(whole):,} words, but corpus.json says {self.num_types:,}",
                remedy=Stage("prepare", force=True),
            )
        return whole if size is None else whole.head(size)

    def part(self, name: PartName, vocabulary_size: int | None = None) -> Part:
        """A part, read through the first `vocabulary_size` words (default: all)."""
        size = self.num_types if vocabulary_size is None else vocabulary_size
        if not NUM_SPECIAL < size <= self.num_types:
            raise InputError(
                f"a vocabulary of {size:,} words was asked for, but {self.folder} has {self.num_types:,} "
                f"(the {NUM_SPECIAL} special words included); choose a smaller one"
            )
        file, stated = self.read_part(self.folder, name), self.description["parts"][name]
        if (file.num_words, file.num_sentences) != (stated["words"], stated["sentences"]):
            raise InputError(
                f"{self.folder / name}.tokens: {file.num_words:,} words in {file.num_sentences:,} sentences, but corpus.json "
                f"says {stated['words']:,} in {stated['sentences']:,}",
                remedy=Stage("prepare", force=True),
            )
        if (file.offsets[1:] == file.offsets[:-1]).any():
            remedy = Stage("prepare", force=True)
            raise InputError(f"{self.folder / name}.tokens: there is an empty sentence", remedy=remedy)
        return Part(name, file, size)

    @staticmethod
    def read_part(folder: Path, name: str) -> TokenFile:
        """The token file of a part."""
        if name not in ("train", "dev", "test"):
            raise InputError(f"{name}: a corpus has the parts train, dev and test")
        return TokenFile(folder / f"{name}.tokens")
