"""`fewwords vectors`: word vectors for a prepared corpus, trained or imported, and the neighbours of a word."""

from pathlib import Path
from typing import Annotated, Optional

import typer

_ONLY_FOR_TRAINING = ("size", "epochs", "window", "negative", "sample", "seed", "threads", "words")


def vectors(
    context: typer.Context,
    work: Annotated[Path, typer.Argument(metavar="DIR", help="The work folder; the vectors go to DIR/vectors.")],
    vocab_size: Annotated[
        Optional[int],
        typer.Option(help="Words, special words included. \\[default: 100,000, or what there is]", show_default=False),
    ] = None,
    size: Annotated[int, typer.Option(help="Dimensions.")] = 200,
    epochs: Annotated[int, typer.Option(help="Passes over the text; one is too few for most corpora.")] = 5,
    window: Annotated[int, typer.Option(help="Words to either side that count as context.")] = 5,
    negative: Annotated[int, typer.Option(help="Noise words for each word of the context.")] = 5,
    sample: Annotated[
        float,
        typer.Option(help="Words above this share of the text are thinned out; smaller is faster; 0: none are."),
    ] = 1e-3,
    seed: Annotated[int, typer.Option(help="Seed; only with --threads 1 is the result the same every time.")] = 1,
    threads: Annotated[Optional[int], typer.Option(help="Threads. \\[default: one a core]", show_default=False)] = None,
    words: Annotated[
        Optional[int],
        typer.Option(help="Train on the first so many running words. \\[default: all]", show_default=False),
    ] = None,
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
) -> None:
    """Train skip-gram vectors on the training part, or import some, into DIR/vectors.

    \b
    Examples:
      fewwords vectors work
      fewwords vectors work --vocab-size 50000 --epochs 3 --threads 2
      fewwords vectors work --import glove.6B.200d.txt.gz
      fewwords vectors work --neighbours algorithms --neighbours debates
    """
    from fewwords.console import result_console
    from fewwords.corpus import TokenCorpus
    from fewwords.vectors import WordVectors, make_vectors
    from fewwords.vectors.summary import neighbour_table, tables

    if neighbours:
        vocabulary = TokenCorpus.open(work).vocabulary()
        stored = WordVectors.load(work)
        stored.check_fits(vocabulary)
        result_console().print(neighbour_table(stored, vocabulary, neighbours))
        return
    if import_file is not None:
        _refuse_training_options(context)
        made = make_vectors(work, vocab_size, import_file=import_file, force=force)
    else:
        made = make_vectors(
            work,
            vocab_size,
            size=size,
            epochs=epochs,
            window=window,
            negative=negative,
            sample=sample,
            seed=seed,
            threads=threads,
            max_words=words,
            force=force,
        )
    for table in tables(made, TokenCorpus.open(work).vocabulary(len(made))):
        result_console().print(table)


def _refuse_training_options(context: typer.Context) -> None:
    """An option that would do nothing is a misunderstanding."""
    for name in _ONLY_FOR_TRAINING:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"--{name} is for training and does nothing with --import; leave it out")
