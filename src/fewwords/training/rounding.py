"""Training with rounded weights (`quantise_aware`): the model computes with weights of few bits, as `pack` will store them.

What the gradients move is the weights as they were before rounding, which differ from the rounded ones by an offset. The
offset is taken anew every few steps and before every evaluation; between two of these, rounded weights move along with
those behind them. The weights that are kept are rounded ones, so packing them with the same bits hardly changes them.
"""

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

from fewwords.errors import InputError
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.packed.matrix import Floats
from fewwords.packing.make_parts import round_biases, round_code_values, round_encoder_matrix, round_table
from fewwords.packing.recipe import RECIPES, TRAINED, Recipe

STEPS = 50  # between two roundings: rounding takes as long as one or two of them
_TABLES = ("base", "weight", "factors")  # of coded and dense layers, and of the bands of adaptive tables
_VECTORS: dict[str, "Rounder"] = {"output.bias": round_biases, "codes.values": round_code_values}
_SUFFIX = ".offset"

Rounder = Callable[[Floats, Recipe], Floats]


def is_offset(name: str) -> bool:
    """Whether a tensor of a checkpoint is an offset."""
    return name.endswith(_SUFFIX)


class Rounding:
    """The rounded weights of a model in training, and how far they are from those behind them."""

    def __init__(self, model: LanguageModel, bits: int) -> None:
        self._recipe = TRAINED if bits == TRAINED.tables else RECIPES[bits]
        self._model = model
        self._offsets = {name: torch.zeros_like(weight) for name, weight, _ in self._rounded()}

    def _rounded(self) -> Iterator[tuple[str, Tensor, Rounder]]:
        """The weights that are rounded, by name, and how."""
        for name, weight in self._model.named_parameters():
            place, _, kind = name.rpartition(".")
            if place.startswith("encoder") and weight.dim() > 1:
                yield name, weight, round_encoder_matrix
            elif place.startswith(("embedding", "output")) and kind in _TABLES:
                yield name, weight, round_table
            elif name in _VECTORS:
                yield name, weight, _VECTORS[name]

    @torch.no_grad()
    def round(self) -> None:
        """Round the weights behind the present ones."""
        for name, weight, rounder in self._rounded():
            behind = weight - self._offsets[name]
            weight.copy_(torch.from_numpy(rounder(behind.cpu().numpy(), self._recipe)))
            self._offsets[name] = weight - behind

    def state_tensors(self) -> dict[str, Tensor]:
        """The offsets as plain tensors: `NAME.offset`."""
        return {f"{name}{_SUFFIX}": offset for name, offset in self._offsets.items()}

    def load_state_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Load what `state_tensors` returned; raises InputError if it belongs to another model."""
        own = self.state_tensors()
        for name, tensor in tensors.items():
            if name not in own or tensor.shape != own[name].shape or not tensor.isfinite().all():
                raise InputError(f"the checkpoint's {name:.80} does not fit this model; start over with `force`")
        if tensors.keys() != own.keys():
            raise InputError("the checkpoint's rounding is incomplete; start over with `force`")
        self._offsets = {
            name.removesuffix(_SUFFIX): tensor.to(own[name], copy=True) for name, tensor in tensors.items()
        }
