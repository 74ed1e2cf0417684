"""What the inputs of each matrix look like on real text: their second moments E[x x'], from some thousand words."""

from collections.abc import Iterable

import numpy as np

from fewwords.models.model import Sentence
from fewwords.models.neural.boundaries import read
from fewwords.models.packed.encoders import Recurrent
from fewwords.models.packed.matrix import Floats
from fewwords.models.packed.network import Network
from fewwords.packing.quantise import Moments


def input_moments(network: Network, sentences: Iterable[Sentence]) -> dict[str, Moments]:
    """The moments of the inputs of `output`, and of the weights of a recurrent encoder of one layer, by name.

    A tied matrix is an embedding too. There its errors go through the encoder's first matrix W, so that W'W is added, with
    the same weight.
    """
    vectors, contexts = [], []
    for sentence in sentences:
        inputs = read(sentence[None], network.settings.boundary).inputs
        if len(inputs):
            vectors.append(network.vectors(inputs))
            contexts.append(network.encoder.read(vectors[-1], network.encoder.start(1))[0])
    found = {"output": _moments(contexts)}
    encoder = network.encoder
    if isinstance(encoder, Recurrent) and network.settings.num_layers == 1:
        first = encoder.weights[f"{encoder.name}.weight_ih_l0"].astype(np.float64)
        found[f"encoder.{encoder.name}.weight_ih_l0"] = _moments(vectors)
        found[f"encoder.{encoder.name}.weight_hh_l0"] = found["output"]  # what comes out goes in again
        found["embedding"] = first.T @ first
        if network.settings.tied:
            found["embedding"] = _normal(found["output"]) + _normal(found["embedding"])
    elif network.settings.tied:
        found["embedding"] = found["output"]
    return found


def _moments(parts: list[Floats]) -> Moments:
    flat = np.concatenate([part.reshape(-1, part.shape[-1]) for part in parts]).astype(np.float64)
    found: Moments = flat.T @ flat / len(flat)
    return found


def _normal(moments: Moments) -> Moments:
    return np.asarray(moments / np.trace(moments))
