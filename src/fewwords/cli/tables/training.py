"""The tables of a finished training run, neural or Kneser-Ney."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from fewwords.cli.tables.table import fact_table
from fewwords.readable import duration
from fewwords.training.summary import TrainingSummary, Trial

if TYPE_CHECKING:
    from fewwords.training.kneser_ney import KneserNeySummary


def summary_tables(summary: "TrainingSummary | KneserNeySummary") -> Iterator[Table]:
    """The result of training, and of the learning rates that were tried before it."""
    if not isinstance(summary, TrainingSummary):
        yield _kneser_ney_table(summary)
        return
    if summary.trials:
        yield _trial_table(summary.trials, summary.learning_rate)
    yield _summary_table(summary)


def _summary_table(summary: TrainingSummary) -> Table:
    """The result of a neural model's training."""
    codes = f" and {summary.num_code_values:,} numbers of the codes" if summary.num_code_values else ""
    ending = ", stopped early" if summary.stopped_early else ""
    return fact_table(
        f"Training of {summary.variant}",
        [
            ("model", str(summary.folder)),
            ("vocabulary", f"{summary.vocabulary_size:,} words"),
            ("parameters", f"{summary.num_parameters:,}{codes}"),
            ("trained on", f"{summary.words:,} words{ending}; the best weights are those after {summary.best_words:,}"),
            ("learning rate", f"{summary.learning_rate:g}"),
            ("dev perplexity", f"{summary.dev_perplexity:.2f}"),
            ("ln Z less the normaliser's", f"{summary.gap_mean:+.3f}, deviation {summary.gap_std:.3f}"),
            ("time", f"{duration(summary.seconds)}, {summary.words_per_second:,.0f} words/s in training"),
        ],
    )


def _trial_table(trials: Sequence[Trial], best: float) -> Table:
    """Dev perplexity by learning rate, the best one marked."""
    table = Table(
        "learning rate", "dev perplexity", "", title="Learning rates", title_justify="left", title_style="bold"
    )
    for trial in trials:
        table.add_row(f"{trial.learning_rate:g}", trial.told, "taken" if trial.learning_rate == best else "")
    return table


def _kneser_ney_table(summary: "KneserNeySummary") -> Table:
    """The result of a Kneser-Ney model's estimation."""
    size = summary.model.size
    return fact_table(
        f"Training of {summary.model.variant}",
        [
            ("model", str(summary.folder)),
            ("vocabulary", f"{summary.model.num_words:,} words"),
            ("n-grams of each order", ", ".join(f"{count:,}" for count in size.num_ngrams)),
            (
                "probabilities and back-off weights",
                f"{size.num_values:,}, {size.num_bytes / 1e6:.1f} MB with their tree",
            ),
            ("trained on", f"{summary.words:,} words"),
            ("dev perplexity", f"{summary.dev_perplexity:.2f}"),
            ("time", duration(summary.seconds)),
        ],
    )
