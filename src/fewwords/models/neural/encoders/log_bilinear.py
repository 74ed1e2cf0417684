"""The Encoding subnet of the log-bilinear model (LBL5 of section 4.3; Mnih and Hinton, 2007): q = sum_i C_i r_i.

The context vector q is the sum of the vectors r_i of the last `context_size` words, each through the matrix C_i of its
distance; there is no non-linearity. Before the first word there are learned padding vectors, as in the authors' code.
"""

import torch
from torch import Tensor, nn

from fewwords.layers.embedding import START_RANGE
from fewwords.models.neural.encoders.lstm import State


class LogBilinearEncoder(nn.Module):
    """Word vectors in, context vectors out; time comes first in all shapes. The state is the last vectors, oldest first."""

    def __init__(self, input_size: int, size: int, context_size: int) -> None:
        super().__init__()
        self.context_size = context_size
        self.matrices = nn.Parameter(torch.empty(context_size, input_size, size))
        bound = (6 / (context_size * input_size + size)) ** 0.5  # Xavier's, of the one map from all vectors to q
        nn.init.uniform_(self.matrices, -bound, bound)
        self.padding = nn.Parameter(torch.empty(context_size, input_size).uniform_(-START_RANGE, START_RANGE))

    def start_state(self, num_sentences: int) -> State:
        """The vectors before the first word, [context_size, num_sentences, input_size]."""
        return (self.padding[:, None].expand(-1, num_sentences, -1),)

    def start_context(self, state: State) -> Tensor:
        """The context [num_sentences, size] before any word."""
        return self._contexts(state[0])[0]

    def forward(self, vectors: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Contexts [T, num_sentences, size] after each of the vectors [T, num_sentences, input_size], and the last state."""
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
