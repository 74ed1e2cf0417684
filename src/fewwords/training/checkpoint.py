"""A checkpoint: all that a run needs to go on as if it had never stopped, in one folder that is whole or not there.

`checkpoint/` has `weights.safetensors`, `optimiser.safetensors`, `random.safetensors` (the states of the random generators),
`best.safetensors` (the weights with the best dev perplexity, once there are any), and `state.json` with the numbers of the run
and the SHA-256 of the other files. A new one is written beside it and takes its place by renaming; the old one goes last. A
kill at any moment leaves at least one whole checkpoint, and `find_checkpoint` knows which.
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
from fewwords.store.files import read_json, sha256_of, write_json

FORMAT = "fewwords checkpoint 1"
BEST = "best.safetensors"
_TENSOR_FILES = ("weights", "optimiser", "random")
# In the order in which they are believed: during a swap the first is absent and the second whole.
_NAMES = ("checkpoint", "checkpoint.new", "checkpoint.old")


@dataclass
class Checkpoint:
    """The tensors of a run by name, and its numbers, which must fit into JSON."""

    weights: dict[str, Tensor]
    optimiser: dict[str, Tensor]
    random: dict[str, Tensor]
    state: dict[str, Any] = field(default_factory=dict)


def write_checkpoint(folder: Path, checkpoint: Checkpoint, *, is_best: bool) -> None:
    """Write the checkpoint of a model folder; with `is_best` its weights are kept as the best, else the best stay."""
    current, new, old = (folder / name for name in _NAMES)
    mend_swap(folder)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for name in _TENSOR_FILES:
        tensors = {key: tensor.detach().contiguous() for key, tensor in getattr(checkpoint, name).items()}
        save_file(tensors, new / f"{name}.safetensors")
    if is_best:
        _link(new / "weights.safetensors", new / BEST)
    elif (current / BEST).exists():
        _link(current / BEST, new / BEST)
    paths = sorted(new.iterdir())
    for path in paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())
    hashes = {path.name: sha256_of(path) for path in paths}
    write_json(new / "state.json", {"format": FORMAT, "state": checkpoint.state, "sha256": hashes})
    if current.exists():
        current.replace(old)
    new.replace(current)
    _flush_folder(folder)
    shutil.rmtree(old, ignore_errors=True)


def find_checkpoint(folder: Path) -> Path | None:
    """The checkpoint of a model folder, whatever moment its writer was killed at; None when there is none."""
    for name in _NAMES:
        if (folder / name / "state.json").exists():
            return folder / name
    return None


def mend_swap(folder: Path) -> None:
    """Finish a swap that a kill cut short, and remove what it left."""
    current, new, old = (folder / name for name in _NAMES)
    found = find_checkpoint(folder)
    if found is not None and found != current:
        shutil.rmtree(current, ignore_errors=True)
        found.replace(current)
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint; raises InputError naming the file when one is missing, damaged or changed."""
    facts = read_json(path / "state.json")
    if not isinstance(facts, dict) or facts.get("format") != FORMAT or not isinstance(facts.get("state"), dict):
        raise InputError(f"{path / 'state.json'}: not a checkpoint that this version can read; start over with `force`")
    hashes = facts.get("sha256")
    if not isinstance(hashes, dict) or not {f"{name}.safetensors" for name in _TENSOR_FILES} <= set(hashes):
        raise InputError(f"{path / 'state.json'}: does not name the files of a checkpoint; start over with `force`")
    for name, digest in hashes.items():
        if not (path / name).is_file():
            raise InputError(f"{path / name}: missing from the checkpoint; start over with `force`")
        if sha256_of(path / name) != digest:
            raise InputError(f"{path / name}: not the file that state.json describes; start over with `force`")
    weights, optimiser, random = (_read_tensors(path / f"{name}.safetensors") for name in _TENSOR_FILES)
    return Checkpoint(weights, optimiser, random, facts["state"])


def read_best(folder: Path) -> dict[str, Tensor]:
    """The best weights that the checkpoint of a model folder holds."""
    return _read_tensors(folder / _NAMES[0] / BEST)


def remove_checkpoints(folder: Path) -> None:
    """Remove every checkpoint of a model folder."""
    for name in _NAMES:
        shutil.rmtree(folder / name, ignore_errors=True)


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (SafetensorError, FileNotFoundError) as error:
        raise InputError(f"{path}: not readable ({error}); start over with `force`") from None


def _link(source: Path, target: Path) -> None:
    """A second name for a file that nobody changes, or a copy where links are not to be had."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _flush_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
