"""The older format of arrays, read but no longer written: NAME.safetensors with NAME.json beside it.

"fewwords codes 1" and "fewwords vectors 1" kept the facts in the second file, with the SHA-256 of the first.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fewwords.errors import InputError
from fewwords.store.files import read_json, sha256_of

_RENAMED = {"base_size": "num_base"}


def read_old_facts(path: Path, kind: str, metadata: Mapping[str, str]) -> dict[str, Any]:
    """The facts beside the arrays in `path`, under their present names; the caller adds `path` to an InputError.

    `metadata` is that of the arrays file, which repeats some of the facts.
    """
    beside = path.with_suffix(".json")
    facts: dict[str, Any] | None = read_json(beside) if beside.is_file() else None
    if not isinstance(facts, dict) or facts.get("format") != f"fewwords {kind} 1":
        raise InputError(f"not a file of {kind}, and no {beside.name} beside it says that it is")
    if sha256_of(path) != facts.get("sha256") or any(str(facts.get(name)) != metadata[name] for name in metadata):
        raise InputError(f"truncated or changed (not the file that {beside.name} describes)")
    return {_RENAMED.get(name, name): value for name, value in facts.items()}
