"""What the matrices of a recurrent encoder are multiplied by on real text: the vectors that are read, and the states."""

from collections.abc import Sequence

import numpy as np

from fewwords.models.model import Sentence
from fewwords.models.neural.boundaries import read
from fewwords.models.neural.by_length import equal_lengths
from fewwords.models.packed.encoders import Recurrent
from fewwords.models.packed.matrix import Floats
from fewwords.models.packed.network import Network

_BATCH_WORDS = 4096


def encoder_inputs(network: Network, sentences: Sequence[Sentence]) -> dict[str, Floats]:
    """The inputs [N, columns] of the encoder's matrices, by name; none for an encoder that has not one recurrent layer."""
    encoder = network.encoder
    if not isinstance(encoder, Recurrent) or network.settings.num_layers > 1:
        return {}
    vectors, states = [], []
    for group in equal_lengths([len(sentence) for sentence in sentences], _BATCH_WORDS):
        inputs = read(np.stack([sentences[place] for place in group]), network.settings.boundary).inputs
        if len(inputs):
            vectors.append(network.vectors(inputs))
            states.append(encoder.read(vectors[-1], encoder.start(len(group)))[0])
    if not vectors:
        return {}
    names = (f"{encoder.name}.weight_ih_l0", f"{encoder.name}.weight_hh_l0")
    return {
        name: np.concatenate([part.reshape(-1, part.shape[-1]) for part in parts])
        for name, parts in zip(names, (vectors, states))
    }
