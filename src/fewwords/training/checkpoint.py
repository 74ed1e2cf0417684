"""A checkpoint: all that a run needs to continue as if it had never stopped, in one folder, complete or absent.

`checkpoint/` has `weights.safetensors`, `optimiser.safetensors`, `random.safetensors` (the states of the random
generators), `best.safetensors` (the weights with the best dev perplexity, once there are any), and `state.json` with
the numbers of the run and the SHA-256 of the other files. A new one is written beside it and swapped in, so a kill at
any moment leaves a complete one, which `find_checkpoint` finds.
"""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from fewwords.errors import InputError
from fewwords.store.files import check_file, sha256_of, write_json
from fewwords.store.folders import find_folder, recover_folder, remove_folder, replaced_folder
from fewwords.store.typed import read_description

FORMAT = "fewwords checkpoint 1"
BEST = "best.safetensors"
_NAME = "checkpoint"
_TENSOR_FILES = ("weights", "optimiser", "random")


@dataclass
class Checkpoint:
    """The tensors of a run by name, and its numbers, which must fit into JSON."""

    weights: dict[str, Tensor]
    optimiser: dict[str, Tensor]
    random: dict[str, Tensor]
    state: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Description:
    """What `state.json` says besides its format."""

    state: dict[str, Any]
    sha256: dict[str, str]

    def __post_init__(self) -> None:
        needed = {f"{name}.safetensors" for name in _TENSOR_FILES}
        if not needed <= self.sha256.keys() <= {*needed, BEST}:
            raise InputError("it does not name the files of a checkpoint")


def write_checkpoint(folder: Path, checkpoint: Checkpoint, *, is_best: bool) -> None:
    """Write the checkpoint of a model folder; with `is_best` its weights become the best, else the best stay."""
    current = folder / _NAME
    with replaced_folder(current) as new:
        for name in _TENSOR_FILES:
            tensors = {key: tensor.detach().contiguous() for key, tensor in getattr(checkpoint, name).items()}
            save_file(tensors, new / f"{name}.safetensors")
        if is_best:
            _link(new / "weights.safetensors", new / BEST)
        elif (current / BEST).exists():
            _link(current / BEST, new / BEST)
        hashes = {path.name: sha256_of(path) for path in sorted(new.iterdir())}
        write_json(new / "state.json", {"format": FORMAT, "state": checkpoint.state, "sha256": hashes})


def find_checkpoint(folder: Path) -> Path | None:
    """The checkpoint of a model folder, at whatever moment its writer was killed; None if there is none."""
    return find_folder(folder / _NAME)


def recover_checkpoint(folder: Path) -> None:
    """Put the checkpoint of a model folder back in place if a kill left it elsewhere."""
    recover_folder(folder / _NAME)


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint; raises InputError naming the file if one is missing, damaged or changed."""
    what = "a checkpoint that this version can read"
    facts = read_description(path / "state.json", _Description, FORMAT, what, "start over with `force`")
    for name, digest in facts.sha256.items():
        if not (path / name).is_file():
            raise InputError(f"{path / name}: missing from the checkpoint; start over with `force`")
        if sha256_of(path / name) != digest:
            raise InputError(f"{path / name}: not the file that state.json describes; start over with `force`")
    weights, optimiser, random = (_read_tensors(path / f"{name}.safetensors") for name in _TENSOR_FILES)
    return Checkpoint(weights, optimiser, random, facts.state)


def read_best(folder: Path) -> dict[str, Tensor]:
    """The best weights that the checkpoint of a model folder holds."""
    return _read_tensors(folder / _NAME / BEST)


def remove_checkpoints(folder: Path) -> None:
    """Remove the checkpoint of a model folder."""
    remove_folder(folder / _NAME)


def _read_tensors(path: Path) -> dict[str, Tensor]:
    check_file(path, "start over with `force`")
    try:
        return load_file(path)
    except SafetensorError as error:
        raise InputError(f"{path}: not readable ({error}); start over with `force`") from None


def _link(source: Path, target: Path) -> None:
    """A hard link to a file that never changes, or a copy where links do not work."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
