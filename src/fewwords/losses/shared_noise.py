"""The loss of noise-contrastive estimation with noise words shared by many contexts, with all gradients in one pass.

x = h W^T + shift - ln Z_h for every context and noise word of its group is the largest array of a training step. It is
computed, used for the loss and the three gradients, and dropped, for some contexts at a time, while it is in the cache.
"""

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

# Scores of 512 contexts by 512 noise words are 1 MB.
_CONTEXTS_PER_CHUNK = 512
_FACTORS = 8


def shared_noise_loss(h: Tensor, negative_log_z: Tensor, weights: Tensor, shifts: Tensor, num_noise: int) -> Tensor:
    """The mean of -ln sigmoid(x(target)) - sum_noise ln sigmoid(-x(noise)) over contexts h [N, size].

    `weights` [N + Gk, size] and `shifts` [N + Gk], the biases minus ln(k P_n), are those of the targets and then of
    k = `num_noise` noise words for each of G consecutive groups of contexts, as equal in size as possible.
    x = weights . h + shift + `negative_log_z` [N].
    """
    with_gradients = torch.is_grad_enabled()
    arguments = (h, negative_log_z, weights, shifts, num_noise, with_gradients)
    loss = _SharedNoiseLoss.apply(*arguments)  # type: ignore[no-untyped-call]
    return cast(Tensor, loss)


def _chunks(num_contexts: int, num_groups: int) -> Iterator[tuple[int, slice]]:
    """The number of each group, and its contexts, some at a time."""
    bounds = [round(group * num_contexts / num_groups) for group in range(num_groups + 1)]
    for group, (begin, end) in enumerate(zip(bounds, bounds[1:])):
        for first in range(begin, end, _CONTEXTS_PER_CHUNK):
            yield group, slice(first, min(first + _CONTEXTS_PER_CHUNK, end))


class _SharedNoiseLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        negative_log_z: Tensor,
        weights: Tensor,
        shifts: Tensor,
        num_noise: int,
        with_gradients: bool,
    ) -> Tensor:
        num_contexts = len(h)
        target_weights, noise_weights = weights[:num_contexts], weights[num_contexts:]
        target_shifts, noise_shifts = shifts[:num_contexts], shifts[num_contexts:]
        x = (h * target_weights).sum(1).add_(target_shifts).add_(negative_log_z)
        loss = functional.softplus(-x).sum()
        if with_gradients:
            slopes = torch.sigmoid(-x).neg_()
            for_h = slopes[:, None] * target_weights
            for_weights = torch.empty_like(weights)
            torch.mul(slopes[:, None], h, out=for_weights[:num_contexts])
            for_noise_weights = for_weights[num_contexts:].zero_()
            for_z = slopes.clone()
            for_noise_shifts = torch.zeros_like(noise_shifts)
        for group, chunk in _chunks(num_contexts, len(noise_weights) // num_noise):
            words = slice(group * num_noise, (group + 1) * num_noise)
            x = torch.addmm(noise_shifts[words], h[chunk], noise_weights[words].t()).add_(negative_log_z[chunk, None])
            loss += _sum_of_softplus(x)
            if with_gradients:
                noise_slopes = x.sigmoid_()
                for_h[chunk].addmm_(noise_slopes, noise_weights[words])
                for_noise_weights[words].addmm_(noise_slopes.t(), h[chunk])
                for_z[chunk] += noise_slopes.sum(1)
                for_noise_shifts[words] += noise_slopes.sum(0)
        if with_gradients:
            ctx.save_for_backward(for_h, for_z, for_weights, torch.cat([slopes, for_noise_shifts]))
        return loss / num_contexts

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        for_h, for_z, for_weights, for_shifts = ctx.saved_tensors
        scale = gradient / len(for_h)
        return for_h * scale, for_z * scale, for_weights * scale, for_shifts * scale, None, None


def _sum_of_softplus(x: Tensor) -> Tensor:
    """The sum of ln(1 + exp(x)) = max(x, 0) - ln sigmoid(|x|) over all of x.

    Logarithms are the expensive part. The sigmoids lie between 1/2 and 1, so a few are multiplied before each
    logarithm.
    """
    factors = x.abs().sigmoid_().view(-1)
    num_grouped = len(factors) // _FACTORS * _FACTORS
    products = factors[:num_grouped].view(_FACTORS, -1).prod(0)
    return x.clamp_min(0).sum() - products.log_().sum() - factors[num_grouped:].log().sum()
