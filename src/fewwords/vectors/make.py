"""The stage that gives words vectors: a prepared corpus in, `vectors/` of the work folder out (section 3.1).

Vectors are trained on the training part, or imported from a file and put in order of rank.
"""

from pathlib import Path
from typing import Any

from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.store.locks import lock_folder
from fewwords.vectors.import_vectors import import_vectors
from fewwords.vectors.skip_gram import choose_vocabulary_size, train_skip_gram
from fewwords.vectors.word_vectors import WordVectors
from fewwords.work_folder import vectors_path


def make_vectors(
    work: str | Path,
    vocabulary_size: int | None = None,
    *,
    import_file: Path | None = None,
    force: bool = False,
    **settings: Any,
) -> WordVectors:
    """Train vectors for the first `vocabulary_size` words of a work folder's corpus, or import them, and save them.

    `settings` are those of `train_skip_gram`. Raises InputError for what cannot be used, for settings together with
    `import_file`, and for vectors that are there already unless `force` is given.
    """
    corpus = TokenCorpus.open(work)
    if import_file is not None and settings:
        raise InputError(f"{', '.join(settings)}: for training only; leave it out, or do not import {import_file}")
    with lock_folder(Path(work), "vectors"):
        if vectors_path(work).exists() and not force:
            raise InputError(f"{vectors_path(work)}: vectors are there already; use --force to replace them")
        if import_file is not None:
            made = import_vectors(import_file, corpus.vocabulary(choose_vocabulary_size(corpus, vocabulary_size)))
        else:
            made = train_skip_gram(corpus, vocabulary_size=vocabulary_size, **settings)
        made.save(work)
    return made
