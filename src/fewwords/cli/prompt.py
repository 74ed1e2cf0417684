"""Somebody who types and a model that suggests: key by key where prompt_toolkit is installed, else line by line."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fewwords.cli.texts import lines_of_stdin
from fewwords.extras import missing_extra

if TYPE_CHECKING:
    from fewwords.use.suggest import Suggestion
    from fewwords.use.text_model import TextModel, WordScore


def run_prompt(model: "TextModel", k: int = 5) -> None:
    """Suggest while somebody types at the terminal, until Ctrl-D."""
    try:
        from prompt_toolkit.utils import is_dumb_terminal

        from fewwords.cli.live_prompt import MARK, LivePrompt
    except ModuleNotFoundError as error:
        remedy = missing_extra(error.name or "")
        if remedy is None:
            raise
        print(f"suggestions with every key: {remedy}", file=sys.stderr)
        _run_lines(model, k)
        return
    if is_dumb_terminal():
        _run_lines(model, k)
        return
    prompt = LivePrompt(model, k)
    while (line := prompt.read_line()) is not None:
        print(f"{MARK}{line}")
        if scores := model.full_scores(line):
            print(summary(scores))


def _run_lines(model: "TextModel", k: int) -> None:
    for line in lines_of_stdin("type some words, and end with Ctrl-D"):
        print_suggestions(model.suggest(line, k))


def print_suggestions(suggestions: "Sequence[Suggestion]") -> None:
    """Print suggestions on one line, separated by tabs."""
    print("\t".join(f"{each.text} {each.probability:.3f}" for each in suggestions), flush=True)


def summary(scores: "Sequence[WordScore]") -> str:
    """One line about a line of text."""
    from fewwords.use.text_model import perplexity_of

    total = sum(each.log10_prob for each in scores)
    return f"  log10 p {total:.2f}, perplexity {perplexity_of(scores):,.1f}"
