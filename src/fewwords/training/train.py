"""`train`: the stage that makes a language model, of any kind, from a work folder (section 4.3)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewwords.codes.settings import DEFAULT_BASE_SIZE
from fewwords.errors import InputError
from fewwords.models.kneser_ney.names import order_of
from fewwords.models.neural.variants import ModelSettings, settings_of
from fewwords.progress import say
from fewwords.training.settings import PresetName, TrainingSettings, preset_changes, setting_names
from fewwords.training.summary import TrainingSummary

if TYPE_CHECKING:
    from fewwords.training.kneser_ney import KneserNeySummary


def train(
    work: str | Path = "work",
    model: str = "lstm-z-w",
    *,
    vocabulary_size: int,
    base_size: int = DEFAULT_BASE_SIZE,
    preset: PresetName = "best",
    output: Path | None = None,
    start: Path | None = None,
    codes_file: Path | None = None,
    tune_lr: bool = False,
    resume: bool = False,
    force: bool = False,
    **settings: Any,
) -> "TrainingSummary | KneserNeySummary":
    """Train a model by its name, such as `lstm-z-w` or `kn3`, and write its folder, by default in `models/` of `work`.

    `settings` are those of `ModelSettings` and `TrainingSettings`, which override the preset, or, for a Kneser-Ney
    model, those of `train_kneser_ney`. `start` is a model of the same settings, a folder or a packed file, to go on from. `start`,
    `tune_lr`, `resume`, `base_size` and `codes_file` are for neural models (see `train_neural`); `force` replaces what is
    there. Raises InputError before training starts for anything that cannot work.
    """
    order = order_of(model)
    if order is not None:
        from fewwords.training.kneser_ney import train_kneser_ney

        return train_kneser_ney(work, order, vocabulary_size=vocabulary_size, output=output, force=force, **settings)
    unknown = set(settings) - setting_names(ModelSettings) - setting_names(TrainingSettings)
    if unknown:
        raise InputError(f"{min(unknown)}: no such setting of {model}; see ModelSettings and TrainingSettings")
    if "codes_rate" in settings and not settings.get("tune_codes"):
        raise InputError(
            f"`codes_rate` {settings['codes_rate']}: the codes stay as they are unless `tune_codes` is given"
        )
    recipe = {name: value for name, value in preset_changes(preset, model).items() if name not in settings}
    if recipe:
        told = ", ".join(f"`{name}` {str(value).lower()}" for name, value in recipe.items())
        say(f"preset {preset}: {told}; choose the rate as the paper does with `tune_lr`")
    changes = {**recipe, **settings}
    from fewwords.training.loop import train_neural

    of_model = {name: changes.pop(name) for name in list(changes) if name in setting_names(ModelSettings)}
    return train_neural(
        work,
        settings_of(model, **of_model),
        TrainingSettings(**changes),
        vocabulary_size=vocabulary_size,
        base_size=base_size,
        codes_file=codes_file,
        start=start,
        output=output,
        tune_lr=tune_lr,
        resume=resume,
        force=force,
    )
