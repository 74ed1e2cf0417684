"""The folder of a mixture, which is self-contained.

`components/1`, `components/2`, … are the folders of its components, with only what is needed to use them; `model.json`
has the weights and the SHA-256 of all files below.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fewwords.errors import InputError
from fewwords.models.load import load, register
from fewwords.models.sealed_folder import open_folder, sealed_files, write_folder

if TYPE_CHECKING:
    from fewwords.models.mixture.mixture import Mixture

FORMAT = "fewwords mix 1"


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

    facts, vocabulary = open_folder(folder, FORMAT)
    try:
        weights = tuple(float(weight) for weight in facts["settings"]["weights"])
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{folder / 'model.json'}: has no weights; copy the model folder again") from None
    components = tuple(load(component_folder(folder, number), device) for number in range(1, len(weights) + 1))
    if any(component.vocabulary.fingerprint != vocabulary.fingerprint for component in components):
        raise InputError(f"{folder / 'words.tsv'}: not the vocabulary of the components; mix the models again")
    try:
        return Mixture(components, weights, vocabulary, facts["made_from"])
    except ValueError as error:
        raise InputError(f"{folder / 'model.json'}: {error}; mix the models again") from None


def component_folder(folder: Path, number: int) -> Path:
    """The folder of a mixture's component, numbered from 1."""
    return folder / "components" / str(number)
