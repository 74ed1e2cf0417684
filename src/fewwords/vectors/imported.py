"""Ready-made vectors for a vocabulary: the rows of its words from a word2vec, GloVe or fastText .vec file.

A word takes the row spelled exactly like it, else the row of its lower-case form, else the first row that differs only
in case. Reads the file once, keeps only what it needs, and reports which words have none.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewwords import __version__
from fewwords.errors import InputError
from fewwords.progress import Progress, say
from fewwords.vectors.vector_files import VectorFile
from fewwords.vectors.word_vectors import WordVectors
from fewwords.vocabulary import NUM_SPECIAL, Vocabulary

MISSING_WORDS_SHOWN = 10
ROWS_BETWEEN_REPORTS = 10_000
_NONE, _OTHER_CASE, _LOWER_CASE, _EXACT = range(4)


def import_vectors(path: str | Path, vocabulary: Vocabulary) -> WordVectors:
    """The vectors of the words of `vocabulary` that are in the file; the others have none (`has_vector` False).

    A row of zeros counts as none. Raises InputError, with the line, for a damaged file, and for one that shares no
    word with the vocabulary.
    """
    file = VectorFile(path)
    values = np.zeros((len(vocabulary), file.size), dtype=np.float32)
    matches = np.full(len(vocabulary), _NONE, dtype=np.int8)
    ranks_by_folded: dict[str, list[int]] = {}
    for rank in range(NUM_SPECIAL, len(vocabulary)):
        ranks_by_folded.setdefault(vocabulary.words[rank].lower(), []).append(rank)
    num_rows = bytes_told = 0
    with Progress("vectors", file.path.stat().st_size, "rows") as progress:
        for num_rows, row in enumerate(file.rows(), start=1):
            for rank in ranks_by_folded.get(row.word.lower(), ()):
                match = _match(row.word, vocabulary.words[rank])
                if match > matches[rank]:
                    values[rank] = file.values(row)
                    matches[rank] = match
            if num_rows % ROWS_BETWEEN_REPORTS == 0:
                progress.advance(file.num_raw_bytes - bytes_told, ROWS_BETWEEN_REPORTS)
                bytes_told = file.num_raw_bytes
        progress.advance(file.num_raw_bytes - bytes_told, num_rows % ROWS_BETWEEN_REPORTS)
    has_vector: NDArray[np.bool_] = np.any(values, axis=1)
    if not has_vector.any():
        raise InputError(
            f"{path}: none of its {num_rows:,} words is in the corpus; give vectors in the language of the corpus"
        )
    _report(file, num_rows, vocabulary, has_vector, matches)
    made_from = {
        "kind": "import",
        "version": __version__,
        "file": file.path.name,
        "layout": file.layout,
        "compression": file.compression,
        "rows": num_rows,
        "sha256": file.sha256,
    }
    return WordVectors(values, has_vector, vocabulary.fingerprint, made_from)


def _match(found: str, wanted: str) -> int:
    if found == wanted:
        return _EXACT
    return _LOWER_CASE if found == wanted.lower() else _OTHER_CASE


def _report(
    file: VectorFile,
    num_rows: int,
    vocabulary: Vocabulary,
    has_vector: NDArray[np.bool_],
    matches: NDArray[np.int8],
) -> None:
    """Report what was found, and which words have no vector."""
    say(
        f"{file.path}: {file.layout}, {num_rows:,} rows of {file.size} values; "
        f"{int(has_vector.sum()):,} of {len(vocabulary) - NUM_SPECIAL:,} words have a vector, "
        f"{int((has_vector & (matches < _EXACT)).sum()):,} of them from a form in different case"
    )
    missing = np.flatnonzero(~has_vector[NUM_SPECIAL:]) + NUM_SPECIAL
    if len(missing):
        share = vocabulary.counts[missing].sum() / max(1, vocabulary.counts[NUM_SPECIAL:].sum())
        shown = " ".join(vocabulary.decode(missing[:MISSING_WORDS_SHOWN]))
        say(f"{len(missing):,} words ({share:.2%} of running words) have none; the most frequent: {shown}")
