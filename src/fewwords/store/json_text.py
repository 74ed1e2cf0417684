"""JSON, strictly: what is written any reader can read, and what is read is refused before it can hurt.

Written: a number that JSON does not have (NaN, infinite) is null. Refused: such numbers, whole numbers past 64 bits, a
name given twice, half a character, more than 64 levels, and text that is not UTF-8.
"""

import json
import math
from typing import Any

from fewwords.errors import InputError

MOST_LEVELS = 64
_MOST_DIGITS = 19
_LARGEST = 1 << 63


def to_json_text(value: Any, *, indent: int | None = None) -> str:
    """`value` as JSON; numbers that are not finite become null."""
    return json.dumps(_finite(value), indent=indent, ensure_ascii=False, allow_nan=False)


def parse_json(text: bytes | str) -> Any:
    """The value of a JSON text; raises InputError, to which the caller adds the place."""
    try:
        value = json.loads(
            text.decode() if isinstance(text, bytes) else text,  # json.loads would take UTF-16 too
            parse_int=_whole_number,
            parse_float=_number,
            parse_constant=_number,
            object_pairs_hook=_named_once,
        )
        _check(value, MOST_LEVELS)
        return value
    except RecursionError:
        raise InputError(f"not valid JSON (more than {MOST_LEVELS} levels)") from None
    except ValueError as error:
        raise InputError(f"not valid JSON ({error})") from None


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value


def _whole_number(text: str) -> int:
    # reading digits takes quadratic time
    if len(text) > _MOST_DIGITS + 1 or not -_LARGEST <= int(text) < _LARGEST:
        raise ValueError(f"the number {text[:10]}… has more than 64 bits")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]} is not finite")
    return value


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r:.40} is given twice")
        found[name] = value
    return found


def _check(value: Any, levels: int) -> None:
    """Raise ValueError for more levels, and for a string that is not text."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, (dict, list)):
        if not levels:
            raise ValueError(f"more than {MOST_LEVELS} levels")
        for each in value:
            _check(each, levels - 1)
        for each in value.values() if isinstance(value, dict) else ():
            _check(each, levels - 1)
