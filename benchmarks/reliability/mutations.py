"""One to three changes to an input, each in a family that fits the file; the same seed gives the same changes."""

import bz2
import gzip
import random
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from reliability.byte_mutations import mutate_bytes, mutate_lines
from reliability.inputs import Content, Files, Special
from reliability.json_mutations import mutate_json
from reliability.tensor_mutations import mutate_tensors

Mutation = Callable[[bytes, random.Random], bytes]
_SHARE_OF_SPECIAL_FILES = 0.06
_LARGEST_FILE = 1 << 20


def mutate(files: Files, specials: Sequence[Special], chance: random.Random) -> tuple[Files, list[str]]:
    """A changed copy of an input, in which a file may have become one of `specials`, and what was changed."""
    changed = dict(files)
    told = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        name = chance.choice(sorted(changed))
        content = changed[name]
        if chance.random() < _SHARE_OF_SPECIAL_FILES or not isinstance(content, bytes):
            told.append(f"{name}: {_replace_file(changed, name, specials, chance)}")
            continue
        mutation = chance.choice(mutations_for(name))
        changed[name] = mutation(content, chance)[:_LARGEST_FILE]
        told.append(f"{name}: {mutation.__name__}")
    return changed, told


def mutations_for(name: str) -> tuple[Mutation, ...]:
    """The families that fit a file, by its suffix."""
    return _FAMILIES.get(PurePosixPath(name).suffix, (mutate_bytes, mutate_lines))


def _replace_file(files: Files, name: str, specials: Sequence[Special], chance: random.Random) -> str:
    """Put nothing, another file or something else in the place of a file; returns what."""
    choice: Special | str = chance.choice((*specials, "nothing", "an empty file", "another file"))
    if choice == "nothing":
        del files[name]
        files.setdefault("left", b"")  # an input is never empty
        return choice
    content: Content = b"" if choice == "an empty file" else files[chance.choice(sorted(files))]
    files[name] = choice if isinstance(choice, Special) else content
    return choice.value if isinstance(choice, Special) else choice


def _mutate_json_lines(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines() or [b""]
    place = chance.randrange(len(lines))
    lines[place] = mutate_json(lines[place], chance, None)
    return b"\n".join(lines) + b"\n"


def _mutate_gzip(content: bytes, chance: random.Random) -> bytes:
    return _mutate_inside(content, chance, gzip.decompress, gzip.compress)


def _mutate_bzip2(content: bytes, chance: random.Random) -> bytes:
    return _mutate_inside(content, chance, bz2.decompress, bz2.compress)


def _mutate_zstandard(content: bytes, chance: random.Random) -> bytes:
    import zstandard

    inside = zstandard.ZstdDecompressor().decompressobj
    return _mutate_inside(content, chance, lambda data: inside().decompress(data), zstandard.ZstdCompressor().compress)


def _mutate_inside(
    content: bytes, chance: random.Random, unpack: Callable[[bytes], bytes], pack: Callable[[bytes], bytes]
) -> bytes:
    """Change the text within compressed data; data that an earlier change has damaged stay as they are."""
    try:
        text = unpack(content)
    except Exception:
        return content
    return pack(chance.choice((mutate_bytes, mutate_lines))(text, chance))


_FAMILIES: dict[str, tuple[Mutation, ...]] = {
    ".json": (mutate_json, mutate_json, mutate_json, mutate_bytes),
    ".jsonl": (_mutate_json_lines, _mutate_json_lines, mutate_lines, mutate_bytes),
    ".safetensors": (mutate_tensors, mutate_tensors, mutate_tensors, mutate_bytes),
    ".few": (mutate_tensors, mutate_tensors, mutate_tensors, mutate_bytes),
    ".tokens": (mutate_tensors, mutate_tensors, mutate_tensors, mutate_bytes),
    ".gz": (_mutate_gzip, mutate_bytes),
    ".bz2": (_mutate_bzip2, mutate_bytes),
    ".zst": (_mutate_zstandard, mutate_bytes),
}
