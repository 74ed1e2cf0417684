"""A word table: a row of `size` values for each word, computed from fewer stored numbers.

`TableEmbedding` and `TableOutput` make a model's layers of any table. A table only says how rows are computed, and how its
numbers can start from rows that are wanted (word vectors).
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

# Rounds of L-BFGS; on 50,000 vectors the error moves by less than 1 % in the ten rounds after these.
_ROUNDS = 40


class WordTable(nn.Module, ABC):
    """Rows of `size` values for `num_words` words; what grows with the words has sparse gradients."""

    def __init__(self, num_words: int, size: int) -> None:
        super().__init__()
        self.num_words, self.size = num_words, size

    @abstractmethod
    def rows(self, ids: Tensor) -> Tensor:
        """The rows [n, size] of the words `ids` [n]; the cost does not depend on the vocabulary."""

    def forward(self, ids: Tensor) -> Tensor:
        """The same."""
        return self.rows(ids)

    def all_rows(self) -> Tensor:
        """The rows [num_words, size] of all words."""
        return self.rows(torch.arange(self.num_words, device=next(self.parameters()).device))

    def scores(self, first: int, stop: int, h: Tensor) -> Tensor:
        """The products [stop - first, N] of the rows of consecutive words with contexts h [N, size]."""
        return self.rows(torch.arange(first, stop, device=h.device)) @ h.t()

    def start_from(self, wanted: Tensor, weights: Tensor) -> None:
        """Fit the table to rows [num_words, size], in least squares with a weight for each word [num_words].

        By L-BFGS from the present numbers, for tables that have no direct solution.
        """
        optimiser = torch.optim.LBFGS([*self.parameters()], max_iter=_ROUNDS, line_search_fn="strong_wolfe")
        scale = float((weights @ wanted.square()).sum())

        def error() -> Tensor:
            optimiser.zero_grad()
            found = (weights @ (self.all_rows() - wanted).square()).sum() / scale
            found.backward()  # type: ignore[no-untyped-call]
            return found

        optimiser.step(error)  # type: ignore[no-untyped-call]
        self.zero_grad()
