"""Low rank by frequency of a trained dense model (GroupReduce, Chen et al., 2018): a truncated SVD for each band of words.

Frequent words keep a high rank, rare ones get a low one, and within a band words count by their frequency. The result is
a model with adaptive word tables, so that it can be trained on, rounded and measured like any other.
"""

from dataclasses import replace

import numpy as np
import torch

from fewwords.errors import InputError
from fewwords.layers.tables.layers import TableEmbedding, TableOutput
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel


@torch.no_grad()
def block_svd(model: NeuralModel, band_words: tuple[int, ...], band_ranks: tuple[int, ...]) -> NeuralModel:
    """A model with adaptive tables, the weighted least-squares solution for the matrices of a dense model."""
    old = model.network
    if not (old.settings.embedding == old.settings.output == "dense"):
        raise InputError(f"{model.variant}: a block SVD is made of a dense model; name another")
    settings = replace(
        old.settings, embedding="adaptive", output="adaptive", band_words=band_words, band_ranks=band_ranks
    )
    network = LanguageModel(settings, model.num_words).eval()
    same = {name: each for name, each in old.state_dict().items() if name not in ("embedding.weight", "output.weight")}
    network.load_state_dict(same, strict=False)
    counts = torch.from_numpy(np.maximum(model.vocabulary.counts, 1)).double()
    ids = torch.arange(model.num_words)
    for layer, rows in (
        (network.embedding, old.embedding.vectors(ids)),
        (network.output, old.output.weights_and_biases(ids)[0]),
    ):
        if isinstance(layer, (TableEmbedding, TableOutput)):  # tied, it is the same table twice
            layer.table.start_from(rows, counts)
    return NeuralModel(network, model.vocabulary, None, model.rules, model.made_from)
