"""fewwords: language models whose size hardly grows with their vocabulary.

Rare words are said in a few common ones: their embeddings and output weights are sparse, non-negative combinations of those of
some 8,000 common words (Chen et al., ACL 2016). What users come for has a name here; nothing is imported before it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fewwords.cores import share_cores

if TYPE_CHECKING:
    from fewwords.codes.explain import explain
    from fewwords.codes.make import make_codes
    from fewwords.codes.sparse_codes import SparseCodes
    from fewwords.corpus.prepare import prepare
    from fewwords.errors import InputError
    from fewwords.evaluation.evaluate import evaluate
    from fewwords.evaluation.mix import mix
    from fewwords.layers.embedding import CodedEmbedding
    from fewwords.layers.output import CodedOutput
    from fewwords.losses.nce import NoiseContrastiveLoss
    from fewwords.training.train import train
    from fewwords.use.text_model import load
    from fewwords.vectors.make import make_vectors

__version__ = "0.1.0"
share_cores()

_PLACES = {
    "load": "fewwords.use.text_model",
    "prepare": "fewwords.corpus.prepare",
    "make_vectors": "fewwords.vectors.make",
    "make_codes": "fewwords.codes.make",
    "train": "fewwords.training.train",
    "evaluate": "fewwords.evaluation.evaluate",
    "mix": "fewwords.evaluation.mix",
    "explain": "fewwords.codes.explain",
    "SparseCodes": "fewwords.codes.sparse_codes",
    "CodedEmbedding": "fewwords.layers.embedding",
    "CodedOutput": "fewwords.layers.output",
    "NoiseContrastiveLoss": "fewwords.losses.nce",
    "InputError": "fewwords.errors",
}
__all__ = [
    "CodedEmbedding",
    "CodedOutput",
    "InputError",
    "NoiseContrastiveLoss",
    "SparseCodes",
    "evaluate",
    "explain",
    "load",
    "make_codes",
    "make_vectors",
    "mix",
    "prepare",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'fewwords' has no attribute {name!r}")
    found = getattr(import_module(_PLACES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
