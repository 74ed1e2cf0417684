"""The loss of a softmax over each context's target and words that all contexts share, with all gradients in one pass.

The scores of all contexts and shared words are the largest array of a training step. They are computed, used for the loss
and its gradients, and dropped, for some contexts at a time, while they are in the cache.
"""

import math
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_CONTEXTS_PER_CHUNK = 128


def sampled_softmax_loss(h: Tensor, targets: Tensor, drawn: Tensor, weights: Tensor, shifts: Tensor) -> Tensor:
    """The mean of ln(exp(x(target)) + sum over `drawn` but the target of exp(x(w))) - x(target) over contexts h [N, size].

    `drawn` [k] ascend. `weights` [N + k, size] and `shifts` [N + k] are those of the targets [N] and then of the drawn words;
    x = weights . h + shift.
    """
    arguments = (h, targets, drawn, weights, shifts, torch.is_grad_enabled())
    return cast(Tensor, _SampledSoftmaxLoss.apply(*arguments))  # type: ignore[no-untyped-call]


class _SampledSoftmaxLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, h: Tensor, targets: Tensor, drawn: Tensor, weights: Tensor, shifts: Tensor, with_gradients: bool
    ) -> Tensor:
        num_contexts = len(h)
        target_weights, drawn_weights = weights[:num_contexts], weights[num_contexts:]
        target_scores = (h * target_weights).sum(1).add_(shifts[:num_contexts])
        places = torch.searchsorted(drawn, targets).clamp_max_(len(drawn) - 1)
        is_there = drawn[places] == targets
        loss = h.new_zeros(())
        if with_gradients:
            for_h, for_weights = torch.empty_like(h), torch.zeros_like(weights)
            for_shifts = torch.zeros_like(shifts)
        for first in range(0, num_contexts, _CONTEXTS_PER_CHUNK):
            chunk = slice(first, min(first + _CONTEXTS_PER_CHUNK, num_contexts))
            scores = torch.addmm(shifts[num_contexts:], h[chunk], drawn_weights.t())
            rows = is_there[chunk].nonzero()[:, 0]
            scores[rows, places[chunk][rows]] = -math.inf
            log_sums = torch.logaddexp(scores.logsumexp(1), target_scores[chunk])
            loss += (log_sums - target_scores[chunk]).sum()
            if with_gradients:
                probs = scores.sub_(log_sums[:, None]).exp_()
                slopes = (target_scores[chunk] - log_sums).expm1()
                torch.mul(slopes[:, None], target_weights[chunk], out=for_h[chunk]).addmm_(probs, drawn_weights)
                torch.mul(slopes[:, None], h[chunk], out=for_weights[chunk])
                for_weights[num_contexts:].addmm_(probs.t(), h[chunk])
                for_shifts[chunk] = slopes
                for_shifts[num_contexts:] += probs.sum(0)
        if with_gradients:
            ctx.save_for_backward(for_h, for_weights, for_shifts)
        return loss / num_contexts

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        for_h, for_weights, for_shifts = ctx.saved_tensors
        scale = gradient / len(for_h)
        return for_h * scale, None, None, for_weights * scale, for_shifts * scale, None
