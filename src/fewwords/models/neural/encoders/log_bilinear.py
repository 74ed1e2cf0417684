"""The log-bilinear model (LBL5 of section 4.3; Mnih and Hinton, 2007): q = sum_i C_i r_i.

The context vector q is the sum of the vectors r_i of the last `context_size` words, each through the matrix C_i of its
distance; there is no non-linearity. Before the first word there are learned padding vectors, as in the authors' code.
"""

import torch
from torch import Tensor, nn

from fewwords.errors import InputError
from fewwords.layers.embedding import START_RANGE
from fewwords.models.neural.base_encoder import BaseEncoder, EncoderState
from fewwords.models.neural.variants import ModelSettings


class Encoder(BaseEncoder):
    """A matrix for each distance; the state is the last vectors, oldest first."""

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__(settings)
        if settings.num_layers > 1:
            raise InputError(
                f"{settings.num_layers} layers: the log-bilinear model has one layer; leave the number out"
            )
        input_size, size = settings.embedding_size, settings.hidden_size
        self.context_size = settings.context_size
        self.matrices = nn.Parameter(torch.empty(self.context_size, input_size, size))
        bound = (6 / (self.context_size * input_size + size)) ** 0.5  # Xavier's, of the one map from all vectors to q
        nn.init.uniform_(self.matrices, -bound, bound)
        self.padding = nn.Parameter(torch.empty(self.context_size, input_size).uniform_(-START_RANGE, START_RANGE))

    @property
    def context_words(self) -> int:
        """The words of the context."""
        return self.context_size

    def start_state(self, num_sentences: int) -> EncoderState:
        """The vectors before the first word, [context_size, num_sentences, input_size]."""
        return (self.padding[:, None].expand(-1, num_sentences, -1),)

    def context(self, state: EncoderState) -> Tensor:
        """The context [num_sentences, size] of a state."""
        return self._contexts(state[0])[0]

    def forward(self, vectors: Tensor, state: EncoderState | None = None) -> tuple[Tensor, EncoderState]:
        """Contexts [T, num_sentences, size] after each vector [T, num_sentences, input_size], and the last state."""
        (before,) = self.start_state(vectors.shape[1]) if state is None else state
        known = torch.cat([before, vectors])
        return self._contexts(known[1:]), (known[-self.context_size :],)

    def _contexts(self, vectors: Tensor) -> Tensor:
        """The context after each run of `context_size` vectors."""
        num_contexts = len(vectors) - self.context_size + 1
        _, num_sentences, input_size = vectors.shape
        contexts = vectors.new_zeros(())
        for place, matrix in enumerate(self.matrices):
            rows = vectors[place : place + num_contexts].reshape(-1, input_size)
            contexts = torch.addmm(contexts, rows, matrix) if place else rows @ matrix
        return contexts.view(num_contexts, num_sentences, -1)

    @classmethod
    def num_numbers(cls, settings: ModelSettings) -> int:
        """A matrix and a padding vector for each word of the context."""
        return settings.context_size * settings.embedding_size * (settings.hidden_size + 1)

    @classmethod
    def describe(cls, settings: ModelSettings) -> str:
        """`log-bilinear, 5 context words, contexts of 200`."""
        return f"log-bilinear, {settings.context_size} context words, contexts of {settings.hidden_size}"
