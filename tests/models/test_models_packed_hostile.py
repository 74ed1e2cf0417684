"""Packed files that are cut, changed or made to harm: an InputError of one line, in bounded memory."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewwords.errors import InputError
from fewwords.models.packed.file import load_packed
from packed_models import make_neural, packed_model, reseal


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("packed")
    packed_model(make_neural("lstm-z-w", num_words=40, size=4), folder, 4)
    return (folder / "model.few").read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "model.few"


def refuse(place: Path, content: bytes, match: str = ".") -> None:
    place.write_bytes(content)
    with pytest.raises(InputError, match=match) as caught:
        load_packed(place)
    assert str(caught.value).startswith(f"{place}: ")
    assert "\n" not in str(caught.value)


def parts_of(content: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(header: dict[str, Any], data: bytes) -> bytes:
    """A file of any header and data, with a correct hash."""
    text = json.dumps(header).encode()
    return reseal(len(text).to_bytes(8, "little") + text + data)


def test_the_helpers_make_files_that_load(content: bytes, place: Path) -> None:
    for each in (content, reseal(content), joined(*parts_of(content))):
        place.write_bytes(each)
        assert load_packed(place).num_words == 40


def places(content: bytes) -> list[int]:
    """All of the first bytes, and then some of every array and every string."""
    return [*range(120), *range(120, len(content), 13)]


def test_cut_anywhere(content: bytes, place: Path) -> None:
    for length in places(content):
        refuse(place, content[:length])


def test_any_byte_changed(content: bytes, place: Path) -> None:
    for position in places(content):
        refuse(place, content[:position] + bytes([content[position] ^ 0x41]) + content[position + 1 :])


def test_longer_than_it_should_be(content: bytes, place: Path) -> None:
    refuse(place, content + b"\0", "hash")
    refuse(place, reseal(content + b"\0"), "behind its last array")


@given(st.data())
def test_changed_with_a_correct_hash(content: bytes, place: Path, data: st.DataObject) -> None:
    """It is refused, or it is a model: other weights, which give probabilities."""
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    changed[8:37] = content[8:37]
    place.write_bytes(reseal(bytes(changed)))
    try:
        model = load_packed(place)
    except InputError:
        return
    log_probs = model.log_probs(model.feed(model.start(), model.num_words - 1))
    assert np.isfinite(log_probs).all()
    assert np.exp(log_probs.astype(np.float64)).sum() == pytest.approx(1, abs=1e-3)
    if model.codes is not None:
        model.codes.row(model.num_words - 1)


def changed_header(change: Callable[[dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    def make(content: bytes) -> bytes:
        header, data = parts_of(content)
        change(header)
        return joined(header, data)

    return make


def changed_json(text: str, **changes: Any) -> Callable[[bytes], bytes]:
    """One of the strings of the metadata, which is JSON, with some values changed, or removed if None."""

    def change(header: dict[str, Any]) -> None:
        values = json.loads(header["__metadata__"][text])
        for path, value in changes.items():
            *outer, last = path.split("__")
            inner = values
            for name in outer:
                inner = inner[name]
            inner[last] = value
        header["__metadata__"][text] = json.dumps(values)

    return changed_header(change)


def array(name: str, **changes: Any) -> Callable[[bytes], bytes]:
    return changed_header(lambda header: header[name].update(changes))


def filled(name: str, values: Any) -> Callable[[bytes], bytes]:
    """An array with other content of the same length."""

    def make(content: bytes) -> bytes:
        header, data = parts_of(content)
        first, end = header[name]["data_offsets"]
        new = np.asarray(values).tobytes()
        return joined(header, data[:first] + (new * (end - first))[: end - first] + data[end:])

    return make


HOSTILE = {
    "past the end": array("bias.blocks", data_offsets=[0, 10**9]),
    "far past the end": array("bias.blocks", data_offsets=[0, 2**70]),
    "before the start": array("bias.blocks", data_offsets=[-8, 0]),
    "overlapping": array("codes.table", data_offsets=[0, 32]),
    "huge shape": array("embedding.levels", shape=[2**40, 2**40]),
    "negative shape": array("embedding.levels", shape=[-11, -4]),
    "shape of floats": array("embedding.levels", shape=[1e300, 4]),
    "shape that is none": array("embedding.levels", shape="abc"),
    "other shape": array("embedding.levels", shape=[4, 11]),
    "unknown type": array("embedding.levels", dtype="F64"),
    "type that is none": array("embedding.levels", dtype=[1]),
    "signed instead of unsigned": array("embedding.levels", dtype="I8"),
    "places that are none": array("embedding.levels", data_offsets=None),
    "an array that is none": changed_header(lambda header: header.update({"embedding.levels": 3})),
    "a missing array": changed_header(lambda header: header.pop("words.ranks")),
    "a renamed array": changed_header(lambda header: header.update({"other.ranks": header.pop("words.ranks")})),
    "metadata that are none": changed_header(lambda header: header["__metadata__"].update(layout=3)),
    "no layout": changed_header(lambda header: header["__metadata__"].pop("layout")),
    "layout that is no JSON": changed_header(lambda header: header["__metadata__"].update(layout="{")),
    "nested layout": changed_header(lambda header: header["__metadata__"].update(layout="[" * 100_000)),
    "a packing that is a list": changed_json("made_from", packed=[1]),
    "a cost that is a list": changed_json("made_from", packed__perplexity=[1]),
    "a result that is a number": changed_json("made_from", result=5),
    "other format": changed_header(lambda header: header["__metadata__"].update(format="fewwords packed 2")),
    "no parts": changed_json("layout", parts=[]),
    "parts that are none": changed_json("layout", parts__bias=7),
    "many words": changed_json("layout", num_words=10**7),
    "endless words": changed_json("layout", num_words=10**30),
    "no words": changed_json("layout", num_words=0),
    "words of another type": changed_json("layout", num_words=40.0),
    "5 bits": changed_json("layout", parts__embedding__bits=5),
    "8 bits": changed_json("layout", parts__embedding__bits=8),
    "groups that do not divide": changed_json("layout", parts__embedding__groups=3),
    "no groups": changed_json("layout", parts__embedding__groups=0),
    "a head without rows": changed_json("layout", **{"parts__embedding.head": {"rows": 0}}),
    "a head of all rows": changed_json("layout", **{"parts__embedding.head": {"rows": 22}}),
    "a head that is not there": changed_json(
        "layout", **{"parts__embedding.head": {"rows": 2, "bits": 8, "groups": 1}}
    ),
    "huge scales": changed_json("layout", parts__embedding__lowest=10**6),
    "scales that become huge": changed_json("layout", parts__embedding__lowest=128),
    "wide scales": changed_json("layout", parts__embedding__scale_bits=60),
    "more base words than words": changed_json("layout", parts__codes__num_base=41),
    "no base words": changed_json("layout", parts__codes__num_base=0),
    "fewer base words than codes use": changed_json("layout", parts__codes__num_base=20),
    "endless codes": changed_json("layout", parts__codes__longest=10**9),
    "wide gaps": changed_json("layout", parts__codes__low_bits=40),
    "an index past the base": filled("codes.low", np.uint8(255)),
    "gaps without end": filled("codes.high", np.uint8(0)),
    "values of zero": filled("codes.table", np.float32(0)),
    "values that are NaN": filled("codes.table", np.float32(np.nan)),
    "infinite values": filled("codes.table", np.float32(np.inf)),
    "negative values": filled("codes.table", np.float32(-1)),
    "steps that are NaN": filled("bias.blocks", np.float32(np.nan)),
    "huge steps": filled("bias.blocks", np.float32(1e30)),
    "biases that hide all others": filled("bias.blocks", np.float32(1e6)),
    "special biases that are NaN": filled("bias.special", np.float32(np.nan)),
    "ranks that are equal": filled("words.ranks", np.uint8(0)),
    "words that cannot be inflated": filled("words.rests", np.uint8(255)),
    "endless layers": changed_json("settings", num_layers=10**9),
    "many layers": changed_json("settings", num_layers=65),
    "layers of another type": changed_json("settings", num_layers="1"),
    "negative size": changed_json("settings", hidden_size=-4),
    "huge size": changed_json("settings", hidden_size=10**9, embedding_size=10**9),
    "size of another type": changed_json("settings", hidden_size=4.0),
    "unknown setting": changed_json("settings", colour="red"),
    "unknown encoder": changed_json("settings", encoder="../../etc"),
    "another encoder": changed_json("settings", encoder="gru"),
    "untied": changed_json("settings", tied=False),
    "coded biases": changed_json("settings", coded_bias=True),
    "unknown boundary": changed_json("settings", boundary="none"),
    "text rules of another type": changed_json("text", lower_case="yes"),
    "unknown text rule": changed_json("text", colour="red"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name: str, content: bytes, place: Path) -> None:
    changed = HOSTILE[name](content)
    tracemalloc.start()
    try:
        refuse(place, changed)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def test_a_header_that_is_not_there(content: bytes, place: Path) -> None:
    for length in (0, 28, 2**20 + 1, 2**40, 2**64 - 1):
        refuse(place, reseal(length.to_bytes(8, "little") + content[8:]), "length of its header")
    refuse(place, b"", "too short")
    refuse(place, b"PK\3\4" + bytes(200), "not a packed model")


def test_an_array_that_no_part_needs(content: bytes, place: Path) -> None:
    header, data = parts_of(content)
    header["words.more"] = {"dtype": "U8", "shape": [3], "data_offsets": [len(data), len(data) + 3]}
    refuse(place, joined(header, data + b"abc"), "words.more")


def test_metadata_twice(content: bytes, place: Path) -> None:
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length].rstrip()[:-1] + b', "__metadata__": 5}'
    refuse(place, reseal(len(header).to_bytes(8, "little") + header + content[8 + length :]), "given twice")
