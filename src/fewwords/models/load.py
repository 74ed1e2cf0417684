"""`load`: the model of a folder or of a packed file, whatever its kind.

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
from fewwords.models.shipped import find_model

Reader = Callable[[Path, str], Model]
_READERS: dict[str, Reader] = {}


def register(format_name: str) -> Callable[[Reader], Reader]:
    """Make a function the reader of the folders whose `model.json` names this format."""

    def add(reader: Reader) -> Reader:
        _READERS[format_name] = reader
        return reader

    return add


def load(path: str | Path, device: str = "cpu") -> Model:
    """Read a model folder of any kind, or a packed file; raises InputError if it is incomplete, changed, or unknown.

    "english" is the packed model that comes with fewwords, unless there is a file or folder of this name. `device` is
    where a neural model computes: the name of one of PyTorch's, or "numpy", which needs no PyTorch and reads a folder in a
    tenth of the time that importing PyTorch takes. A packed file computes with numpy in any case.
    """
    path = find_model(path)
    if path.is_file():
        from fewwords.models.packed.file import load_packed

        return load_packed(path)
    for module in pkgutil.iter_modules(fewwords.models.__path__, "fewwords.models."):
        if module.ispkg:
            import_module(f"{module.name}.folder")
    found = folder_format(path)
    if found not in _READERS:
        known = ", ".join(sorted(_READERS))
        raise InputError(
            f"{path / 'model.json'}: not the description of a model that this version can read (the format is {found!r:.40}, "
            f"not one of {known}); copy the model folder again"
        )
    return _READERS[found](path, device)
