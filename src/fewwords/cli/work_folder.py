"""The option --work, which every command that uses a work folder has."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from fewwords.errors import InputError

Work = Annotated[Path, typer.Option("--work", metavar="DIR", help="The work folder.")]
DEFAULT_WORK = Path("work")


class WorkCommand(TyperCommand):
    """A command without arguments; one that is given is most likely the work folder, which earlier versions took that way."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options, and say what to type instead of an argument."""
        ctx.allow_extra_args = True
        super().parse_args(ctx, args)
        if ctx.args:
            typed = f"fewwords {ctx.info_name} --work {shlex.quote(ctx.args[0])}"
            raise InputError(
                f"{ctx.args[0]}: an argument, where only options are taken; for a work folder type {typed}"
            )
        return list(ctx.args)
