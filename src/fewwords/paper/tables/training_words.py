"""What more text does: LSTM-z,w over LSTM-z and KN3 over LSTM-z,w by training words, at one vocabulary size."""

from dataclasses import dataclass

from fewwords.paper.tables.results import Results
from fewwords.paper.tables.seeds import Comparison, Runs, compare


@dataclass(frozen=True)
class WordsPoint:
    """The ratios of two pairs of models that were trained on the same words; None if one of a pair was not run."""

    train_words: int
    coded_over_dense: Comparison
    kn3_over_coded: Comparison | None


@dataclass(frozen=True)
class WordsCurve:
    """The points at the vocabulary size that has most of them, the largest size if several do."""

    vocab_size: int
    points: tuple[WordsPoint, ...]


def words_curve(results: Results) -> WordsCurve | None:
    """The curve; None if no vocabulary size has LSTM-z and LSTM-z,w at two budgets."""
    curves = [WordsCurve(size, _points(results, size)) for size in results.sizes]
    best = max(curves, key=lambda each: (len(each.points), each.vocab_size), default=None)
    return best if best is not None and len(best.points) > 1 else None


def _points(results: Results, size: int) -> tuple[WordsPoint, ...]:
    panels = (results.small, results.whole)
    budgets = [{model: runs for (model, at), runs in panel.items() if at == size} for panel in panels]
    between: dict[int, dict[str, Runs]] = {}
    for runs in results.longer:
        if runs.first.vocab_size == size:
            # a run ends with the batch that reaches its budget, so runs differ by a few words
            between.setdefault(round(runs.first.train_words, -5), {})[runs.first.model] = runs
    points = []
    for models in (*budgets, *between.values()):
        found = compare(models.get("lstm-z-w"), models.get("lstm-z"))
        if found is not None:
            kneser_ney = compare(models.get("kn3"), models.get("lstm-z-w"))
            points.append(WordsPoint(models["lstm-z-w"].first.train_words, found, kneser_ney))
    return tuple(sorted(points, key=lambda each: each.train_words))
