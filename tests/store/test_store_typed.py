"""JSON objects as dataclasses: what fits is read, and everything else is refused by name."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

import pytest

from fewwords.errors import InputError
from fewwords.option import Option
from fewwords.store.json_text import parse_json, to_json_text
from fewwords.store.typed import read_object


@dataclass(frozen=True)
class Inner:
    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InputError(f"`size` {self.size}: give at least 1")


@dataclass(frozen=True)
class Outer:
    name: str
    kind: Literal["a", "b"]
    inner: Inner
    rate: Annotated[float, Option("A rate.")] = 0.5
    on: bool = False
    limit: int | None = None
    many: tuple[Inner, ...] = ()
    place: tuple[int, str] = (0, "")
    shares: Mapping[str, float] = field(default_factory=dict)
    free: dict[str, Any] = field(default_factory=dict)


WHOLE = Outer("x", "b", Inner(3), 2.0, True, 7, (Inner(1), Inner(2)), (1, "y"), {"z": 0.25}, {"any": [None, {"a": 1}]})


def test_what_was_written_comes_back() -> None:
    assert read_object(Outer, parse_json(to_json_text(asdict(WHOLE)))) == WHOLE


def test_defaults_may_be_left_out_and_whole_numbers_are_numbers() -> None:
    found = read_object(Outer, {"name": "x", "kind": "a", "inner": {"size": 1}, "rate": 2})
    assert found == Outer("x", "a", Inner(1), 2.0)
    assert type(found.rate) is float


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": 5}, "name is 5, not a string"),
        ({"name": None}, "name is None, not a string"),
        ({"kind": "c"}, "kind is 'c', not one of a, b"),
        ({"kind": ["a"]}, r"kind is \['a'\], not one of a, b"),
        ({"rate": "1"}, "rate is '1', not a number"),
        ({"rate": True}, "rate is True, not a number"),
        ({"on": 1}, "on is 1, not true or false"),
        ({"limit": 1.0}, "limit is 1.0, not a whole number"),
        ({"limit": True}, "limit is True, not a whole number"),
        ({"many": {"size": 1}}, "many is .*, not a list"),
        ({"many": [{"size": 1}, {"size": "1"}]}, r"many\[1\].size is '1', not a whole number"),
        ({"place": [1]}, r"place is \[1\], not a list of 2"),
        ({"shares": {"z": "much"}}, "shares.z is 'much', not a number"),
        ({"free": []}, r"free is \[\], not an object"),
        ({"inner": 3}, "inner is not an object"),
        ({"inner": {}}, "inner.size is missing"),
        ({"inner": {"size": 0}}, "inner: `size` 0: give at least 1"),
        ({"other": 1}, "other is not a known name"),
    ],
)
def test_the_rest_is_refused_by_name(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=f"^{told}"):
        read_object(Outer, {**parse_json(to_json_text(asdict(WHOLE))), **changes})


def test_what_is_no_object_is_refused() -> None:
    for value in (None, [], "x", 1):
        with pytest.raises(InputError, match="it is not an object"):
            read_object(Outer, value)
