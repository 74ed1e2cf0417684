"""The encoders (the Encoding subnet of figure 1), one file each, and how to find one by its name.

The name of an encoder in the settings is the name of its file, whose one class is `Encoder`. So a new encoder is a new
file and a line in the table of variants.
"""

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fewwords.models.neural.base_encoder import BaseEncoder


def encoder_names() -> tuple[str, ...]:
    """The names that the settings can have."""
    return tuple(sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__)))


def encoder_of(name: str) -> "type[BaseEncoder]":
    """The class of an encoder by its name."""
    encoder: type[BaseEncoder] = import_module(f"{__name__}.{name.replace('-', '_')}").Encoder
    return encoder
