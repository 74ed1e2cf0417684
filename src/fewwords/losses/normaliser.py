"""What stands for the normalisation factor Z_h while training with noise (section 3.4).

P(w|h) = exp(s(h, w)) / Z_h, and a normaliser gives -ln Z_h for each context: 0 (`OneNormaliser`, the paper's base
model), one learned number (`ConstantNormaliser`), or W_Z . h + b_Z (`ZRegression`). All start at Z = 1. Evaluation
normalises explicitly and ignores them; `normalisation_gap` measures how far they are from the truth (figure 5).
"""

from typing import Protocol

import torch
from torch import Tensor, nn

from fewwords.layers.output import OutputLayer


class Normaliser(Protocol):
    """Anything that gives -ln Z_h [N] for contexts h [N, size]."""

    def negative_log_z(self, h: Tensor) -> Tensor: ...


class OneNormaliser(nn.Module):
    """Z_h = 1 for every context."""

    def negative_log_z(self, h: Tensor) -> Tensor:
        """Zeros [N] for contexts h [N, size]."""
        return h.new_zeros(len(h))


class ConstantNormaliser(nn.Module):
    """One learned Z for all contexts."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(()))

    def negative_log_z(self, h: Tensor) -> Tensor:
        """The learned -ln Z, repeated [N], for contexts h [N, size]."""
        return self.bias.expand(len(h))


class ZRegression(nn.Module):
    """Z_h^-1 = exp(W_Z . h + b_Z)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))
        self.bias = nn.Parameter(torch.zeros(()))

    def negative_log_z(self, h: Tensor) -> Tensor:
        """W_Z . h + b_Z [N] for contexts h [N, size]."""
        return h @ self.weight + self.bias


def make_normaliser(name: str, size: int) -> OneNormaliser | ConstantNormaliser | ZRegression:
    """The normaliser of that name, for contexts of `size` values."""
    if name == "one":
        return OneNormaliser()
    if name == "constant":
        return ConstantNormaliser()
    if name == "z-regression":
        return ZRegression(size)
    raise ValueError(f"no normaliser is named {name!r}; choose one, constant or z-regression")


@torch.no_grad()
def normalisation_gap(h: Tensor, output: OutputLayer, normaliser: Normaliser) -> Tensor:
    """ln Z(h) + (-ln Z_h) [N]: the log of the sum of the normaliser's probabilities, 0 where it is right."""
    return output.log_normaliser(h) + normaliser.negative_log_z(h)
