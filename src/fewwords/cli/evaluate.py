"""`fewwords evaluate`: the perplexity of a text, in every convention, and the memory of the model."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from fewwords.cli.texts import ModelFolder
from fewwords.errors import InputError
from fewwords.store.json_text import to_json_text

if TYPE_CHECKING:
    from fewwords.evaluation.evaluate import Evaluation


def evaluate(
    model: ModelFolder,
    texts: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="TEXT…",
            help="Files, folders, globs, or '-' for standard input; read as prepare reads them.",
            show_default=False,
        ),
    ] = None,
    work: Annotated[
        Optional[Path],
        typer.Option("--work", metavar="DIR", help="Without TEXT: evaluate a part of the corpus in DIR."),
    ] = None,
    part: Annotated[Literal["dev", "test"], typer.Option(help="Which part of it.")] = "test",
    tokenized: Annotated[
        bool, typer.Option("--tokenized", help="One sentence per line, words separated by blanks: taken as they are.")
    ] = False,
    max_words: Annotated[
        Optional[int], typer.Option(metavar="N", help="Only the first sentences of each text, up to N words.")
    ] = None,
    output: Annotated[
        Literal["summary", "word-scores", "json"],
        typer.Option(help="Tables, the score of every word in SRILM's -debug 2 layout, or one JSON object."),
    ] = "summary",
    keyboard: Annotated[
        bool, typer.Option("--keyboard", help="Measure it as a keyboard instead: words suggested, keys saved.")
    ] = False,
    threads: Annotated[
        Optional[int], typer.Option(min=1, help="Threads. \\[default: one per core]", show_default=False)
    ] = None,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, or numpy, without PyTorch.")] = "cpu",
) -> None:
    """Measure a model on text, with probabilities normalised over its whole vocabulary.

    \b
    Examples:
      fewwords evaluate work/models/lstm-z-w-v22000 --work work
      fewwords evaluate english article.txt notes.gz
      fewwords evaluate work/models/lstm-z-w-v22000 --work work --keyboard --max-words 20000
      echo "the cat sat on the mat ." | fewwords evaluate MODEL - --tokenized --output word-scores
    """
    from fewwords.evaluation.evaluate import evaluate as evaluate_model

    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    if keyboard:
        if output == "word-scores":
            raise InputError("--keyboard gives no scores of words; choose --output summary or json")
        _evaluate_keyboard(
            model, texts or [], output, work=work, part=part, tokenized=tokenized, max_words=max_words, device=device
        )
        return
    evaluation = evaluate_model(
        model,
        texts or [],
        work=work,
        part=part,
        tokenized=tokenized,
        max_words=max_words,
        word_scores=sys.stdout if output == "word-scores" else None,
        device=device,
    )
    if output == "json":
        print(to_json_text(evaluation.to_json(), indent=2))
    elif output == "summary":
        print_evaluation(evaluation)


def _evaluate_keyboard(model: Path, texts: list[str], output: str, **options: Any) -> None:
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.evaluation import keyboard_table
    from fewwords.evaluation.keyboard import evaluate_keyboard

    found = evaluate_keyboard(model, texts, **options)
    if output == "json":
        print(to_json_text(found.to_json(), indent=2))
    else:
        result_console().print(keyboard_table(found))


def print_evaluation(evaluation: "Evaluation") -> None:
    """Print SRILM's lines of each text and the tables of all to stdout."""
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.evaluation import tables
    from fewwords.evaluation.word_scores import statistics_lines

    console = result_console()
    for text in (*evaluation.texts, *([evaluation.total] if len(evaluation.texts) > 1 else [])):
        for line in statistics_lines(text.perplexity, text.name):
            print(line, flush=True)
    for table in tables(evaluation):
        console.print(table)
