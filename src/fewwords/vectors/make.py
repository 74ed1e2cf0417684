"""The stage that gives words vectors: a prepared corpus in, `vectors/` of the work folder out (section 3.1).

Vectors are trained on the training part, or imported from a file and put in order of rank.
"""

from pathlib import Path

from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.store.locks import lock_folder
from fewwords.vectors.imported import import_vectors
from fewwords.vectors.settings import SkipGramSettings
from fewwords.vectors.skip_gram import choose_vocabulary_size, train_skip_gram
from fewwords.vectors.word_vectors import WordVectors
from fewwords.work_folder import vectors_path


def make_vectors(
    work: str | Path = "work",
    settings: SkipGramSettings | None = None,
    *,
    vocabulary_size: int | None = None,
    import_file: str | Path | None = None,
    force: bool = False,
) -> WordVectors:
    """Train skip-gram vectors of the first `vocabulary_size` words (default: 100,000, or all if fewer), or import them.

    Raises InputError when vectors already exist and `force` is not given, and when corpus, settings or file cannot be
    used.
    """
    corpus = TokenCorpus.open(work)
    if import_file is not None and settings is not None:
        raise InputError(f"settings are for training only; leave them out, or do not import {import_file}")
    with lock_folder(Path(work), "vectors"):
        if vectors_path(work).exists() and not force:
            raise InputError(f"{vectors_path(work)}: there are vectors already; use `force` to replace them")
        size = choose_vocabulary_size(corpus, vocabulary_size)
        if import_file is not None:
            made = import_vectors(import_file, corpus.vocabulary(size))
        else:
            made = train_skip_gram(corpus, settings, vocabulary_size=size)
        made.save(work)
    return made
