"""`train_neural`: from a work folder to the folder of a neural model, whatever interrupts it on the way.

Anything wrong with the input is found before the first step. The model folder has the checkpoint and the training
record while training runs, and the model itself, with the best weights on dev, at the end.
"""

import hashlib
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from fewwords.corpus.token_corpus import Part
from fewwords.errors import DivergedError, InputError
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import ModelSettings
from fewwords.models.neural.weights import check_weights
from fewwords.models.shipped import find_model
from fewwords.progress import say
from fewwords.store.files import sha256_of
from fewwords.store.locks import lock_folder
from fewwords.training.card import model_card
from fewwords.training.checkpoint import (
    find_checkpoint,
    read_best,
    read_checkpoint,
    recover_checkpoint,
    remove_checkpoints,
)
from fewwords.training.distributed import Group, joined_group
from fewwords.training.memory_check import check_memory, needed_bytes
from fewwords.training.objective import make_objective
from fewwords.training.process import has_slow_bfloat16, prepare_process
from fewwords.training.record import cut_after
from fewwords.training.run import RECORD, Run
from fewwords.training.settings import TrainingSettings
from fewwords.training.start import Materials, choose_start, gather_materials, load_start, start_model
from fewwords.training.summary import TrainingSummary, Trial
from fewwords.training.trainer import Trainer, load_weights
from fewwords.training.tune import RECORD as TUNING_RECORD
from fewwords.training.tune import best_rate, trial_words, try_rates
from fewwords.vocabulary import NUM_SPECIAL
from fewwords.work_folder import model_folder

# Settings that do not change the result, and may change when a run is resumed.
_FREE_SETTINGS = ("threads", "checkpoint_every")


def train_neural(
    work: str | Path,
    model_settings: ModelSettings,
    settings: TrainingSettings,
    *,
    vocabulary_size: int,
    base_size: int = 8_000,
    codes_file: Path | None = None,
    start: Path | None = None,
    output: Path | None = None,
    tune_lr: bool = False,
    resume: bool = False,
    force: bool = False,
) -> TrainingSummary:
    """Train a model on the corpus of a work folder and write its folder.

    `base_size` counts base words without the special words; `codes_file` replaces the codes of the work folder, and
    `start` is a model of the same settings, a folder or a packed file, to go on from with its codes. With
    `tune_lr` the rate is first chosen by short runs. `resume` continues from the checkpoint, if there is one; `force`
    replaces what is there. Raises InputError for anything that cannot work before training starts, DivergedError, after
    writing the last good weights, for a run that diverged, and, on Ctrl-C, KeyboardInterrupt after a checkpoint.
    """
    folder = output or model_folder(work, model_settings.variant, vocabulary_size)
    device = prepare_process(settings.threads)
    settings = choose_start(work, model_settings, settings, vocabulary_size)
    start = None if start is None else find_model(start)
    started = None if start is None else load_start(start, model_settings, settings.loss)
    materials = gather_materials(
        work,
        model_settings,
        settings,
        vocabulary_size=vocabulary_size,
        base_size=base_size,
        codes_file=codes_file,
        start=started,
    )
    job = _Job(folder, model_settings, settings, materials, start, started)
    code_values = 0 if materials.codes is None else len(materials.codes.values)
    check_memory(
        needed_bytes(model_settings, settings, vocabulary_size, base_size + NUM_SPECIAL, code_values), settings.loss
    )
    job.check_parts()
    with joined_group(device) as group, _locked(folder, group):
        if group.is_first:
            _prepare_folder(folder, resume=resume, force=force)
        group.wait()
        return job.do(group, tune_lr=tune_lr)


