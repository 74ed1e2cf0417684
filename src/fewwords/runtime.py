"""Neural models with numpy alone: `load` a packed file or a model folder, without PyTorch, numba or scipy.

`PackedModel` speaks ids (see `fewwords.models.model`). For text in and text out, `fewwords.load` takes the same paths.
"""

from pathlib import Path

from fewwords.errors import InputError
from fewwords.models.load import load as load_any
from fewwords.models.packed.model import PackedModel

__all__ = ["PackedModel", "load"]


def load(path: str | Path) -> PackedModel:
    """Read a packed file or the folder of a neural model; raises InputError if it is incomplete, changed, or another kind."""
    model = load_any(path, "numpy")
    if not isinstance(model, PackedModel):
        raise InputError(f"{path}: {model.variant} is no neural model; read it with fewwords.load")
    return model
