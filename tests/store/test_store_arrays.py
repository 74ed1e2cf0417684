"""Arrays and facts in one file: the same content is the same bytes, and nothing but what was written is read."""

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from fewwords.errors import InputError
from fewwords.store.arrays import ArrayFile, array_shapes

KIND = ArrayFile("test", ("a", "b"), {"size": int, "made_from": dict[str, Any]})
ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([True, False])}
FACTS = {"size": 3, "made_from": {"seed": 1, "names": ["é"], "counts": {2: 1, 10: 5}}}


def load(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    return KIND.load(path, lambda arrays, facts: (arrays, facts), "make it again")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    KIND.save(tmp_path / "deep" / "file.safetensors", ARRAYS, FACTS)
    return tmp_path / "deep" / "file.safetensors"


def test_round_trip_to_the_bit(path: Path) -> None:
    arrays, facts = load(path)
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].tobytes()) == (array.dtype, array.tobytes())
    assert facts == json.loads(json.dumps(FACTS))
    assert [each.name for each in path.parent.iterdir()] == ["file.safetensors"]


def test_the_same_content_is_the_same_bytes(path: Path, tmp_path: Path) -> None:
    backwards = {name: FACTS[name] for name in reversed(FACTS)}
    for _ in range(20):  # safetensors orders several keys of metadata at random
        KIND.save(tmp_path / "again", dict(reversed(ARRAYS.items())), backwards)
        assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_the_file_is_as_docs_format_says(path: Path) -> None:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    assert list(metadata) == ["fewwords"]
    facts = '{"made_from": {"counts": {"10": 5, "2": 1}, "names": ["\\u00e9"], "seed": 1}, "size": 3}'
    hashed = f'{{"facts": {facts}, "format": "fewwords test 2"}}'.encode()
    hashed += b'["a", "<f4", [2, 3]]' + ARRAYS["a"].tobytes() + b'["b", "|b1", [2]]' + ARRAYS["b"].tobytes()
    sha256 = hashlib.sha256(hashed).hexdigest()
    assert metadata["fewwords"] == f'{{"facts": {facts}, "format": "fewwords test 2", "sha256": "{sha256}"}}'
    assert load_file(path)["a"].tolist() == ARRAYS["a"].tolist()  # any reader of safetensors can read it


def test_every_changed_or_missing_byte_is_noticed(path: Path) -> None:
    content = path.read_bytes()
    for place in range(len(content)):
        for damaged in (content[:place], content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]):
            path.write_bytes(damaged)
            try:
                arrays, facts = load(path)
            except InputError as error:
                told = str(error)
            else:  # a blank of the header became another one, or the like
                assert facts == json.loads(json.dumps(FACTS))
                assert all(arrays[name].tobytes() == ARRAYS[name].tobytes() for name in ARRAYS)
                continue
            if not (told.startswith(f"{path}: ") and told.endswith("; make it again") and "\n" not in told):
                pytest.fail(told)


def described(**changes: Any) -> bytes:
    description = {"format": "fewwords test 2", "facts": {}, "sha256": "0"} | changes
    return save(ARRAYS, metadata={"fewwords": json.dumps(description)})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not safetensors",
        save(ARRAYS),
        save(ARRAYS, metadata={"format": "fewwords test 1"}),
        save(ARRAYS, metadata={"fewwords": ""}),
        save(ARRAYS, metadata={"fewwords": "{"}),
        save(ARRAYS, metadata={"fewwords": "[]"}),
        save(ARRAYS, metadata={"fewwords": "{}"}),
        described(),
        described(format=["fewwords test 2"]),
        described(format="fewwords test 3"),
        described(facts=None),
        described(facts=[1]),
        described(sha256=None),
        save({"a": ARRAYS["a"]}, metadata={"fewwords": '{"format": "fewwords test 2", "facts": {}}'}),
        described().replace(b'"F32","shape":[2,3]', b'"BF16","shape":[12]'),
        described().replace(b'"F32","shape":[2,3]', b'"F8_E4M3","shape":[24]').replace(b"}}     ", b"}}  "),
    ],
)
def test_other_files_are_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"file\.safetensors: .*; make it again"):
        load(path)


@pytest.mark.parametrize("facts", [{"size": 3}, {"size": "3", "made_from": {}}, {"size": True, "made_from": {}}, {}])
def test_missing_and_wrongly_typed_facts_are_refused(path: Path, facts: dict[str, Any]) -> None:
    KIND.save(path, ARRAYS, facts)
    with pytest.raises(
        InputError,
        match=r"file\.safetensors: (size is (None|'3'|True), not a whole number|made_from is None, not an object); make",
    ):
        load(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: no such file; make it again"):
        load(tmp_path / "none")


def test_shapes_are_those_of_the_arrays(path: Path) -> None:
    assert array_shapes(path, "") == {name: array.shape for name, array in ARRAYS.items()}
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(InputError, match=r"file\.safetensors: .*; make it again"):
        array_shapes(path, "make it again")
