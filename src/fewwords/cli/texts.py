"""What the commands that use a model share: the model, texts from arguments or standard input, JSON lines."""

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional, TypeVar

import typer

from fewwords.errors import InputError
from fewwords.models.shipped import ENGLISH
from fewwords.progress import say
from fewwords.store.json_text import to_json_text

if TYPE_CHECKING:
    from fewwords.use.text_model import TextModel

ModelFolder = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model folder, a packed file, or english, which comes with fewwords.")
]
DEFAULT_MODEL = Path(ENGLISH)
Texts = Annotated[
    Optional[list[str]],
    typer.Argument(metavar="TEXT…", help="Texts; '-' or none: one per line from standard input.", show_default=False),
]
Answer = TypeVar("Answer")
Json = Annotated[bool, typer.Option("--json", help="One JSON object per text instead of plain lines.")]


def load_model(folder: Path) -> "TextModel":
    """The model of a folder."""
    from fewwords.use.text_model import load

    return load(folder)


def texts_or_stdin(texts: Iterable[str] | None, invitation: str) -> Iterator[str]:
    """The texts that were given, or the lines of standard input as they come; a line keeps its blanks at the end."""
    given = list(texts or [])
    if given and given != ["-"]:
        if "-" in given:
            raise InputError("'-' is standard input, and stands alone; give texts or '-'")
        yield from given
        return
    yield from lines_of_stdin(invitation)


def answers(
    texts: Iterable[str] | None, invitation: str, answer: Callable[[str], Answer]
) -> Iterator[tuple[str, Answer]]:
    """Each text with its answer.

    A line of standard input without one is told, and the next is read; at the end that is an error.
    """
    is_given, num_failed = bool(texts) and texts != ["-"], 0
    for text in texts_or_stdin(texts, invitation):
        try:
            yield text, answer(text.strip())
        except InputError as error:
            if is_given:
                raise
            num_failed += 1
            say(str(error))
    if num_failed:
        raise InputError(f"standard input: {num_failed} of its lines had no answer; see above")


def lines_of_stdin(invitation: str) -> Iterator[str]:
    """The lines of standard input without their line ends; on a terminal an invitation comes first."""
    if sys.stdin.isatty():
        print(invitation, file=sys.stderr)
    for line in sys.stdin:
        yield line.rstrip("\r\n")


def print_json(value: Any) -> None:
    """Print a value as one line of JSON, at once."""
    print(to_json_text(value), flush=True)
