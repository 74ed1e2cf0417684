"""Hashed rows: a word is a weighted sum of the rows of its buckets, w_1 B[h_1(w)] + w_2 B[h_2(w)] (Svenstrup et al., 2017).

Each word has its own weights, which are learned. The most frequent words, as many as there are buckets, have a bucket of
their own as their first one, so that they collide with rarer words only. The hash functions are fixed: nothing of them is stored.
"""

import torch
from torch import Tensor, nn

from fewwords.layers.embedding import start_table
from fewwords.layers.row_sums import sum_rows, take_rows
from fewwords.layers.tables.word_table import WordTable

_PRIME = (1 << 31) - 1
_MULTIPLIERS = (1_103_515_245, 1_664_525_013, 2_039_177_563, 1_220_703_125)


class HashedTable(WordTable):
    """`num_buckets` rows, and `num_hashes` weights for each word."""

    def __init__(self, num_words: int, size: int, num_buckets: int, num_hashes: int = 2) -> None:
        super().__init__(num_words, size)
        self.num_buckets, self.num_hashes = num_buckets, num_hashes
        self.buckets = start_table(num_buckets, size, None)
        weights = torch.full((num_words, num_hashes), num_hashes**-0.5)
        weights[:num_buckets] = torch.eye(1, num_hashes)
        self.weights = nn.Parameter(weights)

    def places(self, ids: Tensor) -> Tensor:
        """The buckets [n, num_hashes] of the words `ids` [n]."""
        factors = torch.tensor(_MULTIPLIERS[: self.num_hashes], device=ids.device)
        found = (ids[:, None] + 1) * factors % _PRIME % self.num_buckets
        found[:, 0] = torch.where(ids < self.num_buckets, ids, found[:, 0])
        return found

    def rows(self, ids: Tensor) -> Tensor:
        """The rows [n, size] of the words `ids` [n]."""
        weights = take_rows(self.weights, ids, sparse=True)
        starts = torch.arange(len(ids), device=ids.device) * self.num_hashes
        return sum_rows(self.buckets, self.places(ids).view(-1), starts, weights.reshape(-1))
