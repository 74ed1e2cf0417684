"""`load`: the model of a folder, whatever its kind.

Each kind of model has a module `folder` in its own package below `fewwords.models`, which registers a reader for its
format here. `load` finds these modules by searching the package; it knows none of them by name.
"""

import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import fewwords.models
from fewwords.errors import InputError
from fewwords.models.model import Model
from fewwords.models.sealed_folder import folder_format

Reader = Callable[[Path, str], Model]
_READERS: dict[str, Reader] = {}


def register(format_name: str) -> Callable[[Reader], Reader]:
    """Make a function the reader of the folders whose `model.json` names this format."""

    def add(reader: Reader) -> Reader:
        _READERS[format_name] = reader
        return reader

    return add


def load(folder: str | Path, device: str = "cpu") -> Model:
    """Read a model folder of any kind; raises InputError if it is incomplete, changed, or of an unknown kind."""
    for module in pkgutil.iter_modules(fewwords.models.__path__, "fewwords.models."):
        if module.ispkg:
            import_module(f"{module.name}.folder")
    folder = Path(folder)
    found = folder_format(folder)
    if found not in _READERS:
        known = ", ".join(sorted(_READERS))
        raise InputError(
            f"{folder / 'model.json'}: not the description of a model that this version can read (the format is {found!r:.40}, "
            f"not one of {known}); copy the model folder again"
        )
    return _READERS[found](folder, device)
