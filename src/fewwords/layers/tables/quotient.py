"""Quotient and remainder: a word is its remainder's row combined with its quotient's (Shi et al., 2020).

With m remainders, word w has the rows w mod m and w div m, multiplied value by value or added. Words are ranks, so the
m most frequent words share a quotient and have a remainder each.
"""

import torch
from torch import Tensor, nn

from fewwords.layers.embedding import start_table
from fewwords.layers.row_sums import take_rows
from fewwords.layers.tables.word_table import WordTable


class QuotientTable(WordTable):
    """`num_buckets` rows for remainders, and as many for quotients as the words need, at first without effect."""

    def __init__(self, num_words: int, size: int, num_buckets: int, product: bool = True) -> None:
        super().__init__(num_words, size)
        self.num_buckets, self.product = num_buckets, product
        self.remainders = start_table(num_buckets, size, None)
        self.quotients = nn.Parameter(torch.full((-(-num_words // num_buckets), size), float(product)))

    def rows(self, ids: Tensor) -> Tensor:
        """The rows [n, size] of the words `ids` [n]."""
        remainders = take_rows(self.remainders, ids % self.num_buckets)
        quotients = take_rows(self.quotients, ids // self.num_buckets)
        return remainders * quotients if self.product else remainders + quotients
