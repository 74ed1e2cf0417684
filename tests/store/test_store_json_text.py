"""JSON, strictly: whatever is written is valid, and what could hurt is refused."""

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewwords.errors import InputError
from fewwords.store.files import read_json, write_json
from fewwords.store.json_text import MOST_LEVELS, parse_json, to_json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES)
def test_what_is_written_is_json_and_reads_back(value: Any) -> None:
    """Python's own strict writer is the oracle, for values without NaN and infinities."""
    text = to_json_text(value)
    assert json.loads(text, parse_constant=pytest.fail) == parse_json(text) == parse_json(text.encode())
    try:
        strict = json.dumps(value, allow_nan=False)
    except ValueError:
        assert "null" in text
    else:
        assert json.loads(strict) == parse_json(text)


def test_numbers_that_are_not_finite_become_null() -> None:
    assert to_json_text({"a": [math.nan, (math.inf, 1.5)], "b": -math.inf}) == '{"a": [null, [null, 1.5]], "b": null}'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"{", "not valid JSON"),
        (b"[NaN]", "NaN is not finite"),
        (b"[-Infinity]", "-Infinity is not finite"),
        (b"[1e400]", "1e400 is not finite"),
        (b"9223372036854775808", "more than 64 bits"),
        (b"1" * 5_000, "more than 64 bits"),
        (b'{"a": 1, "b": {"c": 2, "c": 3}}', "'c' is given twice"),
        (b"[" * 100_000, "levels"),
        (b"[" * (MOST_LEVELS + 1) + b"]" * (MOST_LEVELS + 1), "levels"),
        (b'"\xff"', "not valid JSON"),
        ('["a"]'.encode("utf-16"), "not valid JSON"),
        (rb'["\ud800"]', "not valid JSON"),
        (rb'{"\ud800": 1}', "not valid JSON"),
    ],
)
def test_what_could_hurt_is_refused(text: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text)
    with pytest.raises(InputError, match=told) as error:
        read_json(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_levels_up_to_the_limit_are_read() -> None:
    parse_json(b"[" * MOST_LEVELS + b"]" * MOST_LEVELS)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    """A pipe without a writer would never open, a device never end."""
    os.mkfifo(tmp_path / "pipe")
    for path, told in ((tmp_path / "pipe", "not a file"), (Path("/dev/zero"), "not a file"), (tmp_path, "not a file")):
        with pytest.raises(InputError, match=told):
            read_json(path)
    with pytest.raises(InputError, match="no such file"):
        read_json(tmp_path / "none")


def test_an_endless_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fewwords.store.files.MOST_JSON_BYTES", 1 << 20)
    write_json(tmp_path / "x.json", "a" * (1 << 20))
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read_json(tmp_path / "x.json")
