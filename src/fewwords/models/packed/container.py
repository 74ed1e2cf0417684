"""The bytes of a packed file: the layout of safetensors, with strings about the model and a hash of everything.

    0 to 7      length n of the header, unsigned, little-endian
    8 to 7 + n  header, JSON: `__metadata__` with strings, and type, shape and place of each array; padded with spaces
    then        the arrays, one after another without gaps, little-endian

The first key of the metadata is `sha256`, so its 64 digits are always at the same place: the hash of the whole file with
these digits replaced by zeros. A file that does not keep to all of this is refused, with or without a correct hash.
"""

import hashlib
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.store.json_text import parse_json, to_json_text

MOST_HEADER_BYTES = 1 << 20
_START = b'{"__metadata__": {"sha256": "'
_DIGITS = slice(8 + len(_START), 8 + len(_START) + 64)
_TYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
}
_NAMES = {kind: name for name, kind in _TYPES.items()}

Arrays = Mapping[str, NDArray[Any]]


def to_bytes(arrays: Arrays, texts: Mapping[str, str]) -> bytes:
    """The file; numbers of four bytes come first, so that each lies at a multiple of four."""
    ordered = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    described: dict[str, Any] = {"__metadata__": {"sha256": "0" * 64, **texts}}
    place = 0
    for name in ordered:
        array = arrays[name]
        described[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [place, place + array.nbytes],
        }
        place += array.nbytes
    header = to_json_text(described).encode()
    header += b" " * (-len(header) % 8)
    content = bytearray(len(header).to_bytes(8, "little") + header)
    for name in ordered:
        content += np.ascontiguousarray(arrays[name]).tobytes()
    content[_DIGITS] = hashlib.sha256(content).hexdigest().encode()
    return bytes(content)


def read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The arrays, mapped from the file, and the strings; raises InputError for a file that is not whole."""
    with path.open("rb") as file:
        if file.seek(0, 2) < _DIGITS.stop:
            raise InputError("too short for a packed model")
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if content[8 : _DIGITS.start] != _START:
        raise InputError("not a packed model")
    length = int.from_bytes(content[:8], "little")
    if not _DIGITS.stop - 8 < length <= min(MOST_HEADER_BYTES, len(content) - 8):
        raise InputError("truncated or changed (the length of its header is wrong)")
    _check_hash(content)
    try:
        described = parse_json(content[8 : 8 + length])
    except InputError as error:
        raise InputError(f"truncated or changed (its header is {error.problem})") from None
    texts = described.pop("__metadata__")
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise InputError("its metadata are not strings")
    return _arrays(content, 8 + length, described), texts


def _check_hash(content: mmap.mmap) -> None:
    digest = hashlib.sha256(content[: _DIGITS.start])
    digest.update(b"0" * 64)
    digest.update(memoryview(content)[_DIGITS.stop :])
    if digest.hexdigest().encode() != content[_DIGITS]:
        raise InputError("truncated or changed (its hash does not match)")


def _arrays(content: mmap.mmap, start: int, described: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Each array is where the one before ends, has the bytes that its type and shape say, and the last ends the file."""
    found: dict[str, NDArray[Any]] = {}
    place = 0
    for name, facts in described.items():
        try:
            kind, (first, end) = _TYPES[facts["dtype"]], facts["data_offsets"]
            shape = [int(size) for size in facts["shape"]]
            count = 1
            for size in shape:
                count *= size
            if first != place or min(shape, default=1) < 0 or end != first + count * kind.itemsize:
                raise ValueError
            found[name] = np.frombuffer(content, kind, count, start + first).reshape(shape)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError(f"the place, the type or the shape of its array {name[:40]!r} is wrong") from None
        place = end
    if start + place != len(content):
        raise InputError("there are bytes behind its last array")
    return found
