"""`fewwords make`: from text to a model in one command."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from fewwords.models.kneser_ney.names import NAMES
from fewwords.models.neural.variants import VARIANTS

if TYPE_CHECKING:
    from fewwords.making.make import Made

    ModelName = str
else:
    ModelName = Literal[(*VARIANTS, *NAMES)]


def make(
    texts: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="TEXT…",
            help="Files, folders, globs, '-' for standard input, or builtin:sotu; mixed freely, recognised by content.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Optional[Path], typer.Option("--output", "-o", metavar="MODEL", help="The model folder.", show_default=False)
    ] = None,
    vocab_size: Annotated[
        Optional[int],
        typer.Option(help="Words, special words included. \\[default: those that occur often enough, up to 50,000]"),
    ] = None,
    base_size: Annotated[
        Optional[int],
        typer.Option(help="Common words to say the others in. \\[default: a third of the words, up to 8,000]"),
    ] = None,
    model: Annotated[ModelName, typer.Option(help="The kind of model, by the paper's name.")] = "lstm-z-w",
    size_mb: Annotated[
        Optional[float],
        typer.Option(
            help="Choose vocabulary, base and sizes for a packed file MODEL.few of at most so many megabytes.",
            show_default=False,
        ),
    ] = None,
    minutes: Annotated[
        Optional[float],
        typer.Option(help="Take about so long, by less training. \\[default: as long as it needs]"),
    ] = None,
    work: Annotated[
        Optional[Path],
        typer.Option(
            "--work", metavar="DIR", help="The work folder, which stays. \\[default: MODEL.work, removed at the end]"
        ),
    ] = None,
    keep_work: Annotated[bool, typer.Option("--keep-work", help="Keep MODEL.work.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything that is random.")] = 1,
    threads: Annotated[Optional[int], typer.Option(help="Threads. \\[default: one per core]")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
) -> None:
    """Make a model of text: prepare, vectors, codes, train, evaluate, with settings chosen from the text.

    The same command goes on where it was stopped.

    \b
    Examples:
      fewwords make book.txt --output book
      fewwords make articles/ notes.txt.gz --output model --minutes 20
      fewwords make corpus.txt --output kn3 --model kn3
      fewwords make corpus.txt --output small --size-mb 2
      fewwords suggest book "It was the "
    """
    from fewwords.errors import InputError
    from fewwords.making.make import make as make_model

    if not texts:
        raise InputError("no text given; name files, folders, '-', or builtin:sotu")
    if output is None:
        raise InputError("no --output given; name the model folder")
    print_made(
        make_model(
            texts,
            output,
            model=model,
            vocabulary_size=vocab_size,
            base_size=base_size,
            size_mb=size_mb,
            minutes=minutes,
            work=work,
            keep_work=keep_work,
            seed=seed,
            threads=threads,
            force=force,
        )
    )


def print_made(made: "Made") -> None:
    """Print what came of it, and what to try next."""
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.making import made_table

    result_console().print(made_table(made))
    folder = shlex.quote(str(made.folder))
    print("Try next:")
    for arguments in ("suggest {}", "sample {} -n 3", "info {}"):
        print(f"  fewwords {arguments.format(folder)}")
