"""fewwords: language models whose size hardly grows with their vocabulary.

Rare words are said in a few common ones: their embeddings and output weights are sparse, non-negative combinations of those of
some 8,000 common words (Chen et al., ACL 2016). What users come for has a name here; nothing is imported before it is asked for.
"""

from typing import TYPE_CHECKING

from fewwords.cores import share_cores
from fewwords.lazy import lazy_names

if TYPE_CHECKING:
    from fewwords.cli.console import show_progress as show_progress
    from fewwords.codes.explain import explain as explain
    from fewwords.codes.make import make_codes as make_codes
    from fewwords.codes.sparse_codes import SparseCodes as SparseCodes
    from fewwords.corpus.make import prepare as prepare
    from fewwords.errors import DivergedError as DivergedError
    from fewwords.errors import InputError as InputError
    from fewwords.evaluation.evaluate import evaluate as evaluate
    from fewwords.evaluation.mix import mix as mix
    from fewwords.export.onnx_folder import export_onnx as export_onnx
    from fewwords.layers.embedding import CodedEmbedding as CodedEmbedding
    from fewwords.layers.output import CodedOutput as CodedOutput
    from fewwords.losses.nce import NoiseContrastiveLoss as NoiseContrastiveLoss
    from fewwords.making.make import make as make
    from fewwords.packing.pack import pack as pack
    from fewwords.page.make import make_page as make_page
    from fewwords.training.train import train as train
    from fewwords.use.text_model import TextModel as TextModel
    from fewwords.use.text_model import load as load
    from fewwords.vectors.make import make_vectors as make_vectors

__version__ = "0.1.0"
share_cores()

_PLACES = {
    "make": "making.make",
    "load": "use.text_model",
    "prepare": "corpus.make",
    "make_vectors": "vectors.make",
    "make_codes": "codes.make",
    "train": "training.train",
    "evaluate": "evaluation.evaluate",
    "mix": "evaluation.mix",
    "pack": "packing.pack",
    "make_page": "page.make",
    "explain": "codes.explain",
    "export_onnx": "export.onnx_folder",
    "show_progress": "cli.console",
    "TextModel": "use.text_model",
    "SparseCodes": "codes.sparse_codes",
    "CodedEmbedding": "layers.embedding",
    "CodedOutput": "layers.output",
    "NoiseContrastiveLoss": "losses.nce",
    "InputError": "errors",
    "DivergedError": "errors",
}
__getattr__ = lazy_names(__name__, _PLACES)


def __dir__() -> list[str]:
    return [*_PLACES, "__version__"]
