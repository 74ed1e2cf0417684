"""The sparse codes as a layer holds them: tensors that move with the model and expand for the words of a batch.

Base words are stored with their own code, themselves times 1, so that every word is read the same way. Only `values`,
those of the rare words, can be tuned. The codes are in the state dict by default, so that a layer's own state restores
it; use persistent=False where they are saved in a separate file. An embedding and an output layer can
share one table.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.layers.row_sums import sum_rows, take_rows
from fewwords.layers.streaming import words_per_chunk

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

RARE_CONTEXTS = 64  # of `rare_log_sums`


class Entries(NamedTuple):
    """The codes of some words, one after another."""

    indices: Tensor  # [entries] base words
    starts: Tensor  # [words] where each word's entries begin
    weights: Tensor  # [entries]


class CodeTable(nn.Module):
    """Codes of `num_words` words over the first `num_base` of them."""

    offsets: Tensor  # [num_words + 1] int32
    indices: Tensor  # [num_base + stored] int32, the base words' own first
    values: Tensor  # [stored], of rare words

    def __init__(
        self, codes: SparseCodes, *, tune: bool = False, sparse: bool = False, persistent: bool = True
    ) -> None:
        super().__init__()
        self.num_words = codes.num_words
        self.num_base = codes.num_base
        self.sparse = sparse
        own = np.arange(codes.num_base)
        offsets = np.concatenate([own, codes.num_base + np.asarray(codes.offsets, dtype=np.int64)])
        indices = np.concatenate([own, np.asarray(codes.indices, dtype=np.int64)])
        self.register_buffer("offsets", torch.from_numpy(offsets).int(), persistent=persistent)
        self.register_buffer("indices", torch.from_numpy(indices).int(), persistent=persistent)
        values = torch.tensor(np.asarray(codes.values), dtype=torch.get_default_dtype())
        if tune:
            self.values = nn.Parameter(values)
        else:
            self.register_buffer("values", values, persistent=persistent)

    @property
    def tuned(self) -> bool:
        """Whether the values are a parameter."""
        return isinstance(self.values, nn.Parameter)

    def entries_of(self, ids: Tensor) -> Entries:
        """The codes of the words `ids` [n], repeated words repeated; the cost does not depend on the vocabulary."""
        # index_select, because plain indexing would read a negative id from the end.
        first = self.offsets.index_select(0, ids).long()
        lengths = self.offsets.index_select(0, ids + 1).long() - first
        ends = lengths.cumsum(0)
        starts = ends - lengths
        num_entries = int(ends[-1]) if len(ids) else 0
        shifts = torch.repeat_interleave(first - starts, lengths, output_size=num_entries)
        positions = torch.arange(num_entries, device=ids.device) + shifts
        weights = torch.ones(num_entries, dtype=self.values.dtype, device=ids.device)
        rare = positions >= self.num_base
        rare_values = take_rows(self.values, positions[rare] - self.num_base, sparse=self.sparse)
        return Entries(self.indices[positions].long(), starts, weights.masked_scatter(rare, rare_values))

    def combine(self, table: Tensor, ids: Tensor, *, sparse: bool = False) -> Tensor:
        """The rows of the words `ids` [n], combined by their codes from `table` ([num_base, size] or [num_base])."""
        entries = self.entries_of(ids)
        return sum_rows(table, *entries, sparse=sparse)

    def combine_rare(self, table: Tensor) -> Tensor:
        """The rows [num_words - num_base, size] of all rare words, combined by their codes from `table`."""
        starts = (self.offsets[self.num_base : -1] - self.num_base).long()
        return sum_rows(table, self.indices[self.num_base :].long(), starts, self.values)

    @torch.no_grad()
    def rare_chunks(self, table: Tensor) -> Iterator[tuple[int, Tensor]]:
        """`combine_rare` without gradients, as pairs of the first word and its chunk of rows."""
        step = words_per_chunk(table.shape[1])
        firsts = list(range(self.num_base, self.num_words, step))
        bounds = self.offsets[[*firsts, self.num_words]].tolist()
        table = table.detach()
        for chunk, first in enumerate(firsts):
            begin, end = bounds[chunk : chunk + 2]
            starts = self.offsets[first : min(first + step, self.num_words)] - begin
            values = self.values.detach()[begin - self.num_base : end - self.num_base]
            indices = self.indices[begin:end]
            yield first, functional.embedding_bag(indices, table, starts, mode="sum", per_sample_weights=values)

    @torch.no_grad()
    def rare_log_sums(self, base_scores: Tensor, biases: Tensor | None) -> list[Tensor]:
        """ln sum_w exp(s(h, w)) [RARE_CONTEXTS] over parts of the rare words w, one part for each thread.

        `base_scores` [num_base, RARE_CONTEXTS] are float32 on the CPU, as `biases` [num_words] are.
        """
        from fewwords.layers.log_sums import rare_log_sum

        num_rare, threads = self.num_words - self.num_base, torch.get_num_threads()
        table = base_scores.view(-1).numpy()
        offsets = self.offsets[self.num_base :].numpy().view(np.uint32)
        indices = self.indices[self.num_base :].numpy().view(np.uint32)
        values = self.values.detach().numpy()
        added = np.zeros(num_rare, np.float32) if biases is None else biases.detach()[self.num_base :].numpy()
        bounds = [num_rare * part // threads for part in range(threads + 1)]

        def sum_part(first: int, last: int) -> Tensor:
            some = offsets[first : last + 1], added[first:last]
            return torch.from_numpy(rare_log_sum(table, *some, indices, values, self.num_base))

        if threads == 1:
            return [sum_part(0, num_rare)]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(sum_part, bounds[:-1], bounds[1:]))

    def to_csr(self) -> "csr_array":
        """The codes as a float64 matrix [num_words, num_base], base words included."""
        from scipy.sparse import csr_array

        values = np.concatenate([np.ones(self.num_base), self.values.detach().double().cpu().numpy()])
        parts = (values, self.indices.cpu().numpy(), self.offsets.cpu().numpy())
        return csr_array(parts, shape=(self.num_words, self.num_base))

    def tuned_codes(self, made_from: dict[str, Any]) -> SparseCodes:
        """The codes with the values as they are now, without those that became zero; a word keeps at least one."""
        matrix = self.to_csr()
        starts = matrix.indptr[:-1]
        empty = np.add.reduceat(matrix.data > 0, starts, dtype=np.int64) == 0
        matrix.data[starts[empty]] = np.finfo(np.float32).tiny
        return SparseCodes.from_csr(matrix, made_from)

    @torch.no_grad()
    def project(self) -> None:
        """Set negative values to zero; after a step with sparse gradients only the touched ones are checked."""
        gradient = self.values.grad
        if gradient is not None and gradient.is_sparse:
            touched = gradient._indices()[0]
            self.values[touched] = self.values[touched].clamp_min(0)
        else:
            self.values.clamp_min_(0)


def as_code_table(codes: SparseCodes | CodeTable, *, tune: bool, sparse: bool) -> CodeTable:
    """A new table for given codes, or the given table, which must then be tunable if `tune` asks for it."""
    if isinstance(codes, SparseCodes):
        return CodeTable(codes, tune=tune, sparse=sparse)
    if tune and not codes.tuned:
        raise ValueError("the shared code table is fixed; make it with tune=True to tune the codes")
    return codes
