"""A neural model's folder: `model.safetensors`, `codes.safetensors` if coded, `words.tsv`, `model.json`, a card."""

from pathlib import Path
from typing import TYPE_CHECKING

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError
from fewwords.models.load import register, rules_of
from fewwords.models.neural.variants import ModelSettings
from fewwords.models.sealed_folder import open_folder, write_folder

if TYPE_CHECKING:
    from torch import Tensor

    from fewwords.models.neural.language_model import LanguageModel
    from fewwords.models.neural.model import NeuralModel

FORMAT = "fewwords model 1"


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
def load_neural(folder: Path, device: str = "cpu") -> "NeuralModel":
    """Read what `save_neural` wrote; raises InputError if the folder is incomplete or was changed."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from fewwords.models.neural.language_model import LanguageModel
    from fewwords.models.neural.model import NeuralModel
    from fewwords.models.neural.without_start import WithoutStart

    facts, vocabulary = open_folder(folder, FORMAT)
    codes = SparseCodes.load(folder / "codes.safetensors") if "codes.safetensors" in facts["sha256"] else None
    try:
        with WithoutStart():
            network = LanguageModel(ModelSettings.from_json(facts["settings"]), facts["num_words"], codes)
    except InputError as error:
        raise InputError(f"{folder / 'model.json'}: {error}") from None
    path = folder / "model.safetensors"
    try:
        state = load_file(path, device=str(device))
        unexpected = network.to(device).load_state_dict(state, strict=False).unexpected_keys
    except (SafetensorError, RuntimeError) as error:
        raise InputError(f"{path}: does not fit model.json ({error})") from None
    missing = set(_tensors(network)) - set(state)
    if missing or unexpected:
        raise InputError(f"{path}: does not fit model.json ({sorted(missing)[:1] + unexpected[:1]})")
    return NeuralModel(network.eval(), vocabulary, codes, rules_of(facts), facts["made_from"])
