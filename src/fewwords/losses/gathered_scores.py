"""Scores of contexts against words of their own, W_{index[n, j]} . h_n, without keeping the gathered weights.

With 50 noise words for each of 2,048 positions the gathered weights are 80 MB. They are made for a few contexts at a
time, and the gradients are weighted sums of rows, which need no gathered copy.
"""

from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from fewwords.layers.row_sums import gradient_of_table

# Of 51 words and 200 values each, 32 contexts are 1.3 MB.
_CONTEXTS_PER_CHUNK = 32


def gathered_scores(weights: Tensor, h: Tensor, index: Tensor) -> Tensor:
    """weights[index[n, j]] . h[n], shape [N, k], for weights [words, size], h [N, size] and index [N, k]."""
    return cast(Tensor, _GatheredScores.apply(weights, h, index))  # type: ignore[no-untyped-call]


class _GatheredScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, h: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(weights, h, index)
        scores = h.new_empty(index.shape)
        for begin in range(0, len(h), _CONTEXTS_PER_CHUNK):
            chunk = slice(begin, begin + _CONTEXTS_PER_CHUNK)
            gathered = weights.index_select(0, index[chunk].reshape(-1)).view(*index[chunk].shape, -1)
            scores[chunk] = torch.bmm(gathered, h[chunk, :, None]).squeeze(2)
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, h, index = ctx.saved_tensors
        context_of = torch.arange(len(h), device=h.device).repeat_interleave(index.shape[1])
        for_h = functional.embedding_bag(index, weights, mode="sum", per_sample_weights=gradient.contiguous())
        for_weights = gradient_of_table(weights.shape, h, index.reshape(-1), context_of, gradient.reshape(-1))
        return for_weights, for_h, None
