"""`fewwords codes`: rare words in a few common ones."""

from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from fewwords.cli.options import chosen_for, with_options
from fewwords.cli.work_folder import DEFAULT_WORK, Work
from fewwords.codes.settings import DEFAULT_BASE_SIZE, AdamSettings, CodingSettings

if TYPE_CHECKING:
    from fewwords.codes.make import CodedVocabulary


@with_options(CodingSettings, AdamSettings)
def codes(
    work: Work = DEFAULT_WORK,
    vocab_size: Annotated[
        Optional[int], typer.Option(help="Words, special words included. \\[default: all that have vectors]")
    ] = None,
    base_size: Annotated[
        int, typer.Option(help="Common words to say the others in, special words not counted.")
    ] = DEFAULT_BASE_SIZE,
    *,
    jobs: Annotated[
        Optional[int],
        typer.Option("--jobs", "-j", help="Threads; the codes do not depend on it. \\[default: one per core]"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace codes that are there already.")] = False,
    **chosen: Any,
) -> None:
    """Say every rare word in a few common ones: sparse codes into DIR/codes, and how good they are.

    \b
    Examples:
      fewwords codes --work work
      fewwords codes --work work --vocab-size 50000 --base-size 8000
      fewwords codes --work work --vocab-size 10000 --solver adam --force
    """
    from fewwords.codes.make import make_codes

    chosen["max_nonzeros"] = chosen["max_nonzeros"] or None
    adam = AdamSettings(**chosen_for(AdamSettings, chosen))
    settings = CodingSettings(**chosen_for(CodingSettings, chosen), adam=adam)
    print_quality(make_codes(work, vocab_size, base_size, settings=settings, jobs=jobs, force=force))


def print_quality(coded: "CodedVocabulary") -> None:
    """Print the quality report of codes to stdout."""
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.codes import claims, tables

    console = result_console()
    for table in tables(coded):
        console.print(table)
    for line in claims(coded.quality):
        print(line)
