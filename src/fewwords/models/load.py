"""`load`: the model of a folder or of a packed file, whatever its kind.

Each kind of model has a module `folder` in its own package below `fewwords.models`, which registers a reader for its
format here. `load` finds these modules by searching the package; it knows none of them by name.
"""

import pkgutil
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import fewwords.models
from fewwords.errors import InputError
from fewwords.models.model import Model
from fewwords.models.sealed_folder import folder_format, open_folder
from fewwords.text.rules import TextRules

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

    `device` is where a neural model computes: the name of one of PyTorch's, or "numpy", which needs no PyTorch and reads
    a folder in a tenth of the time that importing PyTorch takes. A packed file computes with numpy in any case.
    """
    if Path(path).is_file():
        from fewwords.models.packed.file import load_packed

        return load_packed(Path(path))
    for module in pkgutil.iter_modules(fewwords.models.__path__, "fewwords.models."):
        if module.ispkg:
            import_module(f"{module.name}.folder")
    folder = Path(path)
    reader = _READERS.get(str(folder_format(folder)))
    if reader is None:
        open_folder(folder, " or ".join(_READERS))  # raises InputError with what is wrong
        raise AssertionError("a folder of an unknown format was opened")
    return reader(folder, device)


def rules_of(facts: Mapping[str, Any]) -> TextRules:
    """The text rules in a `model.json`; older files have them among the settings of the corpus."""
    recorded = facts.get("text")
    if recorded is None:
        corpus = (facts.get("made_from") or {}).get("corpus") or {}
        settings = corpus.get("settings") or {}
        recorded = {name: settings[name] for name in ("lower_case", "numbers") if name in settings}
    try:
        return TextRules(**recorded)
    except TypeError:
        raise InputError(
            "model.json: its text rules are not those of this version; copy the model folder again"
        ) from None
