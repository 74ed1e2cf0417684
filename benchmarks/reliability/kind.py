"""A kind of file: how a sample is made, and how it is read and then used a little.

Using it matters: a wrong array does no harm before something reads through it. What `use` returns must be the same for
the same files, and every number in it must be finite.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reliability.inputs import Special
from reliability.samples import Work


@dataclass(frozen=True)
class Kind:
    """`make` writes a sample into an empty folder; `use` reads it from a folder, which it may change.

    `specials` are what a file may be replaced by and must not be waited for.
    """

    make: Callable[[Work, Path], Any]
    use: Callable[[Work, Path], Any]
    specials: tuple[Special, ...] = tuple(Special)
