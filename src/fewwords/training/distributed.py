"""Several processes, on one machine or many, that train one model: `torchrun -m fewwords train …`.

Every process goes through the same sequence of batches and takes every N-th. A step adds up the gradients, each
weighted by its share of the predictions: dense ones by all_reduce, sparse ones by gathering the touched rows. All
processes then take the same step, so the models stay equal. Process 0 alone evaluates and writes. The work folder must
be visible to all processes.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, distributed, nn

from fewwords.errors import InputError
from fewwords.layers.row_sums import gradient_of_table
from fewwords.training.gradients import Gradient, collect_gradients

_NONE, _SPARSE, _DENSE = range(3)


class Group:
    """The processes of a run, of which this one is `rank`; a run of one process needs no communication."""

    def __init__(self, rank: int = 0, size: int = 1, device: torch.device | None = None) -> None:
        self.rank, self.size = rank, size
        self.device = device or torch.device("cpu")

    @property
    def is_first(self) -> bool:
        """Whether this process evaluates and writes."""
        return self.rank == 0

    def sum(self, values: Sequence[float]) -> list[float]:
        """The sums of numbers over all processes."""
        if self.size == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(tensor)
        return [float(value) for value in tensor.tolist()]

    def from_first(self, values: Sequence[float]) -> list[float]:
        """The numbers of process 0."""
        if self.size == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.broadcast(tensor, 0)
        return [float(value) for value in tensor.tolist()]

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """The tensors of all processes, of one shape, in the order of their ranks."""
        if self.size == 1:
            return [tensor]
        local = tensor.to(self.device)
        gathered = [torch.empty_like(local) for _ in range(self.size)]
        distributed.all_gather(gathered, local)
        return [other.to(tensor.device) for other in gathered]

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.size > 1:
            distributed.barrier()

    @torch.no_grad()
    def share_parameters(self, model: nn.Module) -> None:
        """Give every process the parameters of process 0."""
        if self.size > 1:
            for parameter in model.parameters():
                distributed.broadcast(parameter.data, 0)

    @torch.no_grad()
    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> list[Gradient]:
        """The gradients of the backward pass, summed over all processes."""
        parameters = list(parameters)
        if self.size == 1:
            return collect_gradients(parameters)
        # One batch may use a parameter that another does not (a sentence of one word does not need the LSTM).
        kinds = torch.tensor([_kind(parameter) for parameter in parameters], device=self.device)
        distributed.all_reduce(kinds, distributed.ReduceOp.MAX)
        for parameter, kind in zip(parameters, kinds.tolist()):
            _convert_gradient(parameter, kind)
        return [self._add(gradient) for gradient in collect_gradients(parameters)]

    def _add(self, gradient: Gradient) -> Gradient:
        parameter, rows, values = gradient
        if rows is None:
            distributed.all_reduce(values)
            return gradient
        counts = torch.cat(self.gather(rows.new_tensor([len(rows)]))).tolist()
        padded_rows = rows.new_zeros(max(counts))
        padded_values = values.new_zeros(max(counts), *values.shape[1:])
        padded_rows[: len(rows)], padded_values[: len(rows)] = rows, values
        all_rows = torch.cat([part[:count] for part, count in zip(self.gather(padded_rows), counts)])
        all_values = torch.cat([part[:count] for part, count in zip(self.gather(padded_values), counts)])
        matrix = all_values[:, None] if all_values.dim() == 1 else all_values
        summed = gradient_of_table(parameter.shape, matrix, all_rows, None, None, sparse=True)
        parameter.grad = summed  # the projection of code values finds the touched rows there
        return Gradient(parameter, summed._indices()[0], summed._values())


def _kind(parameter: nn.Parameter) -> int:
    if parameter.grad is None:
        return _NONE
    return _SPARSE if parameter.grad.is_sparse else _DENSE


def _convert_gradient(parameter: nn.Parameter, kind: int) -> None:
    """Convert a gradient to the kind that the processes agreed on, zeros if there is none."""
    if parameter.grad is None and kind != _NONE:
        layout = torch.sparse_coo if kind == _SPARSE else torch.strided
        parameter.grad = torch.zeros(parameter.shape, dtype=parameter.dtype, device=parameter.device, layout=layout)
    elif parameter.grad is not None and parameter.grad.is_sparse and kind == _DENSE:
        parameter.grad = parameter.grad.to_dense()


@contextmanager
def joined_group(device: torch.device) -> Iterator[Group]:
    """The group that this process already joined, the one that torchrun's environment describes, or itself alone."""
    if distributed.is_available() and distributed.is_initialized():
        yield Group(distributed.get_rank(), distributed.get_world_size(), device)
        return
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield Group(device=device)
        return
    if not distributed.is_available():
        raise InputError("this PyTorch cannot join processes (torch.distributed is missing); start one process only")
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Group(distributed.get_rank(), size, device)
    finally:
        distributed.destroy_process_group()
