"""`fewwords pack`: a neural model in one small file."""

from pathlib import Path
from typing import Annotated, Optional

import typer


def pack(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a neural model.")],
    texts: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="TEXT…", help="Texts to choose the rounding by, and to measure on.", show_default=False),
    ] = None,
    output: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FILE.few", help="The packed file. \\[default: MODEL.few in this folder]", show_default=False
        ),
    ] = None,
    bits: Annotated[
        Optional[int], typer.Option(metavar="8|4", help="Bits of a weight. \\[default: 8]", show_default=False)
    ] = None,
    size_mb: Annotated[
        Optional[float],
        typer.Option(metavar="X", help="Choose the bits so that the file has at most X megabytes.", show_default=False),
    ] = None,
    work: Annotated[
        Optional[Path],
        typer.Option(metavar="DIR", help="Without TEXT: the corpus in DIR, train for the rounding, dev to measure on."),
    ] = None,
    max_words: Annotated[int, typer.Option(metavar="N", help="Words that perplexity is measured on.")] = 20_000,
    card: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FILE",
            help="What the model is, for those who will use it. \\[default: README.md in MODEL]",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Pack a neural model into one file that runs without PyTorch, with weights of 8 or 4 bits.

    With TEXT or --work the weights are rounded so that errors matter least on such text, and the table ends with the
    perplexity before and after.

    \b
    Examples:
      fewwords pack work/models/lstm-z-w-v50000 --output small.few --work work
      fewwords pack work/models/lstm-z-w-v50000 --output small.few --bits 4 --work work
      fewwords pack work/models/lstm-z-w-v50000 --output small.few --size-mb 1.9 article.txt
    """
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.packing import packed_table
    from fewwords.packing.pack import pack as pack_model

    packed = pack_model(
        model,
        output or Path(f"{model.resolve().name}.few"),
        bits=bits,
        size_mb=size_mb,
        texts=texts or [],
        work=work,
        max_words=max_words,
        card=card,
        force=force,
    )
    result_console().print(packed_table(packed))
