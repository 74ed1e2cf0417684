"""The results of a training run and of the short runs that chose its rate."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Trial:
    """A short run at one learning rate; the perplexity is None if it diverged."""

    learning_rate: float
    dev_perplexity: float | None

    @property
    def told(self) -> str:
        """The result in words."""
        return "diverged" if self.dev_perplexity is None else f"dev perplexity {self.dev_perplexity:.2f}"


@dataclass(frozen=True)
class TrainingSummary:
    """The result of a run: `dev_perplexity` is that of the best weights, in `folder`, on the whole dev part.

    `words_before` are those of the models that it started from. `diverged` says what went wrong in a run that diverged; its
    best weights are those before.
    """

    folder: Path
    variant: str
    vocabulary_size: int
    num_parameters: int
    num_code_values: int
    words: int
    best_words: int
    stopped_early: bool
    learning_rate: float
    dev_perplexity: float
    gap_mean: float
    gap_std: float
    seconds: float
    words_per_second: float
    words_before: int = 0
    diverged: str | None = None
    trials: tuple[Trial, ...] = ()

    @property
    def is_useless(self) -> bool:
        """Whether the model predicts worse than a uniform guess over its vocabulary, or nothing at all."""
        return not self.dev_perplexity <= self.vocabulary_size
