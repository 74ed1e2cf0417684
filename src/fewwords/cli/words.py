"""`fewwords explain` and `fewwords nearest`: what a model, or the codes of a work folder, know of single words."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from fewwords.cli.texts import ModelFolder, answers, load_model, print_json
from fewwords.errors import InputError
from fewwords.models.shipped import find_model

if TYPE_CHECKING:
    from fewwords.codes.explain import Explanation

_INVITATION = "type a word, and end with Ctrl-D"
Words = Annotated[
    Optional[list[str]],
    typer.Argument(metavar="WORD…", help="Words; '-' or none: one per line from standard input.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object per word instead of plain lines.")]
WhichCodes = typer.Option(help="With --work, which codes, where there are several. \\[default: the largest]")


def explain(
    words: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="MODEL WORD…",
            help="A model (none with --work), and words; '-' or none: one per line from standard input.",
            show_default=False,
        ),
    ] = None,
    work: Annotated[
        Optional[Path],
        typer.Option("--work", metavar="DIR", help="Take the codes of this work folder, not those of a model."),
    ] = None,
    vocab_size: Annotated[Optional[int], WhichCodes] = None,
    base_size: Annotated[Optional[int], WhichCodes] = None,
    json: Json = False,
    plot: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="Also draw the weights over the base words (.png, .svg, .pdf)."),
    ] = None,
) -> None:
    """Say words in a few common ones: `algorithms = 0.42 algorithm + …`.

    The codes are those of a coded MODEL, or with --work those that `fewwords codes` has made.

    \b
    Examples:
      fewwords explain english librarians debates
      fewwords explain work/models/lstm-z-w-v50000 algorithms
      fewwords explain algorithms debates --work work
      fewwords explain algorithm algorithms --work work --plot algorithms.png
    """
    from fewwords.codes.explain import plot_codes
    from fewwords.progress import say

    given = list(words or [])
    if work is None:
        if vocab_size is not None or base_size is not None:
            raise InputError("`vocabulary_size` and `base_size` choose codes of a work folder; give --work as well")
        explain_word, num_base = _codes_of_model(given)
    else:
        explain_word, num_base = _codes_of_work(work, vocab_size, base_size)
    explanations = []
    for _, explanation in answers(given, _INVITATION, explain_word):
        explanations.append(explanation)
        if json:
            print_json(asdict(explanations[-1]))
        else:
            print(explanations[-1], flush=True)
    if plot is not None and explanations:
        plot_codes(explanations, num_base, plot)
        say(f"explain: drawn in {plot}")


Explain = Callable[[str], "Explanation"]


def _codes_of_model(given: list[str]) -> tuple[Explain, int]:
    """How the model whose folder comes first explains words; the folder is removed from what was given."""
    if not given or not find_model(given[0]).exists():
        named = f"{given[0]}: no such model" if given else "no model"
        raise InputError(
            f"{named}; give MODEL before the words (english comes with fewwords), or --work DIR for the codes of a work folder"
        )
    model = load_model(Path(given.pop(0)))
    return model.explain, model.codes.num_base


def _codes_of_work(work: Path, vocab_size: int | None, base_size: int | None) -> tuple[Explain, int]:
    from fewwords.codes.explain import explain as explain_word
    from fewwords.codes.make import load_codes
    from fewwords.corpus import TokenCorpus

    codes = load_codes(work, vocab_size, base_size)
    vocabulary = TokenCorpus.open(work).vocabulary(codes.num_words)
    return lambda word: explain_word(word, codes, vocabulary), codes.num_base


def nearest(
    model: ModelFolder,
    words: Words = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Words to show for each.")] = 10,
    json: Json = False,
) -> None:
    """Show the words nearest to a word, by the cosine of the vectors that the model has learned.

    Kneser-Ney models have no vectors.

    \b
    Examples:
      fewwords nearest english algorithm river -k 5
      fewwords nearest work/models/lstm-z-w-v50000 --json < words.txt
    """
    loaded = load_model(model)
    for word, found in answers(words, _INVITATION, lambda word: loaded.nearest(word, k)):
        if json:
            print_json({"word": word, "nearest": [{"word": other, "cosine": cosine} for other, cosine in found]})
        else:
            print("\t".join(f"{other} {cosine:.3f}" for other, cosine in found), flush=True)
