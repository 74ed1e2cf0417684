"""`fewwords export`: a model in a form that other programs read."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer


class Format(str, Enum):
    """The forms that there are."""

    onnx = "onnx"


def export(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A neural model: its folder, a packed file, or english, which comes with fewwords."
        ),
    ],
    form: Annotated[Format, typer.Option("--format", help="The form to write.")] = Format.onnx,
    output: Annotated[
        Optional[Path],
        typer.Option(
            metavar="DIR", help="The folder to write. \\[default: MODEL's name and -onnx]", show_default=False
        ),
    ] = None,
    bits: Annotated[int, typer.Option(help="32: weights as floats; 8: as 8-bit integers with scales.")] = 32,
    force: Annotated[bool, typer.Option("--force", help="Replace an export that is there already.")] = False,
) -> None:
    """Write a neural model as ONNX graphs, for onnxruntime in Python, JavaScript, C++ and others.

    step.onnx reads a word and predicts the next, sentence.onnx scores whole sentences, words.txt has the words by id.

    \b
    Examples:
      fewwords export work/models/lstm-z-w-v50000 --format onnx
      fewwords export work/models/lstm-z-w-v50000 --bits 8 --output keyboard
      fewwords export english
    """
    from fewwords.export.onnx_folder import export_onnx

    name = model.resolve().name.removesuffix(".few")
    export_onnx(model, Path(f"{name}-{form.value}") if output is None else output, bits=bits, force=force)
