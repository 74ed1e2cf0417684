"""Adaptive widths: frequent words have wide rows, rare ones narrow rows with a projection (Baevski and Auli, 2019).

The words, by rank, are cut into bands; each band is a low-rank table of its own. The softmax stays one over all words, so
that its probabilities are those of every other model here.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from fewwords.layers.tables.low_rank import LowRankTable
from fewwords.layers.tables.word_table import WordTable


class AdaptiveTable(WordTable):
    """Bands of `band_words` words, the rest in one more, with the values of `band_ranks`; one equal to `size` is not projected."""

    def __init__(self, num_words: int, size: int, band_words: Sequence[int], band_ranks: Sequence[int]) -> None:
        super().__init__(num_words, size)
        counts = [*band_words, num_words - sum(band_words)]
        self.firsts = [sum(counts[:band]) for band in range(len(counts))]
        self.bands = nn.ModuleList(LowRankTable(count, size, rank) for count, rank in zip(counts, band_ranks))

    @property
    def spans(self) -> list[tuple[int, int, LowRankTable]]:
        """The first word of each band, the one after its last, and its table."""
        stops = [*self.firsts[1:], self.num_words]
        tables = [table for table in self.bands if isinstance(table, LowRankTable)]
        return list(zip(self.firsts, stops, tables))

    def rows(self, ids: Tensor) -> Tensor:
        """The rows [n, size] of the words `ids` [n]."""
        places, found = [], []
        for first, stop, table in self.spans:
            here = ((ids >= first) & (ids < stop)).nonzero().view(-1)
            places.append(here)
            found.append(table.rows(ids[here] - first))
        return torch.cat(found).index_select(0, torch.cat(places).argsort())

    def scores(self, first: int, stop: int, h: Tensor) -> Tensor:
        """The products [stop - first, N] with contexts h [N, size], band by band."""
        cuts = ((max(first, begin), min(stop, end), begin, table) for begin, end, table in self.spans)
        return torch.cat([table.scores(low - begin, high - begin, h) for low, high, begin, table in cuts if low < high])

    def start_from(self, wanted: Tensor, weights: Tensor) -> None:
        """The truncated SVD of each band."""
        for first, stop, table in self.spans:
            table.start_from(wanted[first:stop], weights[first:stop])
