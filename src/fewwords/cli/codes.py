"""`fewwords codes` and `fewwords explain`: rare words in a few common ones."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

if TYPE_CHECKING:
    from fewwords.codes.make import CodedVocabulary


class Solver(str, Enum):
    """The choices of --solver."""

    exact = "exact"
    adam = "adam"


def codes(
    work: Annotated[Path, typer.Argument(metavar="DIR", help="A work folder with vectors; the codes go to DIR/codes.")],
    vocab_size: Annotated[
        Optional[int],
        typer.Option(help="Words, special words included. \\[default: all that have vectors]", show_default=False),
    ] = None,
    base_size: Annotated[
        int, typer.Option(help="Common words to say the others in, special words not counted.")
    ] = 8000,
    solver: Annotated[
        Solver, typer.Option(help="exact: the best weights by an active set; adam: the paper's optimisation.")
    ] = Solver.exact,
    max_nonzeros: Annotated[int, typer.Option(help="At most so many common words for a word; 0 sets no limit.")] = 8,
    sum_to_one: Annotated[bool, typer.Option("--sum-to-one", help="Weights that sum to 1 (exact solver).")] = False,
    steps: Annotated[int, typer.Option(help="Steps of adam.")] = 800,
    learning_rate: Annotated[float, typer.Option(help="Learning rate of adam.")] = 0.001,
    jobs: Annotated[
        Optional[int],
        typer.Option(
            "--jobs", "-j", help="Threads; the codes do not depend on it. \\[default: one a core]", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace codes that are there already.")] = False,
) -> None:
    """Say every rare word in a few common ones: sparse codes into DIR/codes, and how good they are.

    \b
    Examples:
      fewwords codes work
      fewwords codes work --vocab-size 50000 --base-size 8000
      fewwords codes work --vocab-size 10000 --solver adam --force
    """
    from fewwords.codes.adam import AdamSettings
    from fewwords.codes.make import make_codes

    coded = make_codes(
        work,
        vocab_size,
        base_size,
        solver=solver.value,
        max_nonzeros=max_nonzeros or None,
        sum_to_one=sum_to_one,
        jobs=jobs,
        adam=AdamSettings(steps=steps, learning_rate=learning_rate),
        force=force,
    )
    print_quality(coded)


def explain(
    words: Annotated[list[str], typer.Argument(metavar="WORD…", help="Words to say in common ones.")],
    work: Annotated[Path, typer.Option("--work", metavar="DIR", help="A work folder with codes.")] = Path("work"),
    vocab_size: Annotated[
        Optional[int],
        typer.Option(help="Which codes, where there are several. \\[default: the largest]", show_default=False),
    ] = None,
    base_size: Annotated[
        Optional[int],
        typer.Option(help="Which codes, where there are several. \\[default: the largest]", show_default=False),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a word instead of text.")] = False,
    plot: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="Also draw the weights over the base words (.png, .svg, .pdf)."),
    ] = None,
) -> None:
    """Say words in a few common ones: `algorithms = 0.42 algorithm + …`.

    \b
    Examples:
      fewwords explain algorithms debates --work work
      fewwords explain algorithm algorithms --work work --plot algorithms.png
    """
    from dataclasses import asdict
    from json import dumps

    from fewwords.codes.explain import explain as explain_word
    from fewwords.codes.explain import plot_codes
    from fewwords.codes.make import load_codes
    from fewwords.console import say
    from fewwords.corpus import TokenCorpus

    loaded = load_codes(work, vocab_size, base_size)
    vocabulary = TokenCorpus.open(work).vocabulary(loaded.num_words)
    explanations = [explain_word(word, loaded, vocabulary) for word in words]
    for explanation in explanations:
        print(dumps(asdict(explanation), ensure_ascii=False) if json else explanation)
    if plot is not None:
        plot_codes(explanations, loaded.num_base, plot)
        say(f"explain: drawn in {plot}")


def print_quality(coded: "CodedVocabulary") -> None:
    """Print the quality report of codes to stdout."""
    from fewwords.codes.summary import claims, tables
    from fewwords.console import result_console

    console = result_console()
    for table in tables(coded):
        console.print(table)
    for line in claims(coded.quality):
        print(line)
