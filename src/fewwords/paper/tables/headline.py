"""The result in a few sentences, and the table that goes with them into a README.

At the largest of the paper's vocabulary sizes that has both LSTM-z,w and LSTM-z, or else at the largest that has both: on
all words where both were run there, or else with the small budget.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fewwords.evaluation.spelling import Spelled
from fewwords.paper.plan import planned_on_all_words
from fewwords.paper.tables.memory import dense_numbers, reductions
from fewwords.paper.tables.perplexity import WHOLE_ROWS
from fewwords.paper.tables.print_figures import DASH, NOT_RUN, megabytes, percent, perplexity, signed
from fewwords.paper.tables.published import TABLE_4, VOCABULARY_SIZES, label, published_perplexity
from fewwords.paper.tables.results import Pair, Results
from fewwords.paper.tables.seeds import Comparison
from fewwords.paper.tables.spelled import cell_bits, told_bits
from fewwords.paper.tables.table import Table, Value
from fewwords.readable import quantity

MISSING = "LSTM-z and LSTM-z,w have not both been run yet."


@dataclass(frozen=True)
class Largest:
    """LSTM-z,w at a larger vocabulary than the headline's; LSTM-z has no perplexity there if it was not trained.

    `bits` are its bits per character, `dense_bits` those of LSTM-z with the `dense_size` words of the headline.
    """

    vocab_size: int
    dense_size: int
    megabytes: float
    dense_megabytes: float
    ppl: float
    dense_ppl: float | None
    kn3_ppl: float | None
    bits: float | None
    dense_bits: float | None

    @property
    def says(self) -> str:
        """The sentence."""
        third = "" if self.kn3_ppl is None else f" (the 3-gram model: {self.kn3_ppl:.1f})"
        compared = (
            ""
            if self.bits is None or self.dense_bits is None
            else " Over different vocabularies bits per character can be compared, with unknown words spelled out: "
            f"{self.bits:.3f} for LSTM-z,w with {self.vocab_size:,} words, "
            f"{self.dense_bits:.3f} for LSTM-z with {self.dense_size:,}."
        )
        dense = (
            f"would have {self.dense_megabytes:.1f} MB"
            if self.dense_ppl is None
            else f"has {self.dense_megabytes:.1f} MB and {self.dense_ppl:.1f}"
        )
        return (
            f"With {self.vocab_size:,} words LSTM-z,w has {self.megabytes:.1f} MB and a perplexity of {self.ppl:.1f}{third}; "
            f"LSTM-z {dense}.{compared}"
        )


@dataclass(frozen=True)
class Headline:
    """How small and how good LSTM-z,w is beside LSTM-z and KN3; sizes in megabytes of float32.

    `largest` is the same panel's LSTM-z,w at a larger vocabulary, if there is one.
    """

    vocab_size: int
    train_words: int
    on_all_words: bool
    megabytes: float
    dense_megabytes: float
    reduction_percent: float | None
    ppl: float
    dense_ppl: float
    kn3_ppl: float | None
    comparison: Comparison
    largest: Largest | None

    @property
    def says(self) -> str:
        """The sentences."""
        saved = "" if self.reduction_percent is None else f", {self.reduction_percent:.0f} % smaller"
        words = f"{'all ' if self.on_all_words else ''}{quantity(self.train_words)} words"
        third = "" if self.kn3_ppl is None else f" A Kneser-Ney 3-gram model of the same words has {self.kn3_ppl:.1f}."
        return (
            f"With a vocabulary of {self.vocab_size:,} words, coding takes LSTM-z from {self.dense_megabytes:.1f} MB to "
            f"{self.megabytes:.1f} MB (LSTM-z,w, float32{saved}). Trained on {words}, LSTM-z,w has a test perplexity of "
            f"{self.ppl:.1f} against {self.dense_ppl:.1f}: {self._difference}.{third}"
            f"{'' if self.largest is None else f' {self.largest.says}'}"
        )

    @property
    def _difference(self) -> str:
        found, side = self.comparison, self.comparison.side()
        change = 100 * (found.ratio - 1)
        if found.spread is None or side is None:
            return f"{signed(change)} %, one seed each and no spread measured"
        if side == 0:
            return f"{signed(change)} %, which is within twice the spread of seeds ({100 * found.spread:.1f} %)"
        where = " (one seed: the largest measured elsewhere)" if found.pooled else ""
        word = "lower" if side < 0 else "higher"
        return f"{abs(change):.1f} % {word}, with a spread of seeds of {100 * found.spread:.1f} %{where}"


def make_headline(results: Results, spelled: Mapping[int, Spelled]) -> Headline | None:
    """The headline; None if no vocabulary size has both LSTMs."""
    pairs = [pair for size in results.sizes if (pair := results.pair("lstm-z-w", "lstm-z", size)) is not None]
    for pair in sorted(pairs, key=_worth, reverse=True):
        coded, dense, found = pair.left, pair.right, pair.comparison
        if found is None or coded.mean is None or dense.mean is None:
            continue
        size = coded.first.vocab_size
        kneser_ney = results.find("kn3", size, on_all_words=pair.on_all_words)
        return Headline(
            vocab_size=size,
            train_words=coded.first.train_words,
            on_all_words=pair.on_all_words,
            megabytes=megabytes(coded.first.numbers),
            dense_megabytes=megabytes(dense.first.numbers),
            reduction_percent=coded.first.reduction_percent,
            ppl=coded.mean,
            dense_ppl=dense.mean,
            kn3_ppl=None if kneser_ney is None else kneser_ney.mean,
            comparison=found,
            largest=_largest(results, pair, spelled),
        )
    return None


def _worth(pair: Pair) -> tuple[bool, bool, int]:
    size = pair.left.first.vocab_size
    return pair.on_all_words, size in VOCABULARY_SIZES, size


def _largest(results: Results, pair: Pair, spelled: Mapping[int, Spelled]) -> Largest | None:
    dense_size = pair.right.first.vocab_size
    for size in sorted((size for size in results.sizes if size > dense_size), reverse=True):
        coded, dense, kneser_ney = (
            results.find(model, size, on_all_words=pair.on_all_words) for model in ("lstm-z-w", "lstm-z", "kn3")
        )
        if coded is not None and coded.mean is not None:
            return Largest(
                vocab_size=size,
                dense_size=dense_size,
                megabytes=megabytes(coded.first.numbers),
                dense_megabytes=megabytes(dense_numbers(size)),
                ppl=coded.mean,
                dense_ppl=None if dense is None else dense.mean,
                kn3_ppl=None if kneser_ney is None else kneser_ney.mean,
                bits=cell_bits(coded, spelled.get(size)),
                dense_bits=cell_bits(pair.right, spelled.get(dense_size)),
            )
    return None


def headline_table(results: Results, headline: Headline | None, spelled: Mapping[int, Spelled]) -> Table:
    """Models by the vocabulary sizes that have LSTM-z,w: our perplexity, the paper's beside it, and what LSTM-z,w saves."""
    panel = results.whole if headline is not None and headline.on_all_words else results.small or results.whole
    sizes = sorted({size for model, size in panel if model == "lstm-z-w"} or {size for _, size in panel})
    rows = []
    planned = planned_on_all_words()
    for model in (model for model in WHOLE_ROWS if any((model, size) in panel for size in sizes)):
        figures = [
            perplexity(panel.get((model, size)), planned=panel is results.small or (model, size) in planned)
            for size in sizes
        ]
        places = [Value(told, _beside(published_perplexity(model, size))) for told, size in zip(figures, sizes)]
        rows.append([Value(label(model), style="strong" if model == "lstm-z-w" else ""), *places])
    if spelled:
        told = [
            " → ".join(told_bits(panel, model, size, spelled) for model in ("lstm-z", "lstm-z-w")) for size in sizes
        ]
        rows.append([Value("bits per character, LSTM-z → LSTM-z,w"), *map(Value, told)])
    saved = {each.vocab_size: each for each in reductions(results) if each.model == "lstm-z-w"}
    if saved:
        sums = [
            f"{megabytes(dense_numbers(size)):.1f} → {megabytes(saved[size].numbers):.1f}" if size in saved else NOT_RUN
            for size in sizes
        ]
        rows.append([Value("MB, LSTM-z → LSTM-z,w"), *map(Value, sums)])
        rows.append(
            [
                Value("smaller by"),
                *(
                    Value(
                        percent(saved[size].percent) if size in saved else DASH, _beside(TABLE_4["lstm-z-w"].get(size))
                    )
                    for size in sizes
                ),
            ]
        )
    words = max((runs.first.train_words for runs in panel.values()), default=0)
    title = f"perplexity after {quantity(words)} words (the paper's)" if words else "perplexity (the paper's)"
    return Table("headline", "", (title, *(f"V = {size:,}" for size in sizes)), rows)


def _beside(paper: float | None) -> str:
    return "" if paper is None else f"{paper:.1f}"
