"""The stage that codes a vocabulary: word vectors in, sparse codes and a quality report out (sections 3.1 and 4.2).

Reads `corpus/` and `vectors/` of a work folder; writes `codes/vV-bB.safetensors` and `vV-bB.quality.json`. The base
is the B most frequent words plus the special words. A rare word without a vector is coded as `<unk>`.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewwords import __version__
from fewwords.codes.quality import CodeQuality, measure_quality
from fewwords.codes.settings import DEFAULT_BASE_SIZE, CodingSettings
from fewwords.codes.solve import CodingTrace, solve_codes
from fewwords.codes.sparse_codes import SparseCodes
from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError, Stage
from fewwords.progress import say
from fewwords.store.files import sha256_of, write_json
from fewwords.store.locks import lock_folder
from fewwords.vectors.word_vectors import WordVectors
from fewwords.vocabulary import NUM_SPECIAL, UNKNOWN_ID, Vocabulary
from fewwords.work_folder import codes_path, vectors_path


@dataclass(frozen=True)
class CodedVocabulary:
    """Codes with the words they are for, how good they are, and how they were found."""

    codes: SparseCodes
    vocabulary: Vocabulary
    quality: CodeQuality
    trace: CodingTrace
    path: Path


def make_codes(
    work: str | Path,
    vocabulary_size: int | None = None,
    base_size: int = DEFAULT_BASE_SIZE,
    settings: CodingSettings | None = None,
    *,
    jobs: int | None = None,
    path: Path | None = None,
    force: bool = False,
) -> CodedVocabulary:
    """Code the first `vocabulary_size` words (default: all that have vectors) over `base_size` base words.

    Raises InputError if vectors and sizes do not fit together, or if `path` exists and `force` is not given.
    """
    whole = TokenCorpus.open(work).vocabulary()
    with lock_folder(Path(work), "codes"):
        vectors = WordVectors.load(work)
        vectors.check_fits(whole)
        size = len(vectors) if vocabulary_size is None else vocabulary_size
        _check_sizes(work, size, base_size, num_words=len(whole), num_vectors=len(vectors))
        vocabulary = whole.head(size)
        path = path or codes_path(work, size, base_size)
        if path.exists() and not force:
            raise InputError(f"{path}: there are codes already; use `force` to replace them")
        num_base = base_size + NUM_SPECIAL
        values = vectors.values[:size]
        coded = np.concatenate([np.ones(num_base, np.bool_), vectors.has_vector[num_base:size]])
        if not coded[num_base:].any():
            raise InputError(
                f"none of the {size - num_base:,} rare words has a vector; make vectors of {work} from more text"
            )
        codes, trace = solve_codes(
            values[coded],
            num_base,
            settings,
            jobs=jobs,
            counts=vocabulary.counts[coded],
            made_from={
                "version": __version__,
                "vocabulary": vocabulary.fingerprint,
                "vectors": sha256_of(vectors_path(work)),
                "words_without_vector": int((~coded).sum()),
            },
        )
        if not coded.all():
            say(f"codes: {int((~coded).sum()):,} words have no vector and are coded as <unk>")
            codes = _code_as_unknown(codes, ~coded[num_base:])
        quality = measure_quality(codes, values, vocabulary.words)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path.with_suffix(".quality.json"), quality.to_json())  # first: codes that are there are complete
        codes.save(path)
    return CodedVocabulary(codes, vocabulary, quality, trace, path)


def _check_sizes(work: str | Path, size: int, base_size: int, *, num_words: int, num_vectors: int) -> None:
    """Reject a vocabulary larger than corpus or vectors, and one of which `base_size` leaves nothing to code."""
    if size > num_words:
        raise InputError(f"`vocabulary_size` {size}: the corpus has {num_words:,} words; choose a smaller vocabulary")
    if size > num_vectors:
        raise InputError(
            f"`vocabulary_size` {size}: there are vectors for {num_vectors:,} words only",
            remedy=("choose a smaller vocabulary", Stage("vectors", work=work, vocabulary_size=size, force=True)),
        )
    if not 1 <= base_size < size - NUM_SPECIAL:
        raise InputError(
            f"`base_size` {base_size}: of {size:,} words, {NUM_SPECIAL} special ones included, at least one must be left to code; "
            f"choose a base of 1 to {size - NUM_SPECIAL - 1:,}"
        )


def _code_as_unknown(codes: SparseCodes, missing: NDArray[np.bool_]) -> SparseCodes:
    """Add the code `<unk>` for the rare words [num_rare] that are missing."""
    counts = np.ones(len(missing), np.int64)
    counts[~missing] = np.diff(codes.offsets)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    indices = np.full(offsets[-1], UNKNOWN_ID, codes.indices.dtype)
    values = np.ones(offsets[-1], np.float32)
    present = np.repeat(~missing, counts)
    indices[present] = codes.indices
    values[present] = codes.values
    return SparseCodes(offsets, indices, values, codes.num_base, codes.made_from)


def load_codes(work: str | Path, vocabulary_size: int | None = None, base_size: int | None = None) -> SparseCodes:
    """The codes of a work folder for V words over B base words; by default for the largest vocabulary.

    Raises InputError if there are none, or if they belong to another corpus.
    """
    wanted = codes_path(work, vocabulary_size or "*", base_size or "*")
    found = sorted((path for path in wanted.parent.glob(wanted.name) if len(_sizes(path)) == 2), key=_sizes)
    if not found:
        remedy = Stage("codes", work=work, vocabulary_size=vocabulary_size, base_size=base_size)
        raise InputError(f"{wanted}: no such codes", remedy=remedy)
    codes = SparseCodes.load(found[-1])
    vocabulary = TokenCorpus.open(work).vocabulary(codes.num_words)
    if codes.made_from.get("vocabulary") != vocabulary.fingerprint:
        remedy = Stage("codes", work=work, vocabulary_size=vocabulary_size, base_size=base_size, force=True)
        raise InputError(f"{found[-1]}: made for another vocabulary", remedy=remedy)
    return codes


def _sizes(path: Path) -> tuple[int, ...]:
    """V and B from the file name; codes of other settings have a third part."""
    return tuple(int(part[1:]) if part[1:].isdigit() else 0 for part in path.stem.split("-"))
