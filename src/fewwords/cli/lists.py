"""Options that take several values with commas between them."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def comma_list(option: str, text: str, read: Callable[[str], T], example: str) -> list[T]:
    """The values in `text`; raises InputError, with an example of what would do, where `read` raises ValueError."""
    from fewwords.errors import InputError

    try:
        return [read(value) for value in text.split(",")]
    except ValueError:
        raise InputError(f"{option} {text}: give numbers with commas between them, as {example}") from None
