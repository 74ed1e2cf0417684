"""Weighted sums of table rows, with gradients for the touched rows only.

Row i of the result is sum_p weights[p] * table[indices[p]] over the entries p of group i: the U x of equation (3) for
many words at once. Plain lookups are groups of one entry. The gradient of the table sorts the entries by row and sums
each row once: into a dense tensor, or into a coalesced sparse one that holds just the touched rows.
No atomic additions: the same input gives the same bits.
"""

from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional


def sum_rows(table: Tensor, indices: Tensor, starts: Tensor, weights: Tensor, *, sparse: bool = False) -> Tensor:
    """Weighted sums of the rows of `table` ([rows, size] or [rows]), one for each group of entries.

    `indices` and `weights` [entries] are the entries group after group, `starts` [groups] where each group begins.
    Returns [groups, size] or [groups]; with `sparse` the gradient of `table` is a coalesced sparse tensor.
    """
    return cast(Tensor, _RowSums.apply(table, weights, indices, starts, sparse))  # type: ignore[no-untyped-call]


def take_rows(table: Tensor, ids: Tensor, *, sparse: bool = False) -> Tensor:
    """The rows `ids` [n] of `table` ([rows, size] or [rows]); with `sparse` its gradient is sparse and coalesced."""
    return cast(Tensor, _RowSums.apply(table, None, ids, None, sparse))  # type: ignore[no-untyped-call]


def touched_rows(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """The rows [n], ascending without repeats, and values [n, ...] of a sparse gradient.

    Accumulation into `.grad` forgets that a gradient is coalesced. The order of its rows shows it; they are sorted
    again only where two gradients were added, as for a table that serves two layers.
    """
    rows = gradient._indices()[0]
    if bool((rows[1:] > rows[:-1]).all()):
        return rows, gradient._values()
    gradient = gradient.coalesce()
    return gradient.indices()[0], gradient.values()


class _RowSums(torch.autograd.Function):
    """`sum_rows`, and `take_rows` where starts and weights are None."""

    @staticmethod
    def forward(
        ctx: Any, table: Tensor, weights: Tensor | None, indices: Tensor, starts: Tensor | None, sparse: bool
    ) -> Tensor:
        ctx.sparse = sparse
        ctx.table_shape = table.shape
        ctx.save_for_backward(table if ctx.needs_input_grad[1] else None, weights, indices, starts)
        if starts is None:
            return table.index_select(0, indices)
        # Detached, because for a table that requires a gradient embedding_bag takes a slower, recording path.
        sums = functional.embedding_bag(
            indices, _as_matrix(table.detach()), starts, mode="sum", per_sample_weights=weights
        )
        return sums.squeeze(1) if table.dim() == 1 else sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        table, weights, indices, starts = ctx.saved_tensors
        gradient_rows = _as_matrix(gradient.contiguous())
        group_of = None if starts is None else _group_of_each(starts, len(indices))
        for_table = for_weights = None
        if ctx.needs_input_grad[0]:
            for_table = gradient_of_table(ctx.table_shape, gradient_rows, indices, group_of, weights, sparse=ctx.sparse)
        if ctx.needs_input_grad[1]:
            groups = cast(Tensor, group_of)
            for_weights = (gradient_rows[groups] * _as_matrix(table)[indices]).sum(1)
        return for_table, for_weights, None, None, None


def gradient_of_table(
    shape: torch.Size,
    gradient: Tensor,
    indices: Tensor,
    group_of: Tensor | None,
    weights: Tensor | None,
    *,
    sparse: bool = False,
) -> Tensor:
    """Sum weights[p] * gradient[group_of[p]] over the entries p of each table row; `gradient` is [groups, size]."""
    in_row_order, order = torch.sort(indices, stable=True)
    if sparse:
        rows, counts = torch.unique_consecutive(in_row_order, return_counts=True)
    else:
        counts = torch.bincount(indices, minlength=shape[0])
    sums = functional.embedding_bag(
        order if group_of is None else group_of[order],
        gradient,
        counts.cumsum(0) - counts,
        mode="sum",
        per_sample_weights=None if weights is None else weights[order],
    ).view(-1, *shape[1:])
    if not sparse:
        return sums
    return torch.sparse_coo_tensor(rows[None], sums, shape, is_coalesced=True, check_invariants=False)


def _group_of_each(starts: Tensor, num_entries: int) -> Tensor:
    """The group of each entry [entries], from where each group begins (groups may be empty)."""
    ends = torch.cat([starts[1:], starts.new_tensor([num_entries])])
    return torch.repeat_interleave(
        torch.arange(len(starts), device=starts.device), ends - starts, output_size=num_entries
    )


def _as_matrix(table: Tensor) -> Tensor:
    return table[:, None] if table.dim() == 1 else table
