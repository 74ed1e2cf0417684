"""Hashes repaired after a mutation, so that it reaches the code behind the check of the hash.

A hash of a file occurs as hexadecimal text in other files, so it is enough to replace the old text by the new one, and
to go on with the files that this changed. What a file says about itself (the hash within a file of arrays) comes first.
"""

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from safetensors import safe_open
from safetensors.numpy import load

from fewwords.store.arrays import ArrayFile
from reliability.inputs import Files


def repair(before: Files, after: Files) -> Files:
    """The changed input with the hashes of its changed files in all places where the old ones were."""
    repaired = dict(after)
    waiting = [name for name in after if after[name] != before.get(name)]
    for name in waiting:
        content = repaired[name]
        own = _OWN_HASHES.get(PurePosixPath(name).suffix)
        if own is not None and isinstance(content, bytes):
            repaired[name] = own(content)
    for _ in range(3 * len(after)):  # each file once for each level of folders within folders
        if not waiting:
            break
        name = waiting.pop(0)
        old, new = before.get(name), repaired[name]
        if not isinstance(old, bytes) or not isinstance(new, bytes):
            continue
        for digest in (_file_hash, _fingerprint):
            theirs, ours = digest(old).encode(), digest(new).encode()
            for other, text in repaired.items():
                if other != name and isinstance(text, bytes) and theirs in text and theirs != ours:
                    repaired[other] = text.replace(theirs, ours)
                    waiting.append(other)
    return repaired


def _file_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _fingerprint(content: bytes) -> str:
    """The fingerprint of a vocabulary, if the file is one."""
    lines = [line.split(b"\t") for line in content.split(b"\n")[:-1]]
    return hashlib.sha256(b"\n".join(fields[1] for fields in lines if len(fields) == 3)).hexdigest()


def _repair_array_file(content: bytes) -> bytes:
    """A file of arrays with the hash that its format asks for; a file that cannot be read stays as it is."""
    try:
        length = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + length])["__metadata__"]["fewwords"]
        description: dict[str, Any] = json.loads(metadata)
        kind = description["format"].split()[1]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "arrays")
            ArrayFile(kind, (), {}).save(path, load(content), description["facts"])
            with safe_open(path, framework="numpy") as file:
                right = json.loads(file.metadata()["fewwords"])["sha256"]
        return content.replace(description["sha256"].encode(), right.encode())
    except Exception:
        return content


def _repair_packed_file(content: bytes) -> bytes:
    """A packed file with the hash in its header, which is that of the file with zeros in this place."""
    before, start, rest = content.partition(b'{"__metadata__": {"sha256": "')
    if len(before) != 8 or not start:
        return content
    digits = hashlib.sha256(before + start + b"0" * 64 + rest[64:]).hexdigest().encode()
    return before + start + digits + rest[64:]


# By suffix: what puts the right hash into a file that has one of its own content.
_OWN_HASHES: dict[str, Callable[[bytes], bytes]] = {".safetensors": _repair_array_file, ".few": _repair_packed_file}
