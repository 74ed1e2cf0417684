"""`fewwords train`: a language model from a work folder."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from fewwords.cli.lists import comma_list


class Model(str, Enum):
    """The choices of --model."""

    lstm_s = "lstm-s"
    lstm_z = "lstm-z"
    lstm_z_wb = "lstm-z-wb"
    lstm_z_w = "lstm-z-w"
    lbl5 = "lbl5"
    lbl5_w = "lbl5-w"
    kn2 = "kn2"
    kn3 = "kn3"
    kn4 = "kn4"
    kn5 = "kn5"
    kn = "kn"


class Loss(str, Enum):
    """The choices of --loss."""

    nce = "nce"
    nce_per_position = "nce-per-position"
    softmax = "softmax"
    sampled_softmax = "sampled-softmax"


class Schedule(str, Enum):
    """The choices of --schedule."""

    constant = "constant"
    linear = "linear"


class Normaliser(str, Enum):
    """The choices of --normaliser."""

    one = "one"
    constant = "constant"
    z_regression = "z-regression"


class EmbeddingStart(str, Enum):
    """The choices of --embedding-start."""

    random = "random"
    vectors = "vectors"


class BiasStart(str, Enum):
    """The choices of --bias-start."""

    unigram = "unigram"
    zero = "zero"
    uniform = "uniform"


class Preset(str, Enum):
    """The choices of --preset."""

    best = "best"
    paper = "paper"


class Codes(str, Enum):
    """The choices of --codes."""

    learned = "learned"
    random = "random"
    nearest = "nearest"


class Boundary(str, Enum):
    """The choices of --boundary."""

    end = "end"
    paper = "paper"


_SHAPE, _BUDGET, _OPTIMISER, _LOSS, _STARTS, _RUN = "Model", "Budget", "Optimiser", "Loss", "Starts and codes", "Run"
_NGRAMS = "Kneser-Ney models alone"
_NGRAM_OPTIONS = {"order", "prune", "interpolate", "discount_fallback", "memory_mib"}
_COMMON_OPTIONS = {"work", "vocab_size", "model", "output", "words", "force"}


def train(
    context: typer.Context,
    work: Annotated[Path, typer.Option("--work", metavar="DIR", help="The work folder.")],
    vocab_size: Annotated[int, typer.Option(metavar="V", help="Words, special words included.")],
    model: Annotated[Model, typer.Option(help="The model, by the paper's name; kn with --order.")] = Model.lstm_z_w,
    base_size: Annotated[
        int, typer.Option(metavar="B", help="Base words of a coded model, special words not included.")
    ] = 8_000,
    output: Annotated[
        Optional[Path],
        typer.Option(
            metavar="DIR", help="The model folder. \\[default: models/MODEL-vV in the work folder]", show_default=False
        ),
    ] = None,
    preset: Annotated[
        Preset,
        typer.Option(
            help="Where the defaults come from: best is the best we know, paper what the paper and its code do."
        ),
    ] = Preset.best,
    embedding_size: Annotated[int, typer.Option(rich_help_panel=_SHAPE, help="Values of a word vector.")] = 200,
    hidden_size: Annotated[int, typer.Option(rich_help_panel=_SHAPE, help="Values of the LSTM's state.")] = 200,
    layers: Annotated[int, typer.Option(rich_help_panel=_SHAPE, help="LSTM layers.")] = 1,
    dropout: Annotated[float, typer.Option(rich_help_panel=_SHAPE, help="Share of values dropped.")] = 0.0,
    tied: Annotated[
        Optional[bool],
        typer.Option(
            "--tied/--untied",
            rich_help_panel=_SHAPE,
            help="One matrix for embedding and output weights. \\[default: tied for coded models]",
            show_default=False,
        ),
    ] = None,
    tune_codes: Annotated[
        bool, typer.Option("--tune-codes", rich_help_panel=_SHAPE, help="Train the values of the codes too.")
    ] = False,
    boundary: Annotated[
        Boundary,
        typer.Option(
            rich_help_panel=_SHAPE,
            help="end: from <s>, and </s> is predicted; paper: from a learned state, and it is not.",
        ),
    ] = Boundary.end,
    words: Annotated[
        Optional[int],
        typer.Option(
            rich_help_panel=_BUDGET, help="The first running words to train on. \\[default: all]", show_default=False
        ),
    ] = None,
    epochs: Annotated[
        Optional[float],
        typer.Option(rich_help_panel=_BUDGET, help="Passes over them. \\[default: 1]", show_default=False),
    ] = None,
    patience: Annotated[
        Optional[int],
        typer.Option(
            rich_help_panel=_BUDGET,
            help="Stop after so many evaluations without progress. \\[default: never]",
            show_default=False,
        ),
    ] = None,
    learning_rate: Annotated[float, typer.Option(rich_help_panel=_OPTIMISER, help="Adam's rate at the start.")] = 0.008,
    tune_lr: Annotated[
        bool,
        typer.Option(
            "--tune-lr",
            rich_help_panel=_OPTIMISER,
            help="Choose it on dev, by a short run for each of the paper's rates.",
        ),
    ] = False,
    schedule: Annotated[
        Schedule, typer.Option(rich_help_panel=_OPTIMISER, help="How the rate goes over the budget.")
    ] = Schedule.linear,
    final_rate: Annotated[
        float, typer.Option(rich_help_panel=_OPTIMISER, help="Where the linear schedule ends, as a share of the rate.")
    ] = 0.0,
    codes_rate: Annotated[
        float, typer.Option(rich_help_panel=_OPTIMISER, help="Rate of tuned code values, as a share of the rate.")
    ] = 0.1,
    batch_words: Annotated[
        int, typer.Option(rich_help_panel=_OPTIMISER, help="Words of a batch; the paper: 256.")
    ] = 2_048,
    clip: Annotated[
        float, typer.Option(rich_help_panel=_OPTIMISER, help="Largest norm of the gradient; 0: no limit.")
    ] = 5.0,
    divergence: Annotated[
        float,
        typer.Option(rich_help_panel=_OPTIMISER, help="Go back when the loss is this many times its lowest; 0: never."),
    ] = 3.0,
    loss: Annotated[
        Loss,
        typer.Option(rich_help_panel=_LOSS, help="nce: noise shared by some words; nce-per-position: as the paper."),
    ] = Loss.nce,
    num_noise: Annotated[
        Optional[int],
        typer.Option(
            rich_help_panel=_LOSS, help="Noise words. \\[default: 256, or 50 for each position]", show_default=False
        ),
    ] = None,
    noise_group: Annotated[
        Optional[int],
        typer.Option(
            rich_help_panel=_LOSS,
            help="Words of a batch that share their noise words; 0: the whole batch. \\[default: 256]",
            show_default=False,
        ),
    ] = None,
    noise_power: Annotated[float, typer.Option(rich_help_panel=_LOSS, help="Power of the counts in the noise.")] = 1.0,
    normaliser: Annotated[
        Optional[Normaliser],
        typer.Option(rich_help_panel=_LOSS, help="What stands for Z. \\[default: the variant's]", show_default=False),
    ] = None,
    embedding_start: Annotated[
        Optional[EmbeddingStart],
        typer.Option(
            rich_help_panel=_STARTS,
            help="Where word vectors start. \\[default: DIR/vectors, where it has some of that size]",
            show_default=False,
        ),
    ] = None,
    bias_start: Annotated[
        BiasStart,
        typer.Option(rich_help_panel=_STARTS, help="Where biases start: log unigram, the paper's 0, or -log V."),
    ] = BiasStart.unigram,
    codes: Annotated[
        Codes,
        typer.Option(rich_help_panel=_STARTS, help="Learned codes, or a control: random, or the nearest base word."),
    ] = Codes.learned,
    codes_file: Annotated[
        Optional[Path],
        typer.Option(
            rich_help_panel=_STARTS, metavar="FILE", help="Other codes than those in DIR/codes.", show_default=False
        ),
    ] = None,
    order: Annotated[
        Optional[int],
        typer.Option(rich_help_panel=_NGRAMS, metavar="N", help="Longest n-grams of --model kn.", show_default=False),
    ] = None,
    prune: Annotated[
        Optional[str],
        typer.Option(
            rich_help_panel=_NGRAMS,
            metavar="N,N,…",
            help="For each order: leave out n-grams that occur so often or less. \\[default: none]",
            show_default=False,
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
            show_default=False,
        ),
    ] = None,
    memory_mib: Annotated[
        int, typer.Option(rich_help_panel=_NGRAMS, help="Memory of the counting; past it, it goes by way of the disk.")
    ] = 2_048,
    seed: Annotated[int, typer.Option(rich_help_panel=_RUN, help="Seed of start, order, noise and dropout.")] = 1,
    eval_every: Annotated[
        Optional[int],
        typer.Option(
            rich_help_panel=_RUN,
            help="Words between evaluations. \\[default: a twentieth of the budget, at least 200,000]",
            show_default=False,
        ),
    ] = None,
    checkpoint_every: Annotated[
        int, typer.Option(rich_help_panel=_RUN, help="Words between checkpoints; evaluations write one too.")
    ] = 2_000_000,
    dev_words: Annotated[
        int, typer.Option(rich_help_panel=_RUN, help="Words of dev to evaluate on while training.")
    ] = 20_000,
    threads: Annotated[
        Optional[int], typer.Option(rich_help_panel=_RUN, help="Threads. \\[default: one a core]", show_default=False)
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", rich_help_panel=_RUN, help="Go on from the last checkpoint, with the same settings."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", rich_help_panel=_RUN, help="Replace a model or an unfinished run that is there.")
    ] = False,
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
    import os

    _refuse_options(context, model)
    if model.value.startswith("kn"):
        _train_kneser_ney(
            work,
            _order(model, order),
            vocabulary_size=vocab_size,
            words=words,
            interpolate=interpolate,
            prune=_thresholds(prune),
            discount_fallback=discount_fallback,
            memory_mib=memory_mib,
            output=output,
            force=force,
        )
        return

    from fewwords.console import result_console
    from fewwords.errors import InputError
    from fewwords.models.neural.variants import settings_of
    from fewwords.training.loop import train as train_model
    from fewwords.training.settings import TrainingSettings
    from fewwords.training.summary import summary_table, trial_table

    if _is_given(context, "codes_rate") and not tune_codes:
        raise InputError(f"--codes-rate {codes_rate}: the codes stay as they are unless --tune-codes is given")
    model_preset, training_preset = _take_preset(context, preset.value, model.value)
    changes = {**model_preset, **({} if normaliser is None else {"normaliser": normaliser.value})}
    changes |= {} if tied is None else {"tied": tied}
    model_settings = settings_of(
        model.value,
        embedding_size=embedding_size,
        hidden_size=hidden_size,
        num_layers=layers,
        dropout=dropout,
        tune_codes=tune_codes,
        boundary=boundary.value,
        **changes,
    )
    chosen: dict[str, Any] = {
        "words": words,
        "epochs": epochs,
        "batch_words": batch_words,
        "learning_rate": learning_rate,
        "schedule": schedule.value,
        "final_rate": final_rate,
        "codes_rate": codes_rate,
        "clip": clip,
        "divergence": divergence,
        "loss": loss.value,
        "num_noise": num_noise,
        "noise_power": noise_power,
        "noise_group": noise_group,
        "embedding_start": None if embedding_start is None else embedding_start.value,
        "bias_start": bias_start.value,
        "codes": codes.value,
        "seed": seed,
        "eval_every": eval_every,
        "checkpoint_every": checkpoint_every,
        "dev_words": dev_words,
        "patience": patience,
        "threads": threads,
    }
    settings = TrainingSettings(**{**chosen, **training_preset})
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
    console = result_console()
    if summary.trials:
        console.print(trial_table(summary.trials, summary.learning_rate))
    console.print(summary_table(summary))


def _take_preset(context: typer.Context, preset: str, variant: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the preset says of the model and of its training, but for options that were given; told when it says anything."""
    from fewwords.console import say
    from fewwords.training.settings import preset_changes

    model, training = (
        {name: value for name, value in changes.items() if not _is_given(context, name)}
        for changes in preset_changes(preset, variant)
    )
    if model or training:
        told = (f"{name.replace('_', '-')} {str(value).lower()}" for name, value in {**model, **training}.items())
        say(f"preset {preset}: {', '.join(told)}; choose the rate as the paper does with --tune-lr")
    return model, training


