"""fewwords: language models whose size hardly grows with their vocabulary.

Rare words are said in a few common ones: their embeddings and output weights are sparse, non-negative
combinations of those of some 8,000 common words (Chen et al., ACL 2016).
"""

from typing import TYPE_CHECKING

from fewwords.lazy import lazy_names

if TYPE_CHECKING:
    from fewwords.cli.console import show_progress as show_progress
    from fewwords.codes.make import make_codes as make_codes
    from fewwords.corpus.make import prepare as prepare
    from fewwords.training.loop import train as train
    from fewwords.vectors.make import make_vectors as make_vectors

__version__ = "0.1.0"

__getattr__ = lazy_names(
    __name__,
    {
        "make_codes": "codes.make",
        "make_vectors": "vectors.make",
        "prepare": "corpus.make",
        "show_progress": "cli.console",
        "train": "training.loop",
    },
)
