"""What a field of a settings class says of itself, so that its choices, default and help are written once.

The choices are those of its `Literal` type, the default is the dataclass's, and `Annotated[int, Option("…")]` gives the help. The
command line makes its options from these.
"""

from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from fewwords.errors import InputError


@dataclass(frozen=True)
class Option:
    """The help of a setting, and the panel that it is shown in.

    `default` says in words what is used when nothing is given, where the value would not tell; `off` names the opposite of a
    switch. Other settings are named in backticks.
    """

    help: str
    panel: str | None = None
    default: str | None = None
    off: str | None = None


def check_choices(settings: object) -> None:
    """Raise InputError when a field of a settings object has a value that its `Literal` type does not list."""
    for name, choices in _choices(type(settings)).items():
        if getattr(settings, name) not in choices:
            named = [choice for choice in choices if choice is not None]
            raise InputError(f"`{name}` {getattr(settings, name)!r}: choose one of {', '.join(named)}")


def _choices(settings: type) -> dict[str, tuple[Any, ...]]:
    found = {}
    for name, kind in get_type_hints(settings).items():
        kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        literals = [each for each in kinds if get_origin(each) is Literal]
        if literals:
            found[name] = (*get_args(literals[0]), *([None] if type(None) in kinds else []))
    return found
