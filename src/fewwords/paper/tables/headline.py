"""The result in three sentences, at the largest vocabulary size that has both the coded and the dense model."""

from collections.abc import Mapping, Sequence
from typing import Any

from fewwords.paper.tables.print_figures import signed
from fewwords.paper.tables.seeds import Cell, compare
from fewwords.readable import quantity


def make_headline(
    cells: Mapping[tuple[str, int], Cell],
    sizes: list[int],
    table4: Mapping[str, Mapping[str, float]],
    more_words: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any] | None:
    """How small and how good LSTM-z,w is beside LSTM-z and KN3; None when no vocabulary size has both LSTMs.

    `more_words` are the runs with more words, of which the longest are told too.
    """
    for size in reversed(sizes):
        coded, dense = cells.get(("lstm-z-w", size)), cells.get(("lstm-z", size))
        found = compare(coded, dense)
        if coded is None or dense is None or found is None:
            continue
        kneser_ney = cells.get(("kn3", size))
        percent, side = 100 * (found.ratio - 1), found.side()
        if found.spread is None or side is None:
            difference = f"{signed(percent)} %, one seed each and no spread measured"
        elif side == 0:
            difference = f"{signed(percent)} %, which is within twice the spread of seeds ({100 * found.spread:.1f} %)"
        else:
            word = "lower" if side < 0 else "higher"
            where = " (one seed: the largest measured elsewhere)" if found.pooled else ""
            difference = f"{abs(percent):.1f} % {word}, with a spread of seeds of {100 * found.spread:.1f} %{where}"
        saved = table4.get("lstm-z-w", {}).get(str(size))
        smaller = "" if saved is None else f"stores {saved:.1f} % fewer numbers than LSTM-z, its dense twin, and "
        third = ""
        if kneser_ney is not None and kneser_ney.mean is not None:
            words = quantity(kneser_ney.first["train_words"])
            third = f" A Kneser-Ney 3-gram model of the same {words} words has {kneser_ney.mean:.1f}."
        return {
            "vocab_size": size,
            "reduction_percent": saved,
            "numbers": coded.first["numbers"],
            "dense_numbers": dense.first["numbers"],
            "ppl": coded.mean,
            "dense_ppl": dense.mean,
            "kn3_ppl": kneser_ney.mean if kneser_ney else None,
            "ratio": found.ratio,
            "relative_spread": found.spread,
            "train_words": coded.first["train_words"],
            "says": f"With a vocabulary of {size:,} words LSTM-z,w {smaller}has a perplexity of {coded.mean:.1f} "
            f"against {dense.mean:.1f}: {difference}.{third}{_with_more_words(cells, size, more_words)}",
        }
    return None


def _with_more_words(cells: Mapping[tuple[str, int], Cell], size: int, runs: Sequence[Mapping[str, Any]]) -> str:
    """` Trained on 20.0 M words they have 105.6 and 116.0.`, and the 3-gram model of all words; nothing without such runs."""
    found = {
        (run["model"], run["train_words"]): run["mean"] for run in runs if run["vocab_size"] == size and run["mean"]
    }
    both = [words for model, words in found if model == "lstm-z-w" and ("lstm-z", words) in found]
    if not both:
        return ""
    words = max(both)
    told = (
        f" Trained on {quantity(words)} words they have {found['lstm-z-w', words]:.1f} and {found['lstm-z', words]:.1f}"
    )
    kneser_ney = cells.get(("kn3-all", size))
    if kneser_ney is None or kneser_ney.mean is None:
        return f"{told}."
    return (
        f"{told}, the 3-gram model of all {quantity(kneser_ney.first['train_words'])} words has {kneser_ney.mean:.1f}."
    )
