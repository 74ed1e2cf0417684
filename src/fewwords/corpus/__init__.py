"""Real text in, token files out (paper section 4.1): sources, cleaning, sentences, words, shuffle, split, store."""

from fewwords.corpus.batches import Batch, Position
from fewwords.corpus.prepare import prepare
from fewwords.corpus.settings import Settings
from fewwords.corpus.token_corpus import Part, TokenCorpus

__all__ = ["Batch", "Part", "Position", "Settings", "TokenCorpus", "prepare"]