@dataclass(frozen=True)
class _Job:
    folder: Path
    model_settings: ModelSettings
    settings: TrainingSettings
    materials: Materials
    start_path: Path | None
    start: NeuralModel | None

    def do(self, group: Group, *, tune_lr: bool) -> TrainingSummary:
        trials: list[Trial] = []
        settings = self.settings
        if tune_lr:
            trials = self._tune(group)
            settings = replace(settings, learning_rate=best_rate(trials))
            if group.is_first:
                say(f"learning rate {settings.learning_rate:g}: the best of {len(trials)} on dev")
        if group.is_first and settings.precision == "bfloat16" and has_slow_bfloat16(group.device):
            say(
                "`precision` bfloat16: this processor has no instructions for it, and training takes many times as long; "
                "leave it out"
            )
        trainer = self._make_trainer(group, settings)
        about = self._about(settings)
        path = find_checkpoint(self.folder)
        if path is not None:
            checkpoint = read_checkpoint(path)
            _check_same_run(path, checkpoint.state.get("about"), about)
            trainer.restore(checkpoint)
            group.wait()
            if group.is_first:
                cut_after(self.folder / RECORD, trainer.state.words)
                say(f"continuing from the checkpoint after {trainer.state.words:,} words")
            group.wait()
        description = f"training {self.model_settings.variant}"
        run = Run(trainer, self.materials.vocabulary, self._dev, self.folder, about, description)
        had_model = (self.folder / "model.json").exists()
        fault = None
        try:
            run.train()
        except DivergedError as error:
            fault = str(error)
        summary = self._measure(run, settings, trials, fault)
        is_kept = not (had_model and summary.is_useless)  # or the old model would be lost for nothing
        if group.is_first and is_kept:
            self._save(trainer, settings, summary)
        group.wait()
        if summary.diverged is not None:
            raise DivergedError(self._told(summary, is_kept), summary)
        return summary

    def check_parts(self) -> None:
        """Raise InputError if there is nothing to train or evaluate on."""
        train = self._part("train").tail(self.settings.skip_words)
        self._part("dev")
        if self.settings.words is not None and self.settings.words > train.num_words:
            say(f"the training part has only {train.num_words:,} words; all are used, and `epochs` gives more passes")

    @property
    def _dev(self) -> Part:
        return self._part("dev")

    def _part(self, name: Any) -> Part:
        part = self.materials.corpus.part(name, len(self.materials.vocabulary))
        if part.num_words == 0:
            raise InputError(
                f"{self.materials.corpus.folder}: the part {name} is empty; prepare the corpus with more text"
            )
        return part

    def _make_trainer(self, group: Group, settings: TrainingSettings) -> Trainer:
        part = self._text(settings)
        model = start_model(self.materials, self.model_settings, settings)
        if self.start is not None:
            load_weights(model, dict(self.start.network.named_parameters()))
        objective = make_objective(settings, self.model_settings, self.materials.vocabulary)
        return Trainer(model, objective, part, settings, settings.budget(part.num_words), group)

    def _text(self, settings: TrainingSettings) -> Part:
        """The words to train on."""
        return self._part("train").tail(settings.skip_words).head(settings.words)

    def _tune(self, group: Group) -> list[Trial]:
        return try_rates(
            lambda settings: self._make_trainer(group, settings),
            self.materials.vocabulary,
            self._dev,
            self.settings,
            words=trial_words(self.settings.budget(self._text(self.settings).num_words)),
            folder=self.folder,
            about=self._about(self.settings),
        )

    def _about(self, settings: TrainingSettings) -> dict[str, Any]:
        """What identifies a checkpoint's run; two runs that differ in it differ in their results."""
        codes = self.materials.codes
        arrays = () if codes is None else (codes.offsets, codes.indices, codes.values)
        digest = hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
        path = self.start_path
        start = {} if path is None else {"start": sha256_of(path / "model.json" if path.is_dir() else path)}
        return {
            **start,
            "model": self.model_settings.to_json(),
            "training": {name: value for name, value in settings.to_json().items() if name not in _FREE_SETTINGS},
            "vocabulary": self.materials.vocabulary.fingerprint,
            "corpus": self.materials.corpus.description.get("sha256"),
            "codes": None if codes is None else digest,
        }

    def _measure(
        self, run: Run, settings: TrainingSettings, trials: Sequence[Trial], fault: str | None
    ) -> TrainingSummary:
        """Load the best weights and measure them on the whole of dev."""
        trainer = run.trainer
        state, codes = trainer.state, self.materials.codes
        load_weights(trainer.model, self._best_weights(state.best_perplexity is not None))
        held_out = run.measure(None)
        try:
            check_weights({name: weight.detach().cpu().numpy() for name, weight in trainer.model.named_parameters()})
        except InputError as error:
            fault = fault or f"at the end {error.problem}"
        worst = max(held_out.perplexity, state.last_perplexity or 0.0)
        if fault is None and not worst <= len(self.materials.vocabulary):
            fault = f"at the end the dev perplexity is {worst:,.0f}, worse than a uniform guess"
        table, num_tuned = trainer.model.codes, 0
        if codes is not None and table is not None and table.tuned:
            codes, num_tuned = table.tuned_codes(codes.made_from), len(table.values)  # fewer, if some became zero
        return TrainingSummary(
            folder=self.folder,
            variant=self.model_settings.variant,
            vocabulary_size=len(self.materials.vocabulary),
            num_parameters=sum(p.numel() for p in trainer.model.parameters()) - num_tuned,
            num_code_values=0 if codes is None else codes.num_values,
            words=state.words,
            best_words=state.best_words,
            stopped_early=state.stopped_early,
            learning_rate=settings.learning_rate,
            dev_perplexity=held_out.perplexity,
            gap_mean=held_out.gap_mean,
            gap_std=held_out.gap_std,
            seconds=state.seconds,
            words_per_second=state.words / max(state.training_seconds, 1e-9),
            words_before=0 if self.start is None else self.start.trained_words or 0,
            diverged=fault,
            trials=tuple(trials),
        )

    def _best_weights(self, has_best: bool) -> dict[str, Tensor]:
        """The weights with the best dev perplexity; those of the last checkpoint if none was measured before a fault."""
        path = find_checkpoint(self.folder)
        return read_best(self.folder) if has_best or path is None else read_checkpoint(path).weights

    def _told(self, summary: TrainingSummary, is_kept: bool) -> str:
        perplexity = f"dev perplexity {summary.dev_perplexity:,.2f}"
        kept = f"{self.folder} has the weights after {summary.best_words:,} words, {perplexity}"
        if not is_kept:
            kept = f"its best weights are useless ({perplexity}), and {self.folder} still has the model from before"
        remedy = "train again with `force` and a lower `learning_rate`, a lower `clip`, or `bias_start` unigram"
        return f"training {summary.variant} diverged: {summary.diverged}; {kept}; {remedy}"

    def _save(self, trainer: Trainer, settings: TrainingSettings, summary: TrainingSummary) -> None:
        corpus, codes = self.materials.corpus, self.materials.codes
        results = {name: value for name, value in asdict(summary).items() if name not in ("folder", "trials")}
        made_from = {
            "training": settings.to_json(),
            "corpus": corpus.made_from,
            "codes": None if codes is None else codes.made_from,
            "result": results,
            "trials": [asdict(trial) for trial in summary.trials],
        }
        card = model_card(summary, self.model_settings, settings, corpus.made_from["sources"])
        model = NeuralModel(trainer.model.cpu(), self.materials.vocabulary, codes, corpus.rules, made_from)
        save_neural(self.folder, model, card)


