"""A trained model as one folder that needs nothing else: weights, settings, vocabulary, codes, a model card.

`model.safetensors` holds the weights, `codes.safetensors` and `codes.json` the sparse codes, `words.tsv` the vocabulary,
`model.json` the settings, where the model comes from, and the SHA-256 of the other files, `README.md` the model card. The
files are written elsewhere and moved in, `model.json` last: without it the folder counts as incomplete.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from fewwords import __version__
from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError
from fewwords.files import read_json, sha256_of, write_json
from fewwords.models.language_model import LanguageModel
from fewwords.models.variants import ModelSettings
from fewwords.vocabulary import Vocabulary

FORMAT = "fewwords model 1"


@dataclass(frozen=True)
class SavedModel:
    """A model with its vocabulary, and what its folder says of its making."""

    model: LanguageModel
    vocabulary: Vocabulary
    codes: SparseCodes | None
    made_from: dict[str, Any]


def save_model(
    folder: Path,
    model: LanguageModel,
    vocabulary: Vocabulary,
    codes: SparseCodes | None,
    made_from: dict[str, Any],
    card: str,
) -> None:
    """Write a model folder; `made_from` says how it was trained, `card` is the text of its README.

    Files of the folder that are not the model's (a checkpoint, the record of the training) stay where they are.
    """
    building = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    try:
        save_file({name: tensor.contiguous() for name, tensor in _state(model).items()}, building / "model.safetensors")
        vocabulary.save(building / "words.tsv")
        if codes is not None:
            codes.save(building / "codes.safetensors")
        (building / "README.md").write_text(card, encoding="utf-8")
        names = sorted(path.name for path in building.iterdir())
        write_json(
            building / "model.json",
            {
                "format": FORMAT,
                "version": __version__,
                "settings": model.settings.to_json(),
                "num_words": model.num_words,
                "vocabulary": vocabulary.fingerprint,
                "made_from": made_from,
                "sha256": {name: sha256_of(building / name) for name in names},
            },
        )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.json").unlink(missing_ok=True)  # without it, the folder counts as incomplete
        for name in [*names, "model.json"]:
            (building / name).replace(folder / name)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _state(model: LanguageModel) -> dict[str, torch.Tensor]:
    """The tensors to save, each once: a tied matrix is kept under its first name."""
    kept: dict[int, str] = {}
    state = model.state_dict(keep_vars=True)
    return {name: tensor.detach() for name, tensor in state.items() if kept.setdefault(id(tensor), name) == name}


def load_model(folder: str | Path, device: str | torch.device = "cpu") -> SavedModel:
    """Read a model folder; raises InputError when it is incomplete or was changed."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such model folder; train one with fewwords train")
    if not (folder / "model.json").exists():
        raise InputError(f"{folder}: the model is incomplete (no model.json); finish its training with --resume")
    facts = read_json(folder / "model.json")
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise InputError(f"{folder / 'model.json'}: not the description of a model that this version can read")
    for name, digest in facts["sha256"].items():
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: missing; copy the whole model folder again")
        if name != "README.md" and sha256_of(folder / name) != digest:
            raise InputError(f"{folder / name}: not the file that model.json describes; copy the model folder again")
    vocabulary = Vocabulary.load(folder / "words.tsv")
    if vocabulary.fingerprint != facts["vocabulary"]:
        raise InputError(f"{folder / 'words.tsv'}: not the vocabulary that the model was trained with")
    codes = SparseCodes.load(folder / "codes.safetensors") if "codes.safetensors" in facts["sha256"] else None
    model = LanguageModel(ModelSettings(**facts["settings"]), facts["num_words"], codes)
    try:
        state = load_file(folder / "model.safetensors", device=str(device))
        unexpected = model.to(device).load_state_dict(state, strict=False).unexpected_keys
    except (SafetensorError, RuntimeError) as error:
        raise InputError(f"{folder / 'model.safetensors'}: does not fit model.json ({error})") from None
    missing = set(_state(model)) - set(state)
    if missing or unexpected:
        raise InputError(
            f"{folder / 'model.safetensors'}: does not fit model.json ({sorted(missing)[:1] + unexpected[:1]})"
        )
    model.eval()
    return SavedModel(model, vocabulary, codes, facts["made_from"])
