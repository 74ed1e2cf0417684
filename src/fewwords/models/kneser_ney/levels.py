"""Probabilities and back-off weights of one order from its counts and the next lower order (Chen and Goodman 1999).

With c(h) the sum of the counts c(h w) after a context h, and D(c) the discount of a count c, the interpolated model is
    p(w | h) = (c(h w) - D(c(h w))) / c(h) + g(h) p(w | h'),
    g(h) = (sum of D over the kept + sum of c over the pruned) / c(h),
with h' the context without its first word. The back-off model drops g(h) p(w | h') where h w was seen and gives unseen
words p(w | h) = b(h) p(w | h') with the b(h) that makes the sum one. Single words are always interpolated with the
uniform distribution over all words except `<s>`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewwords.models.kneser_ney.compiled import compiled
from fewwords.models.kneser_ney.counts import PIECE_ROWS, NgramCounts
from fewwords.models.kneser_ney.discounts import Discounts
from fewwords.models.kneser_ney.keys import DirectKeys, Keys
from fewwords.models.kneser_ney.trie import Int64s, UInt32s, find_child
from fewwords.progress import Progress
from fewwords.vocabulary import START_ID

Float64s = NDArray[np.float64]


@dataclass
class Level:
    """The kept n-grams of one order: `keys` and their `rows`, ascending, the last `words`, `probs`, all [rows].

    `suffixes`: the row, one order below, of each n-gram without its first word. `starts` [rows + 1] and `backoffs`
    [rows] belong to the order above: where the children of each n-gram start, and its back-off weight.
    """

    keys: Keys
    rows: Int64s
    words: UInt32s
    probs: Float64s
    suffixes: Int64s
    starts: Int64s
    backoffs: Float64s


def empty_context(num_words: int) -> Level:
    """The n-gram of no words, whose children are all words."""
    row = np.zeros(1, np.int64)
    return Level(DirectKeys(1, 1), row, row.astype(np.uint32), np.ones(1), row, np.array([0, num_words]), np.ones(1))


def word_level(ngrams: NgramCounts, num_words: int, discounts: Discounts) -> Level:
    """The single words, whether they occur or not."""
    counts = np.zeros(num_words)
    counts[ngrams.rows] = ngrams.counts
    taken = np.array([0.0, *discounts])[np.minimum(counts, 3).astype(np.int64)]
    probs = (counts - taken + taken.sum() / (num_words - 1)) / counts.sum()
    probs[START_ID] = 0
    ids = np.arange(num_words)
    return Level(
        ngrams.keys,
        ids,
        ids.astype(np.uint32),
        probs,
        np.zeros(num_words, np.int64),
        np.zeros(0, np.int64),
        np.zeros(0),
    )


def next_level(
    ngrams: NgramCounts,
    lower: Level,
    lowest: Level,
    discounts: Discounts,
    *,
    num_words: int,
    interpolate: bool,
    is_last: bool,
    kept: NDArray[np.bool_] | None = None,
) -> Level:
    """The level above `lower`, which is above `lowest`; fills in the starts and back-off weights of `lower`.

    `kept` [rows of `ngrams`] says which n-grams stay; their contexts must be in `lower`. The last level has no
    suffixes.
    """
    if kept is None:
        kept = np.ones(len(ngrams.rows), np.bool_)
    num_kept = sum(int(np.count_nonzero(kept[rows])) for rows in ngrams.stretches)
    level = Level(
        ngrams.keys,
        np.empty(0 if is_last else num_kept, np.int64),
        np.empty(num_kept, np.uint32),
        np.empty(num_kept),
        np.empty(0 if is_last else num_kept, np.int64),
        np.zeros(0, np.int64),
        np.zeros(0),
    )
    sizes = np.zeros(len(lower.words), np.int64)
    lower.backoffs = np.ones(len(lower.words))
    done = 0
    with Progress(f"estimating {ngrams.keys.order}-grams", ngrams.num_ngrams, "n-grams") as progress:
        for piece in _pieces(ngrams, kept, lower, max(PIECE_ROWS, 2 * num_words)):
            added = _fill(
                piece.contexts,
                piece.words,
                piece.counts,
                piece.kept,
                np.array([0.0, *discounts]),
                interpolate,
                num_words - 1,
                lower.suffixes,
                lowest.starts,
                lower.words,
                lower.probs,
                level.words[done:],
                level.probs[done:],
                level.suffixes[done:],
                sizes,
                lower.backoffs,
            )
            if not is_last:
                level.rows[done : done + added] = piece.rows[piece.kept]
            done += added
            progress.advance(len(piece.rows))
    lower.starts = np.concatenate([[0], np.cumsum(sizes)])
    return level


class _Piece(NamedTuple):
    """Some n-grams, all [rows]; the children of a context are in one piece."""

    rows: Int64s
    contexts: Int64s  # rows of the level below
    words: Int64s
    counts: Int64s
    kept: NDArray[np.bool_]


def _pieces(ngrams: NgramCounts, kept: NDArray[np.bool_], lower: Level, most_rows: int) -> Iterator[_Piece]:
    """The n-grams whose contexts are in `lower`; `most_rows` must exceed the number of children of any context."""
    lower_rows = np.append(lower.rows, -1)  # a place for contexts past the end
    for stretch in ngrams.stretches:
        start = stretch.start
        while start < stretch.stop:
            stop = min(start + most_rows, stretch.stop)
            context_rows, words = ngrams.keys.split_last(ngrams.rows[start:stop], lower.keys)
            if stop < stretch.stop:
                stop = start + int(np.searchsorted(context_rows, context_rows[-1]))
            here, all_here = slice(start, stop), slice(0, stop - start)
            contexts = np.searchsorted(lower.rows, context_rows[all_here])
            # where a context was pruned, so were its children, and the model never needs them
            known = lower_rows[contexts] == context_rows[all_here]
            columns = (ngrams.rows[here], contexts, words[all_here], ngrams.counts[here], kept[here])
            yield _Piece(*columns) if known.all() else _Piece(*(column[known] for column in columns))
            start = stop


@compiled
def _fill(
    contexts: Int64s,
    words: Int64s,
    counts: Int64s,
    kept: NDArray[np.bool_],
    discounts: Float64s,
    interpolate: bool,
    num_predictable: int,
    suffixes: Int64s,
    starts: Int64s,
    lower_words: UInt32s,
    lower_probs: Float64s,
    out_words: UInt32s,
    out_probs: Float64s,
    out_suffixes: Int64s,
    sizes: Int64s,
    backoffs: Float64s,
) -> int:
    """Context by context: weights into `sizes` and `backoffs`, kept n-grams into the outputs; returns how many."""
    done = 0
    first = 0
    while first < len(contexts):
        context = contexts[first]
        stop = first
        total = 0.0
        spared = 0.0
        while stop < len(contexts) and contexts[stop] == context:
            total += counts[stop]
            spared += discounts[min(counts[stop], 3)] if kept[stop] else np.float64(counts[stop])
            stop += 1
        spared /= total
        # the same words follow the shorter context in the same order, so each search starts where the last one ended
        place, end = starts[suffixes[context]], starts[suffixes[context] + 1]
        begin = done
        seen_below = 0.0
        for row in range(first, stop):
            if not kept[row]:
                continue
            place = find_child(lower_words, place, end, words[row])
            prob = (counts[row] - discounts[min(counts[row], 3)]) / total
            if interpolate:
                prob += spared * lower_probs[place]
            seen_below += lower_probs[place]
            out_words[done] = words[row]
            out_probs[done] = prob
            if len(out_suffixes):
                out_suffixes[done] = place
            done += 1
        backoff = spared
        if not interpolate:
            if done - begin == num_predictable:
                # no word is left to back off to: the kept ones share the discounted mass
                out_probs[begin:done] /= 1 - spared
                backoff = 1.0
            else:
                backoff = spared / (1 - seen_below)
        backoffs[context] = backoff
        sizes[context] = done - begin
        first = stop
    return done
