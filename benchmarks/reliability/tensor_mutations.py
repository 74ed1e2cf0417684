"""Mutations of safetensors files (weights, codes, vectors, tokens), most of which a safetensors reader accepts.

A file is taken apart into its metadata and its arrays and put together again, so that arrays of another length, shape
or type reach the code behind the reader; others have a header that lies about offsets and sizes.
"""

import json
import random
import struct
from dataclasses import dataclass
from math import prod
from typing import Any

from reliability.json_mutations import mutate_json

_BYTES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2}
_BYTES |= {"I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1}
_FLOATS = (float("nan"), float("inf"), -float("inf"), 0.0, -1.0, 1.0, 1e38, -1e38, 1e-45, 1e6)
_INTEGERS = (0, 1, 2, -1, 127, 255, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, -(2**63))


@dataclass
class _Array:
    name: str
    type: str
    shape: list[int]
    data: bytes


def mutate_tensors(content: bytes, chance: random.Random) -> bytes:
    """A safetensors file with one change; anything else stays as it is."""
    try:
        length = int.from_bytes(content[:8], "little")
        header: dict[str, Any] = json.loads(content[8 : 8 + length])
        metadata = header.pop("__metadata__", None)
        body = content[8 + length :]
        arrays = [
            _Array(name, each["dtype"], list(each["shape"]), body[slice(*each["data_offsets"])])
            for name, each in sorted(header.items(), key=lambda item: item[1]["data_offsets"])
        ]
        if any(_BYTES[each.type] * prod(each.shape) != len(each.data) for each in arrays):
            return content  # an earlier change has made its header lie
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return content
    if not arrays:
        return content
    change = chance.choice(("array", "array", "array", "array", "metadata", "header", "length"))
    if change == "length":
        wrong = chance.choice((0, 1, length - 1, length + 1, length + 8, len(content), 2**31, 2**63 - 1, 2**64 - 1))
        return struct.pack("<Q", max(0, wrong)) + content[8:]
    if change == "header":
        text = mutate_json(content[8 : 8 + length], chance, None)
        return struct.pack("<Q", len(text)) + text + body
    if change == "metadata":
        return _join(_changed_metadata(metadata, chance), arrays)
    chance.choice((_change_values, _change_values, _change_shape, _change_type, _change_names))(arrays, chance)
    return _join(metadata, arrays)


def _join(metadata: Any, arrays: list[_Array]) -> bytes:
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    start = 0
    for each in arrays:
        header[each.name] = {
            "dtype": each.type,
            "shape": each.shape,
            "data_offsets": [start, start + len(each.data)],
        }
        start += len(each.data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(each.data for each in arrays)


def _change_values(arrays: list[_Array], chance: random.Random) -> None:
    """Hostile values at some places, or at a whole stretch."""
    each = chance.choice([array for array in arrays if array.data] or arrays)
    size = _BYTES[each.type]
    count = len(each.data) // size
    if not count:
        return
    data = bytearray(each.data)
    if each.type in ("F32", "F64", "F16"):
        value = struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], _half(chance.choice(_FLOATS), size))
    else:
        value = (chance.choice((*_INTEGERS, chance.randrange(100))) % 256**size).to_bytes(size, "little")
    for _ in range(chance.choice((1, 1, 2, 10))):
        place = chance.choice((0, count - 1, chance.randrange(count)))
        stretch = min(chance.choice((1, 1, 1, 4, count)), count - place)
        data[place * size : (place + stretch) * size] = value * stretch
    each.data = bytes(data)


def _half(value: float, size: int) -> float:
    return max(-6e4, min(6e4, value)) if size == 2 and abs(value) < float("inf") else value


def _change_shape(arrays: list[_Array], chance: random.Random) -> None:
    """One row less or more, other factors of the same number, one dimension less or more."""
    each = chance.choice(arrays)
    size = _BYTES[each.type]
    row = prod(each.shape[1:]) * size
    change = chance.choice(("less", "more", "double", "none", "turn", "flat", "deep"))
    if change == "less" and each.shape and each.shape[0] > 0:
        each.shape[0] -= 1
        each.data = each.data[: len(each.data) - row]
    elif change == "more" and each.shape:
        each.shape[0] += 1
        each.data += each.data[:row].ljust(row, b"\1")
    elif change == "double" and each.shape:
        each.shape[0] *= 2
        each.data *= 2
    elif change == "none" and each.shape:
        each.shape[0], each.data = 0, b""
    elif change == "turn":
        each.shape.reverse()
    elif change == "flat":
        each.shape = [prod(each.shape)]
    else:
        each.shape.insert(chance.choice((0, len(each.shape))), 1)


def _change_type(arrays: list[_Array], chance: random.Random) -> None:
    """Another type: of the same width over the same bytes, or of another width with its bytes cut or doubled."""
    each = chance.choice(arrays)
    size = _BYTES[each.type]
    each.type = chance.choice(sorted(_BYTES))
    wanted = _BYTES[each.type] * (len(each.data) // size)
    each.data = (each.data * (wanted // max(1, len(each.data)) + 1))[:wanted]


def _change_names(arrays: list[_Array], chance: random.Random) -> None:
    """An array dropped, renamed, added, or two that swap their names."""
    each, other = chance.choice(arrays), chance.choice(arrays)
    change = chance.choice(("drop", "rename", "add", "swap", "swap data"))
    if change == "drop":
        arrays.remove(each)
    elif change == "rename":
        each.name += "x"
    elif change == "add":
        arrays.append(_Array(each.name + ".more", each.type, list(each.shape), each.data))
    elif change == "swap":
        each.name, other.name = other.name, each.name
    else:
        each.data, other.data, each.shape, other.shape = other.data, each.data, other.shape, each.shape
        each.type, other.type = other.type, each.type


def _changed_metadata(metadata: Any, chance: random.Random) -> Any:
    """A change within the JSON texts of the metadata, or of the metadata themselves."""
    if not isinstance(metadata, dict) or not metadata or chance.random() < 0.2:
        return chance.choice((None, {}, {"format": "pt"}, {"fewwords": "{}"}))
    key = chance.choice(sorted(metadata))
    text = mutate_json(str(metadata[key]).encode(), chance, None).decode(errors="replace")
    return {**metadata, key: text if chance.random() < 0.95 else "x"}
