"""Options made from settings classes: flag, type, choices, default, help and panel of every field that has an `Option`."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Optional, TypeVar, get_args, get_type_hints

import typer

from fewwords.cli.wording import flag, with_flags
from fewwords.option import Option

Command = TypeVar("Command", bound=Callable[..., None])


def with_options(*settings: type) -> Callable[[Command], Command]:
    """Give a command that takes `**chosen` an option for each setting, before its keyword-only options."""

    def decorate(command: Command) -> Command:
        own = [each for each in inspect.signature(command).parameters.values() if each.kind is not each.VAR_KEYWORD]
        first = [each for each in own if each.kind is not each.KEYWORD_ONLY]
        derived = [_parameter(name, *found) for each in settings for name, found in _options(each).items()]
        ordered = [*first, *derived, *(each for each in own if each.kind is each.KEYWORD_ONLY)]
        keyword_only = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in ordered]
        command.__signature__ = inspect.Signature(keyword_only)  # type: ignore[attr-defined]
        return command

    return decorate


def chosen_for(settings: type, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The chosen options that belong to a settings class, without those that are left to its default."""
    return {
        name: chosen[name]
        for name, (_, _, option) in _options(settings).items()
        if chosen[name] is not None or option.default is None
    }


def is_given(context: typer.Context, name: str) -> bool:
    """Whether an option was typed."""
    return str(context.get_parameter_source(name)).endswith("COMMANDLINE")


def _options(settings: type) -> dict[str, tuple[Any, Any, Option]]:
    """Type, default and option of each field that has one."""
    hints = get_type_hints(settings, include_extras=True)
    return {
        field.name: (get_args(hints[field.name])[0], field.default, option)
        for field in dataclasses.fields(settings)
        for option in getattr(hints[field.name], "__metadata__", ())
        if isinstance(option, Option)
    }


def _parameter(name: str, kind: Any, default: Any, option: Option) -> inspect.Parameter:
    told = with_flags(option.help)
    if option.default is not None:
        told, kind, default = f"{told} \\[default: {option.default}]", Optional[kind], None
    shown = typer.Option(
        flag(name) + (f"/--{option.off}" if option.off else ""),
        help=told,
        rich_help_panel=option.panel,
        show_default=option.default is None and not isinstance(default, bool),
    )
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shown])
