"""Low rank: the table [V, E] is a product of factors [V, r] and a projection [r, E].

For the output layer that is a projection of the context and a softmax over r values. The projection starts with orthonormal
rows, so that a factor is as long as its word's row.
"""

import torch
from torch import Tensor, nn

from fewwords.layers.embedding import START_RANGE
from fewwords.layers.row_sums import take_rows
from fewwords.layers.tables.word_table import WordTable


class LowRankTable(WordTable):
    """Factors of `rank` values for each word; with `rank` equal to `size` the factors are the rows."""

    def __init__(self, num_words: int, size: int, rank: int) -> None:
        super().__init__(num_words, size)
        reach = START_RANGE * (size / rank) ** 0.5
        self.factors = nn.Parameter(torch.empty(num_words, rank).uniform_(-reach, reach))
        self.projection: nn.Parameter | None = None
        if rank < size:
            self.projection = nn.Parameter(nn.init.orthogonal_(torch.empty(rank, size)))

    def rows(self, ids: Tensor) -> Tensor:
        """The rows [n, size] of the words `ids` [n]."""
        found = take_rows(self.factors, ids, sparse=True)
        return found if self.projection is None else found @ self.projection

    def scores(self, first: int, stop: int, h: Tensor) -> Tensor:
        """The products [stop - first, N] with contexts h [N, size], which are projected once for all words."""
        return self.factors[first:stop] @ (h if self.projection is None else h @ self.projection.t()).t()

    @torch.no_grad()
    def start_from(self, wanted: Tensor, weights: Tensor) -> None:
        """The truncated SVD, which is the least-squares solution: the leading directions of the weighted rows."""
        if self.projection is None:
            self.factors.copy_(wanted)
            return
        rows = wanted.double()
        directions = torch.linalg.eigh((rows * weights[:, None]).t() @ rows)[1].flip(1)[:, : len(self.projection)]
        self.projection.copy_(directions.t())
        self.factors.copy_(rows @ directions)
