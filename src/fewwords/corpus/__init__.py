"""Real text in, token files out (paper section 4.1): sources, cleaning, sentences, words, shuffle, split, store."""

from typing import TYPE_CHECKING

from fewwords.lazy import lazy_names

if TYPE_CHECKING:
    from fewwords.corpus.batches import Batch as Batch
    from fewwords.corpus.batches import Position as Position
    from fewwords.corpus.make import prepare as prepare
    from fewwords.corpus.settings import Settings as Settings
    from fewwords.corpus.token_corpus import Part as Part
    from fewwords.corpus.token_corpus import TokenCorpus as TokenCorpus

__getattr__ = lazy_names(
    __name__,
    {
        "Batch": "batches",
        "Part": "token_corpus",
        "Position": "batches",
        "Settings": "settings",
        "TokenCorpus": "token_corpus",
        "prepare": "make",
    },
)
