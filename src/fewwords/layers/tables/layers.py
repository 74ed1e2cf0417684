"""Embedding and output layers over any word table; tied, they share it."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from fewwords.layers import streaming
from fewwords.layers.output import NormalisedOutput
from fewwords.layers.row_sums import take_rows
from fewwords.layers.tables.word_table import WordTable


class TableEmbedding(nn.Module):
    """Word vectors from a table."""

    def __init__(self, table: WordTable) -> None:
        super().__init__()
        self.table = table
        self.num_words, self.size = table.num_words, table.size

    def vectors(self, ids: Tensor) -> Tensor:
        """The vectors [n, size] of the words `ids` [n]."""
        return self.table.rows(ids)

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors [..., size] of the words `ids` [...]."""
        return self.vectors(ids.reshape(-1)).view(*ids.shape, self.size)


class TableOutput(NormalisedOutput):
    """Output weights from a table, and a bias for each word."""

    def __init__(self, table: WordTable) -> None:
        super().__init__()
        self.table = table
        self.num_words, self.size = table.num_words, table.size
        self.bias = nn.Parameter(torch.zeros(self.num_words))

    def weights_and_biases(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The weights [n, size] and biases [n] of the words `ids` [n]."""
        return self.table.rows(ids), take_rows(self.bias, ids, sparse=True)

    def logits(self, h: Tensor) -> Tensor:
        """The scores [N, num_words] of contexts h [N, size]."""
        return torch.addmm(self.bias, h, self.table.all_rows().t())

    @torch.no_grad()
    def score_chunks(self, h: Tensor) -> Iterator[tuple[int, Tensor]]:
        """The scores of contexts h [N, size] without gradients: the first word of a chunk and its scores [words, N]."""
        step = streaming.words_per_chunk(len(h))
        for first in range(0, self.num_words, step):
            stop = min(first + step, self.num_words)
            yield first, self.table.scores(first, stop, h).add_(self.bias[first:stop, None])
