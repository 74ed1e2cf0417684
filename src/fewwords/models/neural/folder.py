"""A neural model's folder: `model.safetensors`, `codes.safetensors` if coded, `words.tsv`, `model.json`, a card."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError
from fewwords.extras import is_installed
from fewwords.models.load import register
from fewwords.models.neural.variants import ModelSettings
from fewwords.models.neural.weights import check_weights
from fewwords.models.sealed_folder import ModelFacts, open_folder, write_folder
from fewwords.store.arrays import array_shapes
from fewwords.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from fewwords.models.neural.language_model import LanguageModel
    from fewwords.models.neural.model import NeuralModel
    from fewwords.models.packed.model import PackedModel

FORMAT = "fewwords model 1"
NUMPY = "numpy"


@dataclass(frozen=True, kw_only=True)
class NeuralFacts(ModelFacts):
    """What `model.json` says."""

    settings: ModelSettings


def save_neural(folder: Path, model: "NeuralModel", card: str) -> None:
    """Write a model folder; `card` is the text of its README. Tuned codes are saved as they are now."""
    from safetensors.torch import save_file

    network, codes = model.network, model.codes
    if codes is not None and network.codes is not None and network.codes.tuned:
        codes = network.codes.tuned_codes(codes.made_from)

    def write_files(building: Path) -> None:
        save_file({name: each.contiguous() for name, each in _tensors(network).items()}, building / "model.safetensors")
        if codes is not None:
            codes.save(building / "codes.safetensors")
        (building / "README.md").write_text(card, encoding="utf-8")

    facts = {
        "settings": network.settings.to_json(),
        "num_words": model.num_words,
        "text": model.rules.to_json(),
        "made_from": model.made_from,
    }
    write_folder(folder, FORMAT, model.vocabulary, facts, write_files)


def _tensors(network: "LanguageModel") -> "dict[str, Tensor]":
    """The tensors to save, each once: a tied matrix under its first name. Codes have their own file."""
    kept: dict[int, str] = {} if network.codes is None else {id(network.codes.values): ""}
    state = network.state_dict(keep_vars=True)
    return {name: tensor.detach() for name, tensor in state.items() if kept.setdefault(id(tensor), name) == name}


@register(FORMAT)
def load_neural(folder: Path, device: str = "cpu") -> "NeuralModel | PackedModel":
    """Read what `save_neural` wrote; raises InputError if the folder is incomplete or was changed.

    Where PyTorch is not installed, "cpu" is numpy too.
    """
    if device == NUMPY or (device == "cpu" and not is_installed("torch")):
        from fewwords.models.packed.folder import load_folder

        return load_folder(folder)
    from safetensors.torch import load_file

    from fewwords.models.neural.language_model import LanguageModel
    from fewwords.models.neural.memory import settings_memory
    from fewwords.models.neural.model import NeuralModel
    from fewwords.models.neural.without_start import WithoutStart

    facts, vocabulary, codes = open_neural(folder)
    settings = facts.settings
    path = folder / "model.safetensors"
    found = array_shapes(path, "copy the model folder again", "F32")
    # before anything of that size is made, and one layer after another
    num_base, num_nonzeros = (0, 0) if codes is None else (codes.num_base, len(codes.values))
    stored = sum(map(math.prod, found.values()))
    try:
        wanted = settings_memory(settings, facts.num_words, num_base, num_nonzeros).parameters
    except InputError as error:
        raise InputError(f"{folder / 'model.json'}: {error}") from None
    if wanted != stored or settings.num_layers > len(found):
        raise unfit(path, f"{stored:,} numbers in {len(found):,} arrays, not {wanted:,}")
    try:
        with WithoutStart():
            network = LanguageModel(settings, facts.num_words, codes)
    except InputError as error:
        raise InputError(f"{folder / 'model.json'}: {error}") from None
    expected = {name: tuple(tensor.shape) for name, tensor in _tensors(network).items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise unfit(path, f"{name} has the shape {found.get(name)}, not {expected.get(name)}")
    tensors = load_file(path)
    try:
        check_weights({name: tensor.numpy() for name, tensor in tensors.items()})
    except InputError as error:
        raise unfit(path, error.problem) from None
    network.to(device).load_state_dict(tensors, strict=False)  # tied arrays are there once
    return NeuralModel(network.eval(), vocabulary, codes, facts.rules, facts.made_from)


def open_neural(folder: Path) -> tuple[NeuralFacts, Vocabulary, SparseCodes | None]:
    """What `model.json` says, the vocabulary, and the codes of a coded model, all checked."""
    facts, vocabulary = open_folder(folder, FORMAT, NeuralFacts, "model.safetensors")
    if not facts.settings.is_coded:
        return facts, vocabulary, None
    needed = {"codes.safetensors", *(["codes.json"] if (folder / "codes.json").exists() else [])}
    if not needed <= set(facts.sha256):
        raise InputError(f"{folder / 'model.json'}: does not name {min(needed)}; copy the model folder again")
    return facts, vocabulary, SparseCodes.load(folder / "codes.safetensors")


def unfit(path: Path, why: str) -> InputError:
    """The error for weights that are not those of the settings."""
    return InputError(f"{path}: does not fit model.json ({why}); copy the model folder again")
