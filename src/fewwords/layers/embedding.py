"""Word vectors for the words of a batch (section 3.2).

`DenseEmbedding` has a vector for each word. `CodedEmbedding` has only the vectors U of the base words; the vector of
any other word is U x with its sparse code x. Only the rows of the words in the batch are read.
"""

import torch
from torch import Tensor, nn

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.layers.code_table import CodeTable, as_code_table
from fewwords.layers.row_sums import take_rows

# The paper's models start at this scale.
START_RANGE = 0.05


def start_table(num_rows: int, size: int, given: nn.Parameter | None) -> nn.Parameter:
    """The given parameter, for tying, or a new one [num_rows, size] with uniform values within 0.05 of zero."""
    if given is None:
        return nn.Parameter(torch.empty(num_rows, size).uniform_(-START_RANGE, START_RANGE))
    if given.shape != (num_rows, size):
        raise ValueError(f"the tied parameter has shape {list(given.shape)}; this layer needs [{num_rows}, {size}]")
    return given


class DenseEmbedding(nn.Module):
    """One vector of `size` values for each of `num_words` words."""

    def __init__(self, num_words: int, size: int, *, weight: nn.Parameter | None = None, sparse: bool = False) -> None:
        super().__init__()
        self.num_words, self.size, self.sparse = num_words, size, sparse
        self.weight = start_table(num_words, size, weight)

    def vectors(self, ids: Tensor) -> Tensor:
        """The vectors [n, size] of the words `ids` [n]."""
        return take_rows(self.weight, ids, sparse=self.sparse)

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors [..., size] of the words `ids` [...]."""
        return self.vectors(ids.reshape(-1)).view(*ids.shape, self.size)


class CodedEmbedding(nn.Module):
    """Vectors of `size` values for the base words, and codes that combine them for all others.

    With `tune_codes` the values of the codes are trained; call `project_codes` after each step to keep them >= 0.
    `sparse` gives sparse gradients for what grows with the vocabulary, the tuned values; `sparse_base` for the base
    vectors too, which pays only if the base is much larger than the words of a batch.
    """

    def __init__(
        self,
        codes: SparseCodes | CodeTable,
        size: int,
        *,
        tune_codes: bool = False,
        base: nn.Parameter | None = None,
        sparse: bool = False,
        sparse_base: bool = False,
    ) -> None:
        super().__init__()
        self.codes = as_code_table(codes, tune=tune_codes, sparse=sparse)
        self.num_words, self.size, self.sparse_base = self.codes.num_words, size, sparse_base
        self.base = start_table(self.codes.num_base, size, base)

    def vectors(self, ids: Tensor) -> Tensor:
        """The vectors [n, size] of the words `ids` [n]."""
        return self.codes.combine(self.base, ids, sparse=self.sparse_base)

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors [..., size] of the words `ids` [...]."""
        return self.vectors(ids.reshape(-1)).view(*ids.shape, self.size)

    def project_codes(self) -> None:
        """Set negative code values to zero."""
        self.codes.project()
