"""The folder of a mixture, which is self-contained.

`components/1`, `components/2`, … are the folders of its components, with only what is needed to use them; `model.json`
has the weights and the SHA-256 of all files below.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fewwords.errors import InputError
from fewwords.models.load import load, register
from fewwords.models.sealed_folder import ModelFacts, open_folder, sealed_files, write_folder

if TYPE_CHECKING:
    from fewwords.models.mixture.mixture import Mixture

FORMAT = "fewwords mix 1"


@dataclass(frozen=True, kw_only=True)
class _Settings:
    variant: str
    weights: tuple[float, ...]
    components: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class MixtureFacts(ModelFacts):
    """What `model.json` says; the components of `settings` are names of models."""

    settings: _Settings


def save_mixture(folder: Path, mixture: "Mixture", components: Sequence[Path], card: str) -> None:
    """Write the folder of a mixture, with copies of its `components`' folders; `card` is the text of its README."""

    def write_files(building: Path) -> None:
        for number, component in enumerate(components, 1):
            copy = component_folder(building, number)
            for name in sealed_files(component):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(component / name, copy / name)
        (building / "README.md").write_text(card, encoding="utf-8")

    facts = {
        "settings": {
            "variant": mixture.variant,
            "weights": list(mixture.weights),
            "components": [component.variant for component in mixture.components],
        },
        "num_words": mixture.num_words,
        "made_from": mixture.made_from,
    }
    write_folder(folder, FORMAT, mixture.vocabulary, facts, write_files)


@register(FORMAT)
def load_mixture(folder: Path, device: str = "cpu") -> "Mixture":
    """Read what `save_mixture` wrote; raises InputError if the folder is incomplete or was changed."""
    from fewwords.models.mixture.mixture import Mixture

    facts, vocabulary = open_folder(folder, FORMAT, MixtureFacts)
    settings, path = facts.settings, folder / "model.json"
    folders = [component_folder(folder, number) for number in range(1, len(settings.components) + 1)]
    # all of a component, before it is read: a mix within itself would never end
    needed = {f"components/{place.name}/{name}" for place in folders for name in sealed_files(place)}
    if not needed <= facts.sha256.keys():
        raise InputError(f"{path}: does not name {min(needed - facts.sha256.keys())}; copy the model folder again")
    components = tuple(load(place, device) for place in folders)
    if settings.variant != "mix" or settings.components != tuple(component.variant for component in components):
        raise InputError(f"{path}: its settings name other models than its components; copy the model folder again")
    if any(component.vocabulary.fingerprint != vocabulary.fingerprint for component in components):
        raise InputError(f"{folder / 'words.tsv'}: not the vocabulary of the components; mix the models again")
    try:
        return Mixture(components, settings.weights, vocabulary, facts.made_from)
    except ValueError as error:
        raise InputError(f"{path}: {error}; mix the models again") from None


def component_folder(folder: Path, number: int) -> Path:
    """The folder of a mixture's component, numbered from 1."""
    return folder / "components" / str(number)
