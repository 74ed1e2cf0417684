"""What a finished training run is told by."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from fewwords.console import duration


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


def summary_table(summary: TrainingSummary) -> Table:
    """The summary for the screen."""
    table = Table(
        "", "", title=f"Training of {summary.variant}", title_justify="left", title_style="bold", show_header=False
    )
    table.add_row("model", str(summary.folder))
    table.add_row("vocabulary", f"{summary.vocabulary_size:,} words")
    codes = f" and {summary.num_code_values:,} numbers of the codes" if summary.num_code_values else ""
    table.add_row("parameters", f"{summary.num_parameters:,}{codes}")
    ending = ", stopped early" if summary.stopped_early else ""
    table.add_row(
        "trained on", f"{summary.words:,} words{ending}; the best weights are those after {summary.best_words:,}"
    )
    table.add_row("learning rate", f"{summary.learning_rate:g}")
    table.add_row("dev perplexity", f"{summary.dev_perplexity:.2f}")
    table.add_row("ln Z less the normaliser's", f"{summary.gap_mean:+.3f}, deviation {summary.gap_std:.3f}")
    table.add_row("time", f"{duration(summary.seconds)}, {summary.words_per_second:,.0f} words/s in training")
    return table


def trial_table(trials: Sequence[Trial], best: float) -> Table:
    """Dev perplexity by learning rate, the best one marked."""
    table = Table(
        "learning rate", "dev perplexity", "", title="Learning rates", title_justify="left", title_style="bold"
    )
    for trial in trials:
        table.add_row(f"{trial.learning_rate:g}", trial.told, "taken" if trial.learning_rate == best else "")
    return table
