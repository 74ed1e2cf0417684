"""Adam (0.9 / 0.999 / 1e-8, the paper's) in two parts: fused for dense gradients, lazy for sparse ones.

A dense gradient goes to torch's fused Adam, the fastest where most rows are touched (the LSTM, tables of 8,000 base
words). For a sparse gradient only the touched rows are updated, weights and moments alike; the moments of other rows
stay as they are instead of decaying, so a rare word moves only when it occurs. The bias correction counts all steps, as
in torch.optim.SparseAdam. A row that is touched at every step moves exactly as under plain Adam.
"""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from fewwords.errors import InputError
from fewwords.training.gradients import Gradient

BETAS = (0.9, 0.999)
EPSILON = 1e-8
_MOMENTS = ("exp_avg", "exp_avg_sq")


class Optimiser:
    """Adam over named parameters; `step` takes the gradients that `collect_gradients` found.

    `shares` maps names of parameters to the share of the learning rate at which they move.
    """

    def __init__(
        self, named_parameters: Iterable[tuple[str, nn.Parameter]], shares: Mapping[str, float] | None = None
    ) -> None:
        self.parameters = dict(named_parameters)
        self._shares = {self.parameters[name]: share for name, share in (shares or {}).items()}
        slower = [{"params": [parameter], "share": share} for parameter, share in self._shares.items()]
        others = [parameter for parameter in self.parameters.values() if parameter not in self._shares]
        groups = [{"params": others, "share": 1.0}, *slower]
        self._adam = torch.optim.Adam(groups, betas=BETAS, eps=EPSILON, fused=True)

    @torch.no_grad()
    def step(self, gradients: Sequence[Gradient], learning_rate: float) -> None:
        """Move every parameter that has a gradient; the gradients are used up."""
        sparse = [gradient for gradient in gradients if gradient.rows is not None]
        for gradient in sparse:
            self._lazy_step(gradient, learning_rate * self._shares.get(gradient.parameter, 1.0))
        # torch's Adam skips parameters without a gradient, and cannot take sparse ones
        kept = [gradient.parameter.grad for gradient in sparse]
        for gradient in sparse:
            gradient.parameter.grad = None
        for group in self._adam.param_groups:
            group["lr"] = learning_rate * group["share"]
        self._adam.step()
        for gradient, value in zip(sparse, kept):
            gradient.parameter.grad = value

    def zero_gradients(self) -> None:
        """Forget all gradients, without writing zeros."""
        self._adam.zero_grad(set_to_none=True)

    def _lazy_step(self, gradient: Gradient, learning_rate: float) -> None:
        parameter, rows, values = gradient
        assert rows is not None
        state = self._adam.state[parameter]
        if not state:
            state["step"] = torch.zeros(())
            state.update({name: torch.zeros_like(parameter) for name in _MOMENTS})
        state["step"] += 1
        step = float(state["step"])
        mean = state["exp_avg"].index_select(0, rows).lerp_(values, 1 - BETAS[0])
        square = state["exp_avg_sq"].index_select(0, rows).mul_(BETAS[1]).addcmul_(values, values, value=1 - BETAS[1])
        state["exp_avg"].index_copy_(0, rows, mean)
        state["exp_avg_sq"].index_copy_(0, rows, square)
        scale = square.sqrt_().div_((1 - BETAS[1] ** step) ** 0.5).add_(EPSILON)
        moved = parameter.index_select(0, rows).addcdiv_(mean, scale, value=-learning_rate / (1 - BETAS[0] ** step))
        parameter.index_copy_(0, rows, moved)

    def state_tensors(self) -> dict[str, Tensor]:
        """The moments and step counts as plain tensors: `NAME.exp_avg`, `NAME.exp_avg_sq`, `NAME.step`."""
        return {
            f"{name}.{key}": value
            for name, parameter in self.parameters.items()
            for key, value in self._adam.state.get(parameter, {}).items()
        }

    def load_state_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Load what `state_tensors` returned; raises InputError if it belongs to another model."""
        self._adam.state.clear()
        for full_name, tensor in tensors.items():
            name, _, key = full_name.rpartition(".")
            parameter = self.parameters.get(name)
            shape = {"step": torch.Size([]), **dict.fromkeys(_MOMENTS, None if parameter is None else parameter.shape)}
            if parameter is None or tensor.shape != shape.get(key) or tensor.dtype != torch.float32:
                raise InputError(
                    f"the optimiser's state has {full_name:.80}, which this model does not; start over with `force`"
                )
            if not tensor.isfinite().all() or (key != _MOMENTS[0] and (tensor < 0).any()):
                raise InputError(f"the optimiser's state {full_name} is damaged; start over with `force`")
            self._adam.state[parameter][key] = tensor.to(parameter.device, copy=True)
        if any(len(state) != 1 + len(_MOMENTS) for state in self._adam.state.values()):
            raise InputError("the optimiser's state is incomplete; start over with `force`")
