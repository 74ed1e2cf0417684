"""Named arrays and the facts about them in one safetensors file, so that a kill cannot separate them.

The file's metadata has one key, `fewwords`: a JSON object with the sorted keys `facts`, `format` and `sha256`, the hash
of format, facts and arrays. Only one key, because safetensors writes several in random order, and the same content must
give the same bytes.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError, Remedy
from fewwords.store.files import atomic_write, check_file
from fewwords.store.json_text import parse_json, to_json_text
from fewwords.store.two_files import read_old_facts
from fewwords.store.typed import read_value

Arrays = dict[str, NDArray[Any]]
Facts = dict[str, Any]
Made = TypeVar("Made")

_KEY = "fewwords"


@dataclass(frozen=True)
class ArrayFile:
    """What files of one kind ("codes", "vectors") hold: the names of the arrays, and the facts with their types."""

    kind: str
    arrays: tuple[str, ...]
    facts: Mapping[str, Any]

    @property
    def format(self) -> str:
        """The format name in a file of this kind."""
        return f"fewwords {self.kind} 2"

    def save(self, path: Path, arrays: Arrays, facts: Facts) -> None:
        """Write the file, making its folder if needed. Facts must fit into JSON."""
        from safetensors.numpy import save

        facts = parse_json(to_json_text(facts))  # as they will be read: keys are strings
        description = {"facts": facts, "format": self.format, "sha256": _digest(self.format, facts, arrays)}
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(save(arrays, metadata={_KEY: json.dumps(description, sort_keys=True)}))

    def load(self, path: Path, make: Callable[[Arrays, Facts], Made], remedy: Remedy) -> Made:
        """What `make` builds from arrays and facts; raises InputError with `remedy` for a file that cannot be used.

        Such a file is missing, damaged, changed, of another kind, or has content that `make` rejects with InputError.
        """
        from safetensors import SafetensorError, safe_open

        check_file(path, remedy)
        try:
            with safe_open(path, framework="numpy") as file:
                metadata = file.metadata() or {}
                text = metadata.get(_KEY)
                description = self._described(text) if text else {"facts": read_old_facts(path, self.kind, metadata)}
                if set(file.keys()) != set(self.arrays):
                    raise InputError(f"its arrays are not {', '.join(self.arrays)}")
            arrays = load_arrays(path)
            facts = description["facts"]
            if text and _digest(self.format, facts, arrays) != description.get("sha256"):
                raise InputError("truncated or changed (its hash does not match)")
            return make(arrays, {name: read_value(kind, facts.get(name), name) for name, kind in self.facts.items()})
        except SafetensorError as error:
            raise InputError(f"{path}: truncated or changed ({error})", remedy=remedy) from None
        except InputError as error:
            raise InputError(f"{path}: {error}", remedy=remedy) from None

    def _described(self, text: str) -> Facts:
        """The description in the metadata; raises InputError unless it has this format and facts."""
        description = parse_json(text)
        if not isinstance(description, dict) or description.get("format") != self.format:
            raise InputError(f"not of the format {self.format!r}")
        return {**description, "facts": read_value(dict[str, Any], description.get("facts"), "facts")}


def load_arrays(path: Path) -> Arrays:
    """All arrays of a safetensors file; raises SafetensorError if it is none, InputError for types of numbers that numpy lacks."""
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except (TypeError, AttributeError):
        raise InputError("it has an array of a type that numpy does not know") from None


def array_shapes(path: Path, remedy: Remedy, dtype: str | None = None) -> dict[str, tuple[int, ...]]:
    """The shapes of all arrays by name, read from the file's header alone.

    Raises InputError for an array of another type than `dtype`, by its name in the file ("F32").
    """
    from safetensors import SafetensorError, safe_open

    check_file(path, remedy)
    try:
        with safe_open(path, framework="numpy") as file:
            found = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            for name, array in found.items():
                if dtype is not None and array.get_dtype() != dtype:
                    raise InputError(f"{path}: {name:.80} is {array.get_dtype()}, not {dtype}", remedy=remedy)
            return {name: tuple(array.get_shape()) for name, array in found.items()}
    except SafetensorError as error:
        raise InputError(f"{path}: truncated or changed ({error})", remedy=remedy) from None


def _digest(kind: str, facts: Any, arrays: Arrays) -> str:
    """SHA-256 of format and facts as JSON, then of each array by name: its name, type and shape as JSON, its bytes."""
    digest = hashlib.sha256(json.dumps({"facts": facts, "format": kind}, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
