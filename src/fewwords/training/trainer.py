"""One run of training: the model, its optimiser, its random generators, its place in the data, and the step.

A step is: sentences -> contexts and targets -> loss -> gradients, added up over the processes -> clipping -> Adam ->
code values kept non-negative. Its cost does not depend on the size of the vocabulary. `capture` and `restore` turn the
whole run into a checkpoint and back; a restored run continues to the same bits.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import torch

from fewwords.corpus.batches import Batch, Position
from fewwords.corpus.token_corpus import Part
from fewwords.errors import InputError
from fewwords.models.neural.language_model import LanguageModel
from fewwords.store.typed import read_object, read_value
from fewwords.training.checkpoint import Checkpoint
from fewwords.training.distributed import Group
from fewwords.training.gradients import clip_gradients
from fewwords.training.objective import Objective
from fewwords.training.optimiser import Optimiser
from fewwords.training.rounding import STEPS as ROUNDING_STEPS
from fewwords.training.rounding import Rounding, is_offset
from fewwords.training.schedule import learning_rate
from fewwords.training.settings import TrainingSettings
from fewwords.training.stability import LossWatch

RECOVERY_SHARE = 20  # after a first fault the rate doubles over a twentieth of the budget


@dataclass
class RunState:
    """The numbers of a run; all fit into JSON. Those of the interval are reset after each evaluation."""

    words: int = 0
    steps: int = 0
    position: tuple[int, int, int] = (0, 0, 0)
    rate_factor: float = 1.0
    num_restores: int = 0
    seconds: float = 0.0
    training_seconds: float = 0.0
    interval_loss: float = 0.0
    interval_predictions: int = 0
    interval_words: int = 0
    interval_seconds: float = 0.0
    best_perplexity: float | None = None
    best_words: int = 0
    evaluations_since_best: int = 0
    stopped_early: bool = False
    loss_level: float | None = None
    lowest_loss_level: float | None = None
    last_perplexity: float | None = None

    def __post_init__(self) -> None:
        counts = [value for value in (*vars(self).values(), *self.position) if isinstance(value, int)]
        if min(counts) < 0 or not 0 < self.rate_factor <= 1:
            raise InputError("a count of the run is negative, or its rate is not lowered but raised")


@dataclass
class Step:
    """The result of a step: its words and loss; `fault` if it was not taken; `asked` if a stop was requested."""

    words: int
    loss: float
    fault: str | None
    asked: bool


@dataclass
class Trainer:
    """Trains `model` on `part` for `budget` running words, as one process of `group`."""

    model: LanguageModel
    objective: Objective
    part: Part
    settings: TrainingSettings
    budget: int
    group: Group = field(default_factory=Group)
    state: RunState = field(default_factory=RunState)

    def __post_init__(self) -> None:
        device = self.group.device
        self.model.to(device).train()
        self.objective.to(device)
        self.group.share_parameters(self.model)
        shares = {"codes.values": self.settings.codes_rate} if self.model.settings.tune_codes else {}
        self.optimiser = Optimiser(self.model.named_parameters(), shares)
        bits = self.settings.quantise_aware
        self.rounding = None if bits is None else Rounding(self.model, bits)
        self.watch = LossWatch(self.settings.divergence)
        self.noise_generator = torch.Generator(device).manual_seed(self._seed(0))
        torch.manual_seed(self._seed(1))  # for dropout, which draws from torch's global generator
        self._batches = self._batches_from_here()

    def _seed(self, purpose: int) -> int:
        """A seed for this process and purpose."""
        entropy = np.random.SeedSequence((self.settings.seed, self.group.rank, purpose))
        return int(entropy.generate_state(1, np.uint64)[0] >> 1)

    def _batches_from_here(self) -> Iterator[Batch]:
        position = Position(*self.state.position)
        return self.part.batches(self.settings.batch_words, seed=self.settings.seed, position=position)

    @property
    def learning_rate(self) -> float:
        """The rate of the next step."""
        return self.state.rate_factor * learning_rate(self.settings, self.state.words, self.budget)

    def step(self, is_asked: Callable[[], bool] = lambda: False) -> Step:
        """Take one step, a batch for each process; a step with a fault changes nothing but the place in the data."""
        if self.state.steps % ROUNDING_STEPS == 0:
            self.round_weights()
        batches = list(itertools.islice(self._batches, self.group.size))
        counts = [self._num_predictions(batch) for batch in batches]
        words = sum(batch.ids.size for batch in batches)
        share = counts[self.group.rank] / sum(counts)
        self.optimiser.zero_gradients()
        loss = self._loss(batches[self.group.rank])
        (loss * share).backward()  # type: ignore[no-untyped-call]
        gradients = self.group.add_gradients(self.optimiser.parameters.values())
        mean_loss, asked = self.group.sum([float(loss.detach()) * share, float(is_asked())])
        norm = clip_gradients(gradients, self.settings.clip)
        fault = self.watch.fault(mean_loss, norm)
        if fault is None:
            self.optimiser.step(gradients, self.learning_rate)
            self.model.project_codes()
            self.watch.note(mean_loss, sum(counts))
            self._count(batches[-1], words, mean_loss, sum(counts))
        return Step(words, mean_loss, fault, asked > 0)

    def round_weights(self) -> None:
        """Round the weights again, if the model is trained with rounded ones."""
        if self.rounding is not None:
            self.rounding.round()

    def _loss(self, batch: Batch) -> torch.Tensor:
        ids = torch.from_numpy(batch.ids).to(self.group.device)
        model = self.model
        is_half = self.settings.precision == "bfloat16"
        with torch.autocast(self.group.device.type, torch.bfloat16, enabled=is_half):
            contexts, targets = model.predictions(ids)
        arguments = (targets, model.output, model.normaliser, self.noise_generator)
        loss: torch.Tensor = self.objective(contexts.float(), *arguments)
        return loss

    def _num_predictions(self, batch: Batch) -> int:
        num_sentences, length = batch.ids.shape
        return int(num_sentences * (length + (self.model.settings.boundary == "end")))

    def _count(self, last: Batch, words: int, loss: float, num_predictions: int) -> None:
        state = self.state
        state.words += words
        state.steps += 1
        if state.num_restores == 1:
            state.rate_factor = min(1.0, state.rate_factor * 2 ** (words * RECOVERY_SHARE / self.budget))
        state.position = (last.next.epoch, last.next.window, last.next.batch)
        state.interval_loss += loss * num_predictions
        state.interval_predictions += num_predictions
        state.interval_words += words
        state.loss_level, state.lowest_loss_level = self.watch.level, self.watch.lowest

    def capture(self, about: dict[str, Any]) -> Checkpoint:
        """The whole run in its present state; all processes must call it together. `about` identifies the run."""
        random: dict[str, torch.Tensor] = {}
        for name, value in (("noise", self.noise_generator.get_state()), ("dropout", self._dropout_state())):
            random |= {f"{name}.{rank}": state for rank, state in enumerate(self.group.gather(value))}
        return Checkpoint(
            weights=dict(self.model.named_parameters()),
            optimiser={
                **self.optimiser.state_tensors(),
                **({} if self.rounding is None else self.rounding.state_tensors()),
            },
            random=random,
            state={"run": asdict(self.state), "processes": self.group.size, "about": about},
        )

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to a captured run; raises InputError if the number of processes or the model differs."""
        num_processes, known = checkpoint.state.get("processes"), {each.name for each in fields(RunState)}
        stored = read_value(dict[str, Any], checkpoint.state.get("run"), "run")
        # older versions wrote one more number
        state = read_object(RunState, {name: value for name, value in stored.items() if name in known})
        if num_processes != self.group.size:
            raise InputError(
                f"the checkpoint is of a run with {num_processes} processes, this one has {self.group.size}; "
                f"resume with {num_processes}, or start over with `force`"
            )
        load_weights(self.model, checkpoint.weights)
        optimiser = dict(checkpoint.optimiser)
        if self.rounding is not None:
            self.rounding.load_state_tensors({name: optimiser.pop(name) for name in list(optimiser) if is_offset(name)})
        self.optimiser.load_state_tensors(optimiser)
        self.optimiser.zero_gradients()
        try:
            self.noise_generator.set_state(checkpoint.random[f"noise.{self.group.rank}"])
            self._set_dropout_state(checkpoint.random[f"dropout.{self.group.rank}"])
        except (KeyError, RuntimeError, TypeError) as error:
            raise InputError(f"the checkpoint's random states are damaged ({error}); start over with `force`") from None
        self.state = state
        self.watch = LossWatch(self.settings.divergence, self.state.loss_level, self.state.lowest_loss_level)
        self._batches = self._batches_from_here()

    def _dropout_state(self) -> torch.Tensor:
        on_gpu = self.group.device.type == "cuda"
        return torch.cuda.get_rng_state(self.group.device) if on_gpu else torch.get_rng_state()

    def _set_dropout_state(self, state: torch.Tensor) -> None:
        if self.group.device.type == "cuda":
            torch.cuda.set_rng_state(state, self.group.device)
        else:
            torch.set_rng_state(state)


@torch.no_grad()
def load_weights(model: LanguageModel, weights: dict[str, torch.Tensor]) -> None:
    """Give a model the weights of a checkpoint; raises InputError if they are those of another model."""
    parameters = dict(model.named_parameters())
    if _kinds(weights) != _kinds(parameters):
        raise InputError("the checkpoint's weights are those of another model; start over with `force`")
    for name, parameter in parameters.items():
        parameter.copy_(weights[name])


def _kinds(tensors: Mapping[str, torch.Tensor]) -> dict[str, tuple[torch.dtype, torch.Size]]:
    return {name: (tensor.dtype, tensor.shape) for name, tensor in tensors.items()}
