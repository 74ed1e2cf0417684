"""The gradients of a step, dense ones whole and sparse ones by their touched rows, and their common norm.

A table that grows with the vocabulary has a sparse gradient. Everything here looks only at the rows that the batch
touched, so its cost does not depend on the vocabulary.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from fewwords.layers.row_sums import touched_rows


class Gradient(NamedTuple):
    """The gradient of one parameter: `values` of `rows` [n], ascending without repeats, or of all rows (None)."""

    parameter: nn.Parameter
    rows: Tensor | None
    values: Tensor


def collect_gradients(parameters: Iterable[nn.Parameter]) -> list[Gradient]:
    """The gradients of the backward pass, in the order of the parameters."""
    gradients = []
    for parameter in parameters:
        gradient = parameter.grad
        if gradient is None:
            continue
        if gradient.is_sparse:
            rows, values = touched_rows(gradient)
            gradients.append(Gradient(parameter, rows, values))
        else:
            gradients.append(Gradient(parameter, None, gradient))
    return gradients


@torch.no_grad()
def gradient_norm(gradients: Sequence[Gradient]) -> float:
    """The Euclidean norm of all gradients together; NaN or infinite if any value is."""
    if not gradients:
        return 0.0
    norms = [torch.linalg.vector_norm(gradient.values) for gradient in gradients]
    return float(torch.linalg.vector_norm(torch.stack(norms)))


@torch.no_grad()
def clip_gradients(gradients: Sequence[Gradient], largest_norm: float) -> float:
    """Scale all gradients so that their norm is at most `largest_norm` (0: leave them); returns the norm before.

    A norm that is not finite is returned as it is, for the caller to handle.
    """
    norm = gradient_norm(gradients)
    if largest_norm and math.isfinite(norm) and norm > largest_norm:
        for gradient in gradients:
            gradient.values.mul_(largest_norm / norm)
    return norm
