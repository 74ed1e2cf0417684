"""Durations and quantities."""

import pytest

from fewwords.readable import duration, quantity


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (59.4, "0:59"), (59.6, "1:00"), (75, "1:15"), (3675, "1:01:15")]
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (950, "950"), (12_345, "12.3 k"), (4_000_000, "4.0 M"), (1.6e9, "1.6 G")]
)
def test_quantity(value: float, text: str) -> None:
    assert quantity(value) == text
