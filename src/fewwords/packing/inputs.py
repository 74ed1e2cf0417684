"""What the matrices of a network meet on real text: the vectors that are read, the contexts, and the words that follow."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fewwords.models.model import Sentence
from fewwords.models.neural.boundaries import read
from fewwords.models.neural.by_length import equal_lengths
from fewwords.models.packed.encoders import Recurrent
from fewwords.models.packed.matrix import Floats, Ids
from fewwords.models.packed.network import Network

Moments = NDArray[np.float64]

_BATCH_WORDS = 4096


@dataclass(frozen=True, eq=False)
class Inputs:
    """N places in a text: the vectors read there [N, E], the contexts after them [N, C] and the next words [N]."""

    network: Network
    vectors: Floats
    contexts: Floats
    targets: Ids

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """The mean context [C]."""
        return np.asarray(self.contexts.mean(0, dtype=np.float64))

    @cached_property
    def moments(self) -> dict[str, Moments]:
        """The second moments of what each matrix is multiplied by, by part, about the mean: biases make up for that.

        An embedding is multiplied by nothing; a tied one is the output.
        """
        encoder, settings = self.network.encoder, self.network.settings
        found = {"embedding" if settings.tied else "output": self.context_moments}
        if isinstance(encoder, Recurrent) and settings.num_layers == 1:
            found[f"encoder.{encoder.name}.weight_ih_l0"] = _moments(self.vectors)
            found[f"encoder.{encoder.name}.weight_hh_l0"] = self.context_moments  # what comes out goes in again
        return found

    @cached_property
    def context_moments(self) -> Moments:
        """The moments [C, C] of the contexts about their mean."""
        return _moments(self.contexts)


def read_inputs(network: Network, sentences: Sequence[Sentence]) -> Inputs:
    """Read sentences, those of one length together."""
    vectors, contexts, targets = [], [], []
    for group in equal_lengths([len(sentence) for sentence in sentences], _BATCH_WORDS):
        reading = read(np.stack([sentences[place] for place in group]), network.settings.boundary)
        if len(reading.inputs):
            vectors.append(network.vectors(reading.inputs))
            contexts.append(network.encoder.read(vectors[-1], network.encoder.start(len(group)))[0])
            targets.append(reading.targets[-len(reading.inputs) :])
    flat = [np.concatenate([part.reshape(-1, part.shape[-1]) for part in parts]) for parts in (vectors, contexts)]
    return Inputs(network, flat[0], flat[1], np.concatenate([part.reshape(-1) for part in targets]))


def _moments(rows: Floats) -> Moments:
    apart = rows - rows.mean(0)
    return np.asarray(apart.T.astype(np.float64) @ apart / len(apart))
