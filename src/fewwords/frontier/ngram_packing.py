"""A 3-gram model in few bytes: probabilities and back-off weights in 8 bits, the tree in Rice's code.

Each order has its own table of 256 probabilities, and one of back-off weights; only n-grams with children have a weight.
The words of a node's children ascend, and what is stored are the gaps between them, as for sparse codes: the lower bits as
they are, the others in unary. How many lower bits depends on the number of children, which is stored in the same way.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewwords.frontier.ngram_pruning import Losses, removal_losses, with_probs, without
from fewwords.models.kneser_ney.model import KneserNey
from fewwords.models.kneser_ney.trie import Int64s, Trie
from fewwords.models.packed.bits import MOST_BITS, Bytes, pack, pack_unary
from fewwords.models.packed.words import encode_words
from fewwords.packing.quantise import quantise_values
from fewwords.vocabulary import START_ID

VALUE_BITS = 8
_SEARCH_STEPS = 16
_TABLE_BYTES = 4 * 2**VALUE_BITS
_HEADER_BYTES = 200  # sizes, and where each array begins


@dataclass(frozen=True, eq=False)
class PackedNgrams:
    """A model with the very values of the packed one, and the bytes that it takes."""

    model: KneserNey
    num_bytes: int


def pack_to(model: KneserNey, budget: float, losses: Losses | None = None) -> PackedNgrams:
    """The model pruned by entropy to at most `budget` bytes, and quantised."""
    losses = losses or removal_losses(model.trie, model.vocabulary.counts)
    fixed = sum(array.nbytes for array in encode_words(model.vocabulary).values()) + _HEADER_BYTES
    best = without(model.trie, losses, np.inf)
    low, high = -30.0, 0.0  # ln of the threshold
    for _ in range(_SEARCH_STEPS):
        middle = (low + high) / 2
        tried = without(model.trie, losses, float(np.exp(middle)))
        if fixed + tree_bytes(tried) <= budget:
            best, high = tried, middle
        else:
            low = middle
    trie = quantised(best)
    pruned = KneserNey(model.vocabulary, trie, model.settings, model.made_from, model.rules)
    return PackedNgrams(pruned, fixed + tree_bytes(trie))


def tree_bytes(trie: Trie) -> int:
    """The bytes of values and tree, tables included, without the words themselves."""
    counts = np.diff(trie.children)
    num_values = sum(trie.sizes) + int((counts > 0).sum())  # a byte each
    coded = [*_rice_by_class(counts, np.zeros_like(counts))]
    for order in (2, 3):
        contexts, level = trie.level(order - 1), trie.level(order)
        sizes = counts[contexts]
        words = trie.words[level].astype(np.int64)
        gaps = np.diff(words, prepend=-1) - 1
        firsts = (np.cumsum(sizes) - sizes)[sizes > 0]
        gaps[firsts] = words[firsts]
        coded += _rice_by_class(gaps, np.repeat(_num_bits(sizes), sizes))
    return int(num_values + 5 * _TABLE_BYTES + sum(array.nbytes for array in coded))


def _num_bits(values: Int64s) -> Int64s:
    return np.ceil(np.log2(values + 1)).astype(np.int64)


def _rice_by_class(values: Int64s, classes: Int64s) -> list[Bytes]:
    """Integers in Rice's code, with the best number of lower bits for each class."""
    found = []
    for each in np.unique(classes):
        some = values[classes == each]
        low_bits = min(range(MOST_BITS + 1), key=lambda bits: len(some) * (bits + 1) + int((some >> bits).sum()))
        found.append(pack_unary(some >> low_bits))
        if low_bits:
            found.append(pack(some & ((1 << low_bits) - 1), low_bits))
    return found


def quantised(trie: Trie) -> Trie:
    """The tree with values of 8 bits: probabilities first, then back-off weights for those probabilities."""
    probs = trie.log10_probs.copy()
    for order in (1, 2, 3):
        nodes = np.arange(trie.level(order).start, trie.level(order).stop)
        nodes = nodes[nodes != START_ID]  # never predicted
        probs[nodes] = -_rounded(-probs[nodes])
    words = np.arange(trie.num_words) != START_ID
    probs[: trie.num_words][words] -= np.log10((10.0 ** probs[: trie.num_words][words].astype(np.float64)).sum())
    found = with_probs(trie, np.minimum(probs, 0))
    counts = np.diff(trie.children)
    for order in (1, 2):
        nodes = np.arange(trie.level(order).start, trie.level(order).stop)
        nodes = nodes[counts[nodes] > 0]
        found.log10_backoffs[nodes] = _rounded(found.log10_backoffs[nodes])
    return found


def _rounded(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Values from the best table of 256."""
    if not len(values):
        return values
    lowest = values.min() - 1
    levels, table = quantise_values(values - lowest, VALUE_BITS)  # it is for positive values
    return np.asarray(table[levels] + lowest)
