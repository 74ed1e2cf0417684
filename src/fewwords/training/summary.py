"""The results of a training run and of the short runs that chose its rate."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Trial:
    """A short run at one learning rate; perplexity None: it diverged."""

    learning_rate: float
    dev_perplexity: float | None

    @property
    def told(self) -> str:
        """The perplexity, or that there is none."""
        return "diverged" if self.dev_perplexity is None else f"dev perplexity {self.dev_perplexity:.2f}"


@dataclass(frozen=True)
class TrainingSummary:
    """The result of a run: `dev_perplexity` is of the whole dev part, of the best weights, which `folder` holds."""

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
    trials: tuple[Trial, ...] = ()
