"""The learning rate chosen on dev from the paper's set, by short runs from the same start over the same words.

Each run has a twentieth of the budget, at least 200,000 words, and the whole schedule within it. Finished runs are kept
in `tuning.json`, so that an interrupted search continues where it stopped.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fewwords.corpus.token_corpus import Part
from fewwords.errors import DivergedError, InputError
from fewwords.progress import say
from fewwords.store.files import read_json, write_json
from fewwords.store.json_text import parse_json, to_json_text
from fewwords.store.typed import read_object
from fewwords.training.run import Run
from fewwords.training.settings import PAPER_RATES, TrainingSettings
from fewwords.training.summary import Trial
from fewwords.training.trainer import Trainer
from fewwords.vocabulary import Vocabulary

RECORD = "tuning.json"
SHARE = 0.05
FEWEST_WORDS = 200_000

MakeTrainer = Callable[[TrainingSettings], Trainer]


def trial_words(budget: int) -> int:
    """The words of one short run."""
    return min(budget, max(FEWEST_WORDS, round(SHARE * budget)))


def try_rates(
    make_trainer: MakeTrainer,
    vocabulary: Vocabulary,
    dev: Part,
    settings: TrainingSettings,
    *,
    words: int,
    folder: Path | None = None,
    about: Any = None,
    rates: Iterable[float] = PAPER_RATES,
) -> list[Trial]:
    """A trial for each rate; with a folder, those of the same run (`about`) in `tuning.json` are not repeated."""
    path = None if folder is None else folder / RECORD
    known: dict[float, Trial] = {}
    if path is not None and path.exists():
        record = _read_record(path)
        if record.about == parse_json(to_json_text(about)) and record.words == words:
            known = {trial.learning_rate: trial for trial in record.trials}
    trials: list[Trial] = []
    for rate in rates:
        trial = known.get(rate)
        if trial is None:
            trainer = make_trainer(replace(settings, learning_rate=rate, eval_every=words, patience=None))
            trainer.budget = words  # on the same text as the full run: fewer words of the corpus would be another text
            trial = Trial(rate, _dev_perplexity(Run(trainer, vocabulary, dev, None, {}, f"trying rate {rate:g}")))
            if path is not None and trainer.group.is_first:
                done = [asdict(finished) for finished in (*trials, trial)]
                write_json(path, {"about": about, "words": words, "trials": done})
            if trainer.group.is_first:
                say(f"rate {rate:g}: {trial.told}")
            trainer.group.wait()
        trials.append(trial)
    return trials


@dataclass(frozen=True)
class _Record:
    """What `tuning.json` says."""

    about: Any
    words: int
    trials: tuple[Trial, ...]


def _read_record(path: Path) -> _Record:
    try:
        return read_object(_Record, read_json(path))
    except InputError as error:
        raise InputError(f"{path}: {error}; start over with `force`") from None


def best_rate(trials: Iterable[Trial]) -> float:
    """The rate with the lowest dev perplexity; raises DivergedError if every run diverged."""
    finished = [trial for trial in trials if trial.dev_perplexity is not None]
    if not finished:
        raise DivergedError("training diverged at every learning rate; check `clip`, `bias_start` and `loss`")
    return min(finished, key=lambda trial: trial.dev_perplexity or math.inf).learning_rate


def _dev_perplexity(run: Run) -> float | None:
    try:
        run.train()
    except DivergedError:
        return None
    return run.trainer.state.best_perplexity