def _is_given(context: typer.Context, name: str) -> bool:
    return str(context.get_parameter_source(name)).endswith("COMMANDLINE")


def _refuse_options(context: typer.Context, model: Model) -> None:
    """Raise InputError for an option that was given and means nothing to the model."""
    from fewwords.errors import InputError

    is_ngram = model.value.startswith("kn")
    for parameter in context.command.params:
        name = parameter.name or ""
        if _is_given(context, name) and name not in _COMMON_OPTIONS and is_ngram != (name in _NGRAM_OPTIONS):
            kind = "a Kneser-Ney model" if is_ngram else "a neural model"
            raise InputError(f"{parameter.opts[0]} means nothing to {model.value}, {kind}; leave it out")


def _order(model: Model, order: int | None) -> int:
    from fewwords.errors import InputError

    named = model.value.removeprefix("kn")
    if not named and order is None:
        raise InputError("--model kn needs the length of its n-grams: give --order 3, say, or --model kn3")
    if named and order not in (None, int(named)):
        raise InputError(
            f"--model {model.value} and --order {order} contradict each other; give --model kn --order {order}"
        )
    return int(named or order or 0)


def _thresholds(prune: str | None) -> list[int]:
    # blanks between them will do too
    thresholds = (prune or "").replace(",", " ").split()
    return comma_list("--prune", ",".join(thresholds), int, "0,0,1") if thresholds else []


def _train_kneser_ney(work: Path, order: int, **settings: Any) -> None:
    from fewwords.console import duration, result_console, result_table
    from fewwords.training.kneser_ney import train_kneser_ney

    summary = train_kneser_ney(work, order, **settings)
    size = summary.model.size
    table = result_table(f"Training of {summary.model.variant}", "", "")
    table.show_header = False
    table.add_row("model", str(summary.folder))
    table.add_row("vocabulary", f"{summary.model.num_words:,} words")
    table.add_row("n-grams of each order", ", ".join(f"{count:,}" for count in size.num_ngrams))
    table.add_row(
        "probabilities and back-off weights", f"{size.num_values:,}, {size.num_bytes / 1e6:.1f} MB with their tree"
    )
    table.add_row("trained on", f"{summary.words:,} words")
    table.add_row("dev perplexity", f"{summary.dev_perplexity:.2f}")
    table.add_row("time", duration(summary.seconds))
    result_console().print(table)
