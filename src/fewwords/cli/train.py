"""`fewwords train`: a language model from a work folder."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from fewwords.cli.kneser_ney import read_order, read_thresholds
from fewwords.cli.options import chosen_for, is_given, with_options
from fewwords.cli.work_folder import DEFAULT_WORK, Work
from fewwords.codes.settings import DEFAULT_BASE_SIZE
from fewwords.errors import InputError
from fewwords.models.neural.variants import VARIANTS, ModelSettings, settings_of
from fewwords.training.settings import PresetName, TrainingSettings, preset_changes

if TYPE_CHECKING:
    ModelName = str
else:
    ModelName = Literal[(*VARIANTS, "kn2", "kn3", "kn4", "kn5", "kn")]

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
      fewwords train --work work --model kn3 --vocab-size 22000
      torchrun --nproc-per-node 2 -m fewwords train --work work --vocab-size 50000
    """
    _refuse_options(context, model)
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.training import kneser_ney_table, summary_table, trial_table

    if model.startswith("kn"):
        from fewwords.training import train_kneser_ney

        estimated = train_kneser_ney(
            work,
            read_order(model, order),
            vocabulary_size=vocab_size,
            words=chosen["words"],
            interpolate=interpolate,
            prune=read_thresholds(prune),
            discount_fallback=discount_fallback,
            memory_mib=memory_mib,
            output=output,
            force=force,
        )
        result_console().print(kneser_ney_table(estimated))
        return

    if is_given(context, "codes_rate") and not chosen["tune_codes"]:
        raise InputError(
            f"`codes_rate` {chosen['codes_rate']}: the codes stay as they are unless `tune_codes` is given"
        )
    model_preset, training_preset = _take_preset(context, preset, model)
    model_settings = settings_of(model, **{**chosen_for(ModelSettings, chosen), **model_preset})
    settings = TrainingSettings(**{**chosen_for(TrainingSettings, chosen), **training_preset})

    from fewwords.training import train as train_model

    summary = train_model(
        work,
        model_settings,
        settings,
        vocabulary_size=vocab_size,
        base_size=base_size,
        codes_file=codes_file,
        output=output,
        tune_lr=tune_lr,
        resume=resume,
        force=force,
    )
    if os.environ.get("RANK", "0") != "0":
        return
    if summary.trials:
        result_console().print(trial_table(summary.trials, summary.learning_rate))
    result_console().print(summary_table(summary))


def _take_preset(context: typer.Context, preset: PresetName, variant: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the preset says of the model and of its training, except for options that were typed; shown when it says anything."""
    from fewwords.progress import say

    model, training = (
        {name: value for name, value in changes.items() if not is_given(context, name)}
        for changes in preset_changes(preset, variant)
    )
    if model or training:
        told = (f"{name.replace('_', '-')} {str(value).lower()}" for name, value in {**model, **training}.items())
        say(f"preset {preset}: {', '.join(told)}; choose the rate as the paper does with --tune-lr")
    return model, training


def _refuse_options(context: typer.Context, model: str) -> None:
    """Raise InputError for an option that was typed and means nothing to the model."""
    is_ngram = model.startswith("kn")
    for parameter in context.command.params:
        name = parameter.name or ""
        if is_given(context, name) and name not in _COMMON_OPTIONS and is_ngram != (name in _NGRAM_OPTIONS):
            kind = "a Kneser-Ney model" if is_ngram else "a neural model"
            raise InputError(f"{parameter.opts[0]} means nothing to {model}, {kind}; leave it out")
