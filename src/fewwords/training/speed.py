"""How fast a model trains and scores here and now: some steps and a short evaluation, nothing kept."""

import time
from dataclasses import dataclass
from pathlib import Path

from fewwords.models.neural.variants import ModelSettings
from fewwords.training.held_out import measure_held_out
from fewwords.training.objective import make_objective
from fewwords.training.process import prepare_process
from fewwords.training.settings import TrainingSettings
from fewwords.training.start import choose_start, gather_materials, start_model
from fewwords.training.trainer import Trainer

SECONDS = 3.0
WARM_UP_STEPS = 3
SCORED_WORDS = 5_000


@dataclass(frozen=True)
class Speed:
    """Running words in a second of training, and of scoring with full normalisation."""

    trained_per_second: float
    scored_per_second: float


def measure_speed(
    work: str | Path,
    model_settings: ModelSettings,
    settings: TrainingSettings,
    *,
    vocabulary_size: int,
    base_size: int,
    seconds: float = SECONDS,
) -> Speed:
    """Train a new model for about `seconds`, score some of dev, and forget it; arguments as for `train_neural`."""
    prepare_process(settings.threads)
    settings = choose_start(work, model_settings, settings, vocabulary_size)
    materials = gather_materials(work, model_settings, settings, vocabulary_size=vocabulary_size, base_size=base_size)
    part, dev = (materials.corpus.part(name, vocabulary_size) for name in ("train", "dev"))
    objective = make_objective(settings, model_settings, materials.vocabulary)
    model = start_model(materials, model_settings, settings)
    trainer = Trainer(model, objective, part, settings, settings.budget(part.num_words))
    for _ in range(WARM_UP_STEPS):
        trainer.step()
    started, words = time.monotonic(), 0
    while (passed := time.monotonic() - started) < seconds:
        words += trainer.step().words
    trained = words / passed
    started = time.monotonic()
    measure_held_out(model, materials.vocabulary, dev, SCORED_WORDS, objective)
    return Speed(trained, min(SCORED_WORDS, dev.num_words) / (time.monotonic() - started))
