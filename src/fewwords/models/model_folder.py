"""A trained model as one folder that needs nothing else: weights, settings, vocabulary, codes, a model card.

`model.safetensors` holds the weights, `codes.safetensors` and `codes.json` the sparse codes, `words.tsv` the vocabulary,
`model.json` the settings, where the model comes from, and the SHA-256 of the other files, `README.md` the model card. The
files are written elsewhere and moved in, `model.json` last: without it the folder counts as incomplete.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError
from fewwords.models.kneser_ney import KneserNey
from fewwords.models.kneser_ney.model import FORMAT as KNESER_NEY_FORMAT
from fewwords.models.language_model import LanguageModel
from fewwords.models.sealed_folder import folder_format, open_folder, write_folder
from fewwords.models.variants import ModelSettings
from fewwords.vocabulary import Vocabulary

FORMAT = "fewwords model 1"
AnyModel = LanguageModel | KneserNey


def model_folder(work: str | Path, variant: str, vocabulary_size: int) -> Path:
    """Where the model of a variant goes unless another place is named."""
    return Path(work) / "models" / f"{variant}-v{vocabulary_size}"


@dataclass(frozen=True)
class SavedModel:
    """A model with its vocabulary, and what its folder says of its making."""

    model: AnyModel
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
    """Write a model folder; `made_from` says how it was trained, `card` is the text of its README."""

    def write_files(building: Path) -> None:
        save_file({name: tensor.contiguous() for name, tensor in _state(model).items()}, building / "model.safetensors")
        if codes is not None:
            codes.save(building / "codes.safetensors")
        (building / "README.md").write_text(card, encoding="utf-8")

    facts = {"settings": model.settings.to_json(), "num_words": model.num_words, "made_from": made_from}
    write_folder(folder, FORMAT, vocabulary, facts, write_files)


def _state(model: LanguageModel) -> dict[str, torch.Tensor]:
    """The tensors to save, each once: a tied matrix is kept under its first name."""
    kept: dict[int, str] = {}
    state = model.state_dict(keep_vars=True)
    return {name: tensor.detach() for name, tensor in state.items() if kept.setdefault(id(tensor), name) == name}


def load_model(folder: str | Path, device: str | torch.device = "cpu") -> SavedModel:
    """Read the folder of any model, a Kneser-Ney model too; raises InputError when it is incomplete or was changed."""
    folder = Path(folder)
    if folder_format(folder) == KNESER_NEY_FORMAT:
        n_gram = KneserNey.load(folder)
        return SavedModel(n_gram, n_gram.vocabulary, None, n_gram.made_from)
    facts, vocabulary = open_folder(
        folder,
        FORMAT,
        if_incomplete="finish its training with --resume",
        if_other="not the description of a model that this version can read",
    )
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
