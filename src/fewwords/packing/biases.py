"""Biases that make up for the mean error of quantised weights: b + (W - Q) E[x].

For a word of the output the mean is over the contexts that come before it, as far as the text has some (see `refine`).
"""

import numpy as np

from fewwords.models.packed.encoders import Recurrent
from fewwords.models.packed.matrix import Floats
from fewwords.models.packed.network import Network
from fewwords.packing.inputs import Inputs
from fewwords.packing.refine import NextWords

_WORDS_PER_BLOCK = 1024


def corrected_biases(network: Network, quantised: Network, inputs: Inputs) -> dict[str, Floats]:
    """New values of some biases, by part."""
    found = {"bias": _output_bias(network, quantised, inputs)}
    encoder = network.encoder
    if isinstance(encoder, Recurrent) and network.settings.num_layers == 1:
        for kind, rows in (("ih", inputs.vectors), ("hh", inputs.contexts)):
            weight, bias = f"{encoder.name}.weight_{kind}_l0", f"{encoder.name}.bias_{kind}_l0"
            error = encoder.weights[weight] - quantised.encoder.weights[weight]
            found[f"encoder.{bias}"] = encoder.weights[bias] + error @ rows.mean(0)
    return found


def _output_bias(network: Network, quantised: Network, inputs: Inputs) -> Floats:
    bias = network.bias.copy()
    words = NextWords(inputs, network.codes if network.settings.coded_bias else None)
    for first in range(0, len(bias), _WORDS_PER_BLOCK):
        ids = np.arange(first, min(first + _WORDS_PER_BLOCK, len(bias)))
        means = np.stack([words.mean(word) for word in ids.tolist()])
        error = network.output_rows(ids) - quantised.output_rows(ids)
        bias[ids] += np.einsum("wc,wc->w", error, means).astype(np.float32)
    return bias
