"""A model that computes with numpy as PyTorch's, with the very same numbers: faster for large batches, and needed for ONNX."""

import torch

from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.packed.folder import TABLE_WEIGHTS
from fewwords.models.packed.matrix import all_rows
from fewwords.models.packed.model import PackedModel


@torch.no_grad()
def in_pytorch(packed: PackedModel) -> NeuralModel:
    """The model in PyTorch. What quantised weights stand for is stored as float32; the normaliser is not trained."""
    network = packed.network
    settings = network.settings
    found = LanguageModel(settings, network.num_words, packed.codes).eval()
    weights = {f"encoder.{name}": weight for name, weight in network.encoder.weights.items()}
    weights[f"embedding.{TABLE_WEIGHTS[settings.embedding]}"] = all_rows(network.embedding)
    weights[f"output.{TABLE_WEIGHTS[settings.output]}"] = all_rows(network.output)
    weights["output.bias"] = network.bias
    state = found.state_dict()
    for name, weight in weights.items():
        state[name].copy_(torch.tensor(weight))
    return NeuralModel(found, packed.vocabulary, packed.codes, packed.rules, packed.made_from)
