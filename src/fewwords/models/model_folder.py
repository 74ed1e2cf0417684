"""A trained model as one folder that needs nothing else: weights, settings, vocabulary, codes, a model card.

`model.safetensors` holds the weights, `codes.safetensors` and `codes.json` the sparse codes, `words.tsv` the vocabulary,
`model.json` the settings, where the model comes from, and the SHA-256 of the other files, `README.md` the model card. The
files are written elsewhere and moved in, `model.json` last: without it the folder counts as incomplete. Kneser-Ney models and
mixtures write their folders themselves; `load_model` reads them all.
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
from fewwords.models.mixture.mixture import FORMAT as MIX_FORMAT
from fewwords.models.mixture.mixture import Mixture, component_folder
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.variants import ModelSettings
from fewwords.store.sealed_folder import folder_format, open_folder, write_folder
from fewwords.vocabulary import Vocabulary

FORMAT = "fewwords model 1"
AnyModel = LanguageModel | KneserNey | Mixture


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
    """Write a model folder; `made_from` says how it was trained, `card` is the text of its README.

    `codes` are those that the model was made with; where it tunes them, they are saved as they are now.
    """
    if codes is not None and model.codes is not None and model.codes.tuned:
        codes = model.codes.tuned_codes(codes.made_from)

    def write_files(building: Path) -> None:
        save_file({name: tensor.contiguous() for name, tensor in _state(model).items()}, building / "model.safetensors")
        if codes is not None:
            codes.save(building / "codes.safetensors")
        (building / "README.md").write_text(card, encoding="utf-8")

    facts = {"settings": model.settings.to_json(), "num_words": model.num_words, "made_from": made_from}
    write_folder(folder, FORMAT, vocabulary, facts, write_files)


def _state(model: LanguageModel) -> dict[str, torch.Tensor]:
    """The tensors to save, each once: a tied matrix is kept under its first name. Tuned codes are in a file of their own."""
    kept: dict[int, str] = {} if model.codes is None else {id(model.codes.values): ""}
    state = model.state_dict(keep_vars=True)
    return {name: tensor.detach() for name, tensor in state.items() if kept.setdefault(id(tensor), name) == name}


def load_model(folder: str | Path, device: str | torch.device = "cpu") -> SavedModel:
    """Read the folder of any model, of a Kneser-Ney model or a mix too; raises InputError when it is incomplete or was changed."""
    folder = Path(folder)
    kind = folder_format(folder)
    if kind in (KNESER_NEY_FORMAT, MIX_FORMAT):
        other = KneserNey.load(folder) if kind == KNESER_NEY_FORMAT else _load_mixture(folder, device)
        return SavedModel(other, other.vocabulary, None, other.made_from)
    facts, vocabulary = open_folder(
        folder,
        FORMAT,
        if_incomplete="finish its training with `resume`",
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


def _load_mixture(folder: Path, device: str | torch.device) -> Mixture:
    facts, vocabulary = open_folder(
        folder, MIX_FORMAT, if_incomplete="mix the models again", if_other="not a mix that this version can read"
    )
    try:
        weights = tuple(float(weight) for weight in facts["settings"]["weights"])
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{folder / 'model.json'}: has no weights; copy the model folder again") from None
    saved = [load_model(component_folder(folder, number), device) for number in range(1, len(weights) + 1)]
    if any(component.vocabulary.fingerprint != vocabulary.fingerprint for component in saved):
        raise InputError(f"{folder / 'words.tsv'}: not the vocabulary of the components; mix the models again")
    try:
        return Mixture(tuple(component.model for component in saved), weights, vocabulary, facts["made_from"])
    except ValueError as error:
        raise InputError(f"{folder / 'model.json'}: {error}; mix the models again") from None