def _locked(folder: Path, group: Group) -> Any:
    """A lock on the model folder, for the process that writes there."""
    return lock_folder(folder, "train") if group.is_first else nullcontext()


def _prepare_folder(folder: Path, *, resume: bool, force: bool) -> None:
    """Refuse to overwrite a model or a run unless asked to; with `force`, remove the run.

    An old model stays until the new one replaces it.
    """
    recover_checkpoint(folder)
    has_checkpoint, has_model = find_checkpoint(folder) is not None, (folder / "model.json").exists()
    if force and resume:
        raise InputError("`force` starts over and `resume` continues: give one of them")
    if force:
        for name in (RECORD, TUNING_RECORD):
            (folder / name).unlink(missing_ok=True)
        remove_checkpoints(folder)
    elif resume:
        if has_model and not has_checkpoint:
            raise InputError(f"{folder}: the model is finished and has no checkpoint; use `force` to train it again")
        if not has_checkpoint:
            say(f"{folder}: no checkpoint yet; starting from the beginning")
    elif has_model:
        raise InputError(f"{folder}: there is a model already; use `force` to replace it, or name another `output`")
    elif has_checkpoint:
        raise InputError(f"{folder}: there is an unfinished run; use `resume` to continue, or `force` to start over")


def _check_same_run(path: Path, theirs: Any, ours: dict[str, Any]) -> None:
    """Raise InputError naming the first setting in which a checkpoint's run differs from this one."""
    theirs = theirs if isinstance(theirs, dict) else {}
    for kind, value in ours.items():
        other = theirs.get(kind)
        if other == value:
            continue
        if isinstance(value, dict) and isinstance(other, dict) and kind != "corpus":
            keys = {**value, **other}
            name = next(key for key in keys if other.get(key, keys) != value.get(key, keys))  # which no value is
            told = f"`{name:.40}` {other.get(name)!s:.80}, not {value.get(name)}"
        else:
            told = f"another {kind}"
        raise InputError(f"{path}: its run has {told}; resume with the same settings, or start over with `force`")
