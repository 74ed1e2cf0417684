"""`fewwords train`: a language model from a work folder."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from fewwords.cli.kneser_ney import read_name, read_thresholds
from fewwords.cli.options import is_given, with_options
from fewwords.cli.work_folder import DEFAULT_WORK, Work
from fewwords.codes.settings import DEFAULT_BASE_SIZE
from fewwords.errors import DivergedError, InputError
from fewwords.models.kneser_ney.names import NAMES
from fewwords.models.neural.variants import VARIANTS, ModelSettings
from fewwords.training.settings import PresetName, TrainingSettings

if TYPE_CHECKING:
    ModelName = str
else:
    ModelName = Literal[(*VARIANTS, *NAMES, "kn")]

_OPTIMISER, _STARTS, _RUN, _NGRAMS = "Optimiser", "Starts and codes", "Run", "Kneser-Ney models only"
_NGRAM_OPTIONS = {"order", "prune", "interpolate", "discount_fallback", "memory_mib"}
_COMMON_OPTIONS = {"work", "vocab_size", "model", "output", "words", "force"}


@with_options(ModelSettings, TrainingSettings)
def train(
    context: typer.Context,
    vocab_size: Annotated[int, typer.Option(metavar="V", help="Words, special words included.")],
    work: Work = DEFAULT_WORK,
    model: Annotated[ModelName, typer.Option(help="The model, by the paper's name; kn with --order.")] = "lstm-z-w",
    base_size: Annotated[
        int, typer.Option(metavar="B", help="Base words of a coded model, special words not included.")
    ] = DEFAULT_BASE_SIZE,
    output: Annotated[
        Optional[Path],
        typer.Option(metavar="DIR", help="The model folder. \\[default: models/MODEL-vV in the work folder]"),
    ] = None,
    preset: Annotated[
        PresetName,
        typer.Option(help="Where defaults come from: best is the best we know, paper what the paper and its code do."),
    ] = "best",
    *,
    tune_lr: Annotated[
        bool,
        typer.Option(
            "--tune-lr",
            rich_help_panel=_OPTIMISER,
            help="Choose the rate on dev, by a short run for each of the paper's rates.",
        ),
    ] = False,
    start: Annotated[
        Optional[Path],
        typer.Option(
            rich_help_panel=_STARTS,
            metavar="MODEL",
            help="Go on from the weights of a model, a folder or a packed file, with these settings.",
        ),
    ] = None,
    codes_file: Annotated[
        Optional[Path],
        typer.Option(rich_help_panel=_STARTS, metavar="FILE", help="Other codes than those in DIR/codes."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", rich_help_panel=_RUN, help="Continue from the last checkpoint, with the same settings."
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", rich_help_panel=_RUN, help="Replace a model or an unfinished run that is there.")
    ] = False,
    order: Annotated[
        Optional[int], typer.Option(rich_help_panel=_NGRAMS, metavar="N", help="Longest n-grams of --model kn.")
    ] = None,
    prune: Annotated[
        Optional[str],
        typer.Option(
            rich_help_panel=_NGRAMS,
            metavar="N,N,…",
            help="For each order: leave out n-grams that occur this often or less. \\[default: none]",
        ),
    ] = None,
    interpolate: Annotated[
        bool,
        typer.Option("--interpolate/--no-interpolate", rich_help_panel=_NGRAMS, help="Or back off, as SRILM does."),
    ] = True,
    discount_fallback: Annotated[
        Optional[tuple[float, float, float]],
        typer.Option(
            rich_help_panel=_NGRAMS,
            metavar="D1 D2 D3",
            help="Discounts for orders with too little text to estimate them.",
        ),
    ] = None,
    memory_mib: Annotated[
        int, typer.Option(rich_help_panel=_NGRAMS, help="Memory for counting; past it, counts go to disk.")
    ] = 2_048,
    **chosen: Any,
) -> None:
    """Train a language model on the corpus of a work folder.

    \b
    Examples:
      fewwords train --work work --model lstm-z-w --vocab-size 50000
      fewwords train --work work --model lstm-z --vocab-size 22000 --words 10000000 --tune-lr
      fewwords train --work work --model lstm-z --vocab-size 22000 --words 10000000 --tune-lr --resume
      fewwords train --work work --model lstm-z --vocab-size 22000 --preset paper --tune-lr
      fewwords train --work work --vocab-size 50000 --start work/models/lstm-z-w-v50000 --output work/models/4-bits \\
        --words 5000000 --learning-rate 0.002 --quantise-aware 4
      fewwords train --work work --model kn3 --vocab-size 22000
      torchrun --nproc-per-node 2 -m fewwords train --work work --vocab-size 50000
    """
    is_ngram = model not in VARIANTS
    _refuse_options(context, model, is_ngram)
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.training import summary_tables
    from fewwords.progress import say
    from fewwords.training.train import train as train_model

    settings = {name: value for name, value in chosen.items() if is_given(context, name)}
    if is_ngram:
        model = read_name(model, order)
        settings |= {"interpolate": interpolate, "prune": read_thresholds(prune), "memory_mib": memory_mib}
        settings["discount_fallback"] = discount_fallback
    diverged = None
    is_first = os.environ.get("RANK", "0") == "0"
    try:
        summary = train_model(
            work,
            model,
            vocabulary_size=vocab_size,
            base_size=base_size,
            preset=preset,
            output=output,
            start=start,
            codes_file=codes_file,
            tune_lr=tune_lr,
            resume=resume,
            force=force,
            **settings,
        )
    except KeyboardInterrupt:
        if is_first and not is_ngram:
            say("train: the same command with --resume goes on from the last checkpoint")
        raise
    except DivergedError as error:
        diverged, summary = error, error.summary
    if summary is not None and is_first:
        for table in summary_tables(summary):
            result_console().print(table)
    if diverged is not None:
        raise diverged


def _refuse_options(context: typer.Context, model: str, is_ngram: bool) -> None:
    """Raise InputError for an option that was typed and means nothing to the model."""
    for parameter in context.command.params:
        name = parameter.name or ""
        if is_given(context, name) and name not in _COMMON_OPTIONS and is_ngram != (name in _NGRAM_OPTIONS):
            kind = "a Kneser-Ney model" if is_ngram else "a neural model"
            raise InputError(f"{parameter.opts[0]} means nothing to {model}, {kind}; leave it out")
