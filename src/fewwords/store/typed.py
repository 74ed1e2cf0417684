"""JSON objects as dataclasses: names, types and choices are those of the class, ranges those that it checks itself.

Reading is strict: a name that the class does not have, a missing one without a default, and a value of another type are
refused by name. A class that is written in another way than by its fields reads itself with `from_json`.
"""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from fewwords.errors import InputError, Remedy
from fewwords.store.files import read_json

Made = TypeVar("Made")
_SCALARS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


def read_description(path: Path, kind: type[Made], format_name: str, what: str, remedy: Remedy) -> Made:
    """The object in a JSON file of the given format; raises InputError that the file is not `what`."""
    return describe(read_json(path), path, kind, format_name, what, remedy)


def describe(value: object, place: object, kind: type[Made], format_name: str, what: str, remedy: Remedy) -> Made:
    """The same for a JSON value that was read at `place`."""
    try:
        if not isinstance(value, dict) or value.get("format") != format_name:
            raise InputError(f"the format is not {format_name!r}")
        return read_object(kind, {name: each for name, each in value.items() if name != "format"})
    except InputError as error:
        raise InputError(f"{place}: not {what} ({error.problem})", remedy=remedy) from None


def read_object(kind: type[Made], value: object) -> Made:
    """A dataclass from a JSON object of its fields; raises InputError with the name of what is wrong."""
    return cast(Made, _read_fields(kind, value, ""))


def read_value(kind: Any, value: Any, place: str) -> Any:
    """A JSON value as a type that a field can have, called `place` in errors."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        if value is None and NoneType in inner:
            return None
        return read_value(next(each for each in inner if each is not NoneType), value, place)
    if hasattr(kind, "from_json"):
        try:
            return kind.from_json(value)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
    if is_dataclass(kind):
        return _read_fields(kind, value, place)
    if origin is tuple and isinstance(value, list):
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        if len(kinds) == len(value):
            return tuple(
                read_value(each, part, f"{place}[{number}]") for number, (each, part) in enumerate(zip(kinds, value))
            )
    if origin in (Mapping, dict) and isinstance(value, dict):
        return {name: read_value(inner[1], each, f"{place}.{name}") for name, each in value.items()}
    if origin is Literal and isinstance(value, str) and value in inner:
        return value
    if kind in _SCALARS and type(value) is kind:
        return value
    if kind is float and type(value) is int:
        return float(value)
    raise InputError(f"{place} is {value!r:.40}, not {_told(kind)}")


def _read_fields(kind: Any, value: object, place: str) -> Any:
    if not isinstance(value, dict):
        raise InputError(f"{place or 'it'} is not an object")
    prefix = f"{place}." if place else ""
    types, known = get_type_hints(kind), {field.name: field for field in fields(kind)}
    for name in value:
        if name not in known:
            raise InputError(f"{prefix}{name:.40} is not a known name")
    for name, field in known.items():
        if name not in value and field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{prefix}{name} is missing")
    values = {name: read_value(types[name], each, prefix + name) for name, each in value.items()}
    try:
        return kind(**values)
    except InputError as error:
        raise InputError(f"{place}: {error.problem}" if place else error.problem) from None


def _told(kind: Any) -> str:
    """What a type asks for, in words."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if get_origin(kind) is tuple:
        return "a list" if Ellipsis in get_args(kind) else f"a list of {len(get_args(kind))}"
    return _SCALARS.get(kind, "an object")
