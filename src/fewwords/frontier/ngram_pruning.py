"""Entropy pruning of a 3-gram model (Stolcke, 1998), and back-off weights that make every context sum to one again.

Without h w, p(w | h) becomes a'(h) p(w | h') with h' the context without its first word, and the model's distribution moves by
    P(h) (p(w | h) (ln p(w | h) - ln p(w | h') - ln a'(h)) + (ln a(h) - ln a'(h)) (1 - sum of p over the children of h)).
P(h) is the relative frequency of the first word, times p of the second: the lower orders of Kneser-Ney are no
frequencies, and pruning by them alone is known to be poor (Chelba et al., 2010).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewwords.models.kneser_ney.trie import NOWHERE, Float32s, Int64s, Trie, find_rows

Float64s = NDArray[np.float64]
_LEAST = 1e-12  # of the probability that a context leaves to other words


@dataclass(frozen=True, eq=False)
class Losses:
    """What the removal of each 2-gram and each 3-gram costs, in nats per word; `parents` [2-grams, 3-grams] are nodes."""

    of_pairs: Float64s
    of_triples: Float64s
    parents: tuple[Int64s, Int64s]


def removal_losses(trie: Trie, counts: Int64s) -> Losses:
    """The losses of a model of order 3 whose words occur `counts` [V] times."""
    parents = tuple(parents_of(trie, order) for order in (2, 3))
    occurred = counts / counts.sum()
    first_words = parents[0]
    reached = occurred[first_words] * probs_of(trie.log10_probs[trie.level(2)])
    weights = (occurred, reached)
    found = [
        _losses(parents[order - 2], weights[order - 2], order, trie, trie.level(order - 1).start) for order in (2, 3)
    ]
    return Losses(found[0], found[1], (parents[0], parents[1]))


def _losses(parents: Int64s, weights: Float64s, order: int, trie: Trie, first: int) -> Float64s:
    probs, below = probs_of(trie.log10_probs[trie.level(order)]), lower_probs(trie, order, parents)
    rows = parents - first  # of the contexts within their order
    left, left_below = (1 - np.bincount(rows, each, len(weights)) for each in (probs, below))
    left, left_below = np.maximum(left, _LEAST), np.maximum(left_below, _LEAST)
    new = np.log((left[rows] + probs) / (left_below[rows] + below))
    old = np.log(left / left_below)[rows]
    moved: Float64s = weights[rows] * (probs * (np.log(probs / below) - new) + (old - new) * left[rows])
    return moved


def parents_of(trie: Trie, order: int) -> Int64s:
    """The node of which each n-gram of an order is a child, [n-grams]."""
    contexts = trie.level(order - 1)
    counts = np.diff(trie.children[contexts.start : contexts.stop + 1])
    return np.repeat(np.arange(contexts.start, contexts.stop), counts)


def lower_probs(trie: Trie, order: int, parents: Int64s) -> Float64s:
    """p(w | h') of each n-gram h w of an order, by the orders below it."""
    words = trie.words[trie.level(order)].astype(np.int64)
    single = probs_of(trie.log10_probs[words])
    if order == 2:
        return single
    last = trie.words[parents].astype(np.int64)  # of the context
    nodes = find_rows(trie.words, trie.children, last, words)
    backed_off = probs_of(trie.log10_backoffs[last]) * single
    return np.where(nodes == NOWHERE, backed_off, probs_of(trie.log10_probs[nodes]))


def without(trie: Trie, losses: Losses, threshold: float) -> Trie:
    """The tree without n-grams that cost less than `threshold`, but with those that others begin with."""
    kept_triples = losses.of_triples >= threshold
    pairs, triples = trie.level(2), trie.level(3)
    needed = np.bincount(losses.parents[1][kept_triples] - pairs.start, minlength=trie.sizes[1]) > 0
    kept_pairs = (losses.of_pairs >= threshold) | needed
    of_words = np.bincount(losses.parents[0][kept_pairs], minlength=trie.num_words)
    of_pairs = np.bincount(losses.parents[1][kept_triples] - pairs.start, minlength=trie.sizes[1])[kept_pairs]
    kept = np.concatenate([np.ones(trie.num_words, np.bool_), kept_pairs, kept_triples])
    sizes = (trie.num_words, int(kept_pairs.sum()), int(kept_triples.sum()))
    starts = np.cumsum([trie.num_words, *of_words, *of_pairs])
    smaller = Trie(trie.words[kept], trie.log10_probs[kept], trie.log10_backoffs[kept[: triples.start]], starts, sizes)
    return with_probs(smaller, smaller.log10_probs)


def with_probs(trie: Trie, log10_probs: Float32s) -> Trie:
    """The tree with other probabilities, and the back-off weights that make all contexts sum to one."""
    found = Trie(trie.words, log10_probs, np.zeros_like(trie.log10_backoffs), trie.children, trie.sizes)
    for order in (2, 3):
        parents, contexts = parents_of(found, order), found.level(order - 1)
        probs, below = probs_of(log10_probs[found.level(order)]), lower_probs(found, order, parents)
        rows, num_contexts = parents - contexts.start, contexts.stop - contexts.start
        left, left_below = (1 - np.bincount(rows, each, num_contexts) for each in (probs, below))
        ratio = np.maximum(left, _LEAST) / np.maximum(left_below, _LEAST)
        found.log10_backoffs[contexts] = np.log10(ratio)
    return found


def probs_of(log10_probs: NDArray[np.floating]) -> Float64s:
    """Probabilities from logs to base 10."""
    return np.asarray(10.0 ** log10_probs.astype(np.float64))
