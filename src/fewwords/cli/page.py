"""`fewwords page`: a packed model as a page that runs in any browser."""

from pathlib import Path
from typing import Annotated

import typer

from fewwords.cli.texts import DEFAULT_MODEL


def page(
    packed: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A packed model (.few), made by fewwords pack, or english, which comes with fewwords."
        ),
    ] = DEFAULT_MODEL,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PAGE", help="The page to write; an old one is replaced.")
    ] = Path("keyboard.html"),
) -> None:
    """Write one self-contained HTML page with the model in it: suggestions with every key, and words explained.

    It opens from a file and needs no network. Everything is computed in the browser.

    \b
    Examples:
      fewwords page
      fewwords pack work/models/lstm-z-w-v50000 --output small.few --bits 4
      fewwords page small.few --output keyboard.html
    """
    from fewwords.page.make import make_page

    written = make_page(packed, output)
    print(f"{written}: {written.stat().st_size / 1e6:.2f} MB; open it in a browser")
