"""An n-gram as one 64-bit number, such that numbers sort as n-grams do, first word first.

Over V words, w1 … wn is the number w1 V^(n-1) + … + wn as long as V^n fits into 63 bits. Otherwise the n-gram is cut
into two halves, each half is replaced by its rank among the halves that occur, and the two ranks make the number. (Two
words always fit.)
A sentence w1 … wm stands for `<s>` … `<s>` w1 … wm `</s>`, with one n-gram ending at each word and at `</s>`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewwords.models.kneser_ney.compiled import compiled
from fewwords.vocabulary import END_ID, START_ID

Ids = NDArray[np.int64]
LARGEST_KEY = 2**63 - 1


def fits_directly(size: int, order: int) -> bool:
    """Whether n-grams over `size` words need no ranks."""
    return power(size, order) <= LARGEST_KEY


def power(size: int, exponent: int) -> int:
    """The number of possible n-grams of `exponent` words."""
    return int(size**exponent)


@dataclass(frozen=True)
class DirectKeys:
    """Keys of `order` words as numbers to base `size`."""

    size: int
    order: int

    def of_windows(self, tokens: Ids, lengths: Ids, delay: int = 0) -> Ids:
        """The keys of the n-grams that end `delay` words before each target of sentences, [words + sentences]."""
        keys = np.empty(len(tokens) + len(lengths), np.int64)
        start = int(self.pack(np.full((self.order, 1), START_ID, np.int64))[0])
        _window_keys(tokens, lengths, self.size, power(self.size, self.order - 1), start, delay, keys)
        return keys

    def pack(self, words: Ids) -> Ids:
        """The keys [rows] of n-grams, words [order, rows]."""
        keys: Ids = words[0].copy()
        for column in words[1:]:
            keys *= self.size
            keys += column
        return keys

    def unpack(self, keys: Ids) -> Ids:
        """The words [order, rows] of keys [rows]."""
        words = np.empty((self.order, len(keys)), np.int64)
        rest = keys
        for place in range(self.order - 1, 0, -1):
            rest, words[place] = np.divmod(rest, self.size)
        words[0] = rest
        return words

    def lower_bound(self, first: int, second: int) -> int:
        """The smallest possible key of an n-gram that starts with these two words."""
        return (first * self.size + second) * power(self.size, self.order - 2)

    def without_first(self, keys: Ids, lower: "Keys") -> Ids:
        """The keys, in `lower`, of the n-grams without their first word."""
        return keys % power(self.size, self.order - 1)

    def split_last(self, keys: Ids, lower: "Keys") -> tuple[Ids, Ids]:
        """The keys, in `lower`, of the n-grams without their last word, and the last words."""
        contexts, words = np.divmod(keys, self.size)
        return contexts, words


@dataclass(frozen=True)
class RankedKeys:
    """Keys of two ranks: of the first half among `heads` [sorted keys], of the second among `tails` [sorted keys]."""

    head: "Keys"
    tail: "Keys"
    heads: Ids
    tails: Ids

    @property
    def order(self) -> int:
        """Words per n-gram."""
        return self.head.order + self.tail.order

    def of_windows(self, tokens: Ids, lengths: Ids, delay: int = 0) -> Ids:
        """As above."""
        heads = self.head.of_windows(tokens, lengths, delay + self.tail.order)
        return self._join(heads, self.tail.of_windows(tokens, lengths, delay))

    def pack(self, words: Ids) -> Ids:
        """As above; every half must occur in the tables."""
        return self._join(self.head.pack(words[: self.head.order]), self.tail.pack(words[self.head.order :]))

    def unpack(self, keys: Ids) -> Ids:
        """As above."""
        heads, tails = np.divmod(keys, len(self.tails))
        return np.concatenate([self.head.unpack(self.heads[heads]), self.tail.unpack(self.tails[tails])])

    def lower_bound(self, first: int, second: int) -> int:
        """As above."""
        return int(np.searchsorted(self.heads, self.head.lower_bound(first, second))) * len(self.tails)

    def without_first(self, keys: Ids, lower: "Keys") -> Ids:
        """As above."""
        return lower.pack(self.unpack(keys)[1:])

    def split_last(self, keys: Ids, lower: "Keys") -> tuple[Ids, Ids]:
        """As above."""
        words = self.unpack(keys)
        return lower.pack(words[:-1]), words[-1]

    def _join(self, heads: Ids, tails: Ids) -> Ids:
        return np.searchsorted(self.heads, heads) * len(self.tails) + np.searchsorted(self.tails, tails)


Keys = DirectKeys | RankedKeys


@compiled
def _window_keys(tokens: Ids, lengths: Ids, size: int, modulus: int, start: int, delay: int, keys: Ids) -> None:
    """Roll one key through each sentence: drop its first word, append the next."""
    first = 0
    row = 0
    for sentence in range(len(lengths)):
        length = lengths[sentence]
        key = start
        for target in range(length + 1):
            place = target - delay
            if place >= 0:
                word = END_ID
                if place < length:
                    word = tokens[first + place]
                key = (key % modulus) * size + word
            keys[row] = key
            row += 1
        first += length
