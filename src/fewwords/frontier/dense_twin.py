"""The dense twin of a model: the same network with a row written out for every word, in PyTorch or in numpy.

Whatever stores its rows in fewer numbers is measured by its twin, which computes the same probabilities.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from fewwords.models.model import Sentence
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.packed.folder import make_network
from fewwords.models.packed.matrix import Floats
from fewwords.packing.inputs import encoder_inputs


@torch.no_grad()
def dense_weights(model: NeuralModel) -> dict[str, Floats]:
    """The weights of the twin by their names in a model folder."""
    network = model.network
    ids = torch.arange(model.num_words)
    weights, biases = network.output.weights_and_biases(ids)
    found = {"embedding.weight": network.embedding.vectors(ids), "output.bias": biases}
    if not network.settings.tied:
        found["output.weight"] = weights
    found |= {f"encoder.{name}": each for name, each in network.encoder.named_parameters()}
    return {name: np.array(each.detach().numpy()) for name, each in found.items()}


def dense_model(model: NeuralModel, weights: Mapping[str, Floats]) -> NeuralModel:
    """The twin of `model` with these weights."""
    network = LanguageModel(model.network.settings.dense, model.num_words).eval()
    tensors: dict[str, Tensor] = {name: torch.from_numpy(np.array(each)) for name, each in weights.items()}
    missing, extra = network.load_state_dict(tensors, strict=False)
    assert not extra
    assert all(name.startswith("normaliser.") or name == "output.weight" for name in missing)
    return NeuralModel(network, model.vocabulary, None, model.rules, model.made_from)


def twin_inputs(model: NeuralModel, sentences: Sequence[Sentence]) -> dict[str, Floats]:
    """What the encoder's matrices meet in some sentences (see `encoder_inputs`), computed by the twin in numpy."""
    network = make_network(model.network.settings.dense, model.num_words, dense_weights(model), None)
    return encoder_inputs(network, sentences)
