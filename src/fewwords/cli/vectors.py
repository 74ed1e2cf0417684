"""`fewwords vectors`: word vectors for a prepared corpus, trained or imported, and the neighbours of a word."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from fewwords.cli.options import chosen_for, is_given, with_options
from fewwords.cli.wording import flag
from fewwords.cli.work_folder import DEFAULT_WORK, Work
from fewwords.errors import InputError
from fewwords.vectors.settings import DEFAULT_VOCABULARY_SIZE, SkipGramSettings


@with_options(SkipGramSettings)
def vectors(
    context: typer.Context,
    work: Work = DEFAULT_WORK,
    vocab_size: Annotated[
        Optional[int],
        typer.Option(help=f"Words, special words included. \\[default: {DEFAULT_VOCABULARY_SIZE:,}, or what there is]"),
    ] = None,
    *,
    import_file: Annotated[
        Optional[Path],
        typer.Option(
            "--import",
            metavar="FILE",
            help="Take ready-made vectors instead: word2vec text or binary, GloVe, fastText .vec, compressed or not.",
        ),
    ] = None,
    neighbours: Annotated[
        Optional[list[str]],
        typer.Option("--neighbours", metavar="WORD", help="Only show the nearest words of WORD; may be repeated."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace vectors that are there already.")] = False,
    **chosen: Any,
) -> None:
    """Train skip-gram vectors on the training part, or import some, into DIR/vectors.

    \b
    Examples:
      fewwords vectors --work work
      fewwords vectors --work work --vocab-size 50000 --epochs 3 --threads 2
      fewwords vectors --work work --import glove.6B.200d.txt.gz
      fewwords vectors --work work --neighbours algorithms --neighbours debates
    """
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.vectors import neighbour_table, tables
    from fewwords.corpus import TokenCorpus
    from fewwords.vectors import WordVectors, make_vectors

    if neighbours:
        vocabulary = TokenCorpus.open(work).vocabulary()
        stored = WordVectors.load(work)
        stored.check_fits(vocabulary)
        result_console().print(neighbour_table(stored, vocabulary, neighbours))
        return
    settings = None
    if import_file is None:
        settings = SkipGramSettings(**chosen_for(SkipGramSettings, chosen))
    else:
        _refuse_training_options(context)
    made = make_vectors(work, settings, vocabulary_size=vocab_size, import_file=import_file, force=force)
    for table in tables(made, TokenCorpus.open(work).vocabulary(len(made))):
        result_console().print(table)


def _refuse_training_options(context: typer.Context) -> None:
    """An option that would do nothing is a misunderstanding."""
    for field in fields(SkipGramSettings):
        if is_given(context, field.name):
            raise InputError(f"{flag(field.name)} is for training and does nothing with --import; leave it out")
