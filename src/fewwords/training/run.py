"""Train from the present state to the end of the budget: evaluations, checkpoints, going back on divergence.

Evaluations happen at fixed numbers of words, each followed by a checkpoint, with more checkpoints in between. A step
with a fault (see `stability`) is not taken: the run goes back to its last checkpoint and continues at half the rate.
The first time the rate climbs back, because the first steps of a large model can fail at a rate that suits all others;
after a second fault it stays low. On Ctrl-C a checkpoint is written first. Without a folder nothing is written, and a
fault ends the run; that is how learning rates are tried.
"""

import math
import time
from contextlib import nullcontext
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from fewwords.corpus.token_corpus import Part
from fewwords.errors import DivergedError
from fewwords.progress import Progress, say
from fewwords.training.checkpoint import find_checkpoint, read_checkpoint, write_checkpoint
from fewwords.training.held_out import HeldOut, measure_held_out
from fewwords.training.interruption import Interruption
from fewwords.training.record import append_line
from fewwords.training.trainer import Trainer
from fewwords.vocabulary import Vocabulary

RECORD = "training.jsonl"
MOST_RESTORES = 5


@dataclass
class Run:
    """A trainer with its dev part and its model folder, or None to write nothing; `about` goes into checkpoints."""

    trainer: Trainer
    vocabulary: Vocabulary
    dev: Part
    folder: Path | None
    about: dict[str, Any]
    description: str

    def train(self) -> None:
        """Train until budget or patience runs out; raises KeyboardInterrupt, after a checkpoint, when interrupted."""
        trainer = self.trainer
        if self.folder is not None and find_checkpoint(self.folder) is None:
            self._write_checkpoint()  # so that there is always one to go back to
        bar = Progress(self.description, trainer.budget - trainer.state.words, "words")
        with Interruption() as interruption, bar if trainer.group.is_first else nullcontext() as progress:
            while trainer.state.words < trainer.budget and not trainer.state.stopped_early:
                words_before = trainer.state.words
                started = time.monotonic()
                step = trainer.step(lambda: interruption.asked)
                self._count_time(time.monotonic() - started)
                fault = step.fault or self._evaluate_and_keep(words_before)
                if fault is not None:
                    self._go_back(fault)
                if progress is not None:
                    moved = trainer.state.words - words_before
                    progress.advance(moved, max(0, moved), status=self._status(step.loss))
                if step.asked:
                    self._stop()

    def _evaluate_and_keep(self, words_before: int) -> str | None:
        """Evaluate and write a checkpoint if due; returns the fault if the perplexity is not finite."""
        trainer, state = self.trainer, self.trainer.state
        interval = trainer.settings.evaluation_interval(trainer.budget)
        if _passed(words_before, state.words, interval) or state.words >= trainer.budget:
            started = time.monotonic()
            trainer.round_weights()
            held_out = self.measure(trainer.settings.dev_words)
            state.last_perplexity = held_out.perplexity
            if not math.isfinite(held_out.perplexity):
                return f"the dev perplexity is {held_out.perplexity}"
            is_best = state.best_perplexity is None or held_out.perplexity < state.best_perplexity
            if is_best:
                state.best_perplexity, state.best_words = held_out.perplexity, state.words
            state.evaluations_since_best = 0 if is_best else state.evaluations_since_best + 1
            patience = trainer.settings.patience
            state.stopped_early = patience is not None and state.evaluations_since_best >= patience
            state.seconds += time.monotonic() - started
            self._record(held_out)
            self._write_checkpoint(is_best)
        elif _passed(words_before, state.words, trainer.settings.checkpoint_every):
            self._write_checkpoint()
        return None

    def measure(self, max_words: int | None) -> HeldOut:
        """Measure on dev, or on a sample of its sentences: process 0 does it and sends the result to the others."""
        trainer = self.trainer
        values = [0.0] * len(fields(HeldOut))
        if trainer.group.is_first:
            values = [
                *astuple(measure_held_out(trainer.model, self.vocabulary, self.dev, max_words, trainer.objective))
            ]
        return HeldOut(*trainer.group.from_first(values))

    def _record(self, held_out: HeldOut) -> None:
        """Write the line of an evaluation, and start a new interval."""
        trainer, state = self.trainer, self.trainer.state
        line = {
            "words": state.words,
            "steps": state.steps,
            "seconds": round(state.seconds, 2),
            "loss": state.interval_loss / max(1, state.interval_predictions),
            "dev_loss": held_out.loss,
            "dev_perplexity": held_out.perplexity,
            "log_z_mean": held_out.log_z_mean,
            "log_z_std": held_out.log_z_std,
            "gap_mean": held_out.gap_mean,
            "gap_std": held_out.gap_std,
            "learning_rate": trainer.learning_rate,
            "words_per_second": round(state.interval_words / max(state.interval_seconds, 1e-9), 1),
        }
        if self.folder is not None and trainer.group.is_first:
            append_line(self.folder / RECORD, line)
        state.interval_loss, state.interval_predictions = 0.0, 0
        state.interval_words, state.interval_seconds = 0, 0.0

    def _write_checkpoint(self, is_best: bool = False) -> None:
        if self.folder is None:
            return
        checkpoint = self.trainer.capture(self.about)
        if self.trainer.group.is_first:
            write_checkpoint(self.folder, checkpoint, is_best=is_best)
        self.trainer.group.wait()

    def _go_back(self, fault: str) -> None:
        """Go back to the last checkpoint, with half the rate; raises DivergedError after too many tries."""
        trainer = self.trainer
        factor, num_restores = trainer.state.rate_factor / 2, trainer.state.num_restores + 1
        place = f"after {trainer.state.words:,} words {fault}"
        path = None if self.folder is None else find_checkpoint(self.folder)
        if self.folder is None or path is None:
            raise DivergedError(place)
        if num_restores > MOST_RESTORES:
            raise DivergedError(f"{place}, though the rate was halved {MOST_RESTORES} times")
        trainer.restore(read_checkpoint(path))
        trainer.state.rate_factor, trainer.state.num_restores = factor, num_restores
        if trainer.group.is_first:
            say(f"{self.description}: {place}; going back to {trainer.state.words:,} words, rate times {factor:g}")

    def _stop(self) -> None:
        if self.folder is not None:
            self._write_checkpoint()
            if self.trainer.group.is_first:
                say(f"{self.description}: stopped after {self.trainer.state.words:,} words, at a checkpoint")
        raise KeyboardInterrupt

    def _count_time(self, seconds: float) -> None:
        state = self.trainer.state
        state.seconds += seconds
        state.training_seconds += seconds
        state.interval_seconds += seconds

    def _status(self, loss: float) -> str:
        best = self.trainer.state.best_perplexity
        return f"loss {loss:.3f}" + ("" if best is None else f", dev {best:.1f}")


def _passed(before: int, after: int, interval: int) -> bool:
    """Whether a multiple of the interval lies after `before` and up to `after`."""
    return before // interval != after // interval
