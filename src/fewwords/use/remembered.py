"""The last few values by the words that they belong to: somebody who types asks about almost the same words again."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")
Words = tuple[str, ...]


class Remembered(Generic[Value]):
    """At most `most` values; those that were not asked for the longest go first. Threads can share one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Words, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, words: Words) -> Value | None:
        """The value of exactly these words."""
        with self._lock:
            if words in self._values:
                self._values.move_to_end(words)
            return self._values.get(words)

    def last(self) -> tuple[Words, Value] | None:
        """What was used last, and its words."""
        with self._lock:
            return next(reversed(self._values.items()), None)

    def longest_start(self, words: Words) -> tuple[Words, Value] | None:
        """The value of the longest start of some words that is remembered, and that start."""
        with self._lock:
            starts = [known for known in self._values if known == words[: len(known)]]
            if not starts:
                return None
            longest = max(starts, key=len)
            self._values.move_to_end(longest)
            return longest, self._values[longest]

    def keep(self, words: Words, value: Value) -> None:
        """Remember a value."""
        with self._lock:
            self._values[words] = value
            self._values.move_to_end(words)
            while len(self._values) > self._most:
                self._values.popitem(last=False)


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words two sequences begin with in common."""
    return next(
        (place for place, (one, other) in enumerate(zip(first, second)) if one != other), min(len(first), len(second))
    )
