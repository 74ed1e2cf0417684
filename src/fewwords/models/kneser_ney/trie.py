"""N-grams of all orders as one tree in flat arrays: a node is an n-gram, its children are the words seen after it.

Nodes are sorted by order, then by their words: nodes 0 to V - 1 are the words themselves, then come all 2-grams, and so
on. The children of node i are the nodes `children[i]` to `children[i + 1]` - 1, ascending by word. Probabilities and
back-off weights are logs to base 10 as in ARPA files, so that reading and writing one changes nothing. If the longest
n-gram h w is a node, p(w | h) is that node's; otherwise p(w | h) = backoff(h) p(w | h without its first word).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.models.kneser_ney.compiled import compiled
from fewwords.vocabulary import END_ID, START_ID

Int64s = NDArray[np.int64]
UInt32s = NDArray[np.uint32]
Float32s = NDArray[np.float32]
LOG10_ZERO = -99.0  # how ARPA files write the probability 0
NOWHERE = -1
_LN_10 = float(np.log(10))


@dataclass(frozen=True, eq=False)
class Trie:
    """All arrays of the tree; `log10_backoffs` and `children` are of the nodes that can have children.

    `words`, `log10_probs` [nodes]; `log10_backoffs` [inner]; `children` [inner + 1]; `sizes`: the nodes of each order.
    """

    words: UInt32s
    log10_probs: Float32s
    log10_backoffs: Float32s
    children: Int64s
    sizes: tuple[int, ...]

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.sizes)

    @property
    def num_words(self) -> int:
        """The size of the vocabulary."""
        return self.sizes[0]

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in ("words", "log10_probs", "log10_backoffs", "children")}

    def level(self, order: int) -> slice:
        """The nodes of an order."""
        start = sum(self.sizes[: order - 1])
        return slice(start, start + self.sizes[order - 1])

    def spell(self, nodes: slice, order: int) -> Int64s:
        """The words [order, nodes] of some nodes of an order."""
        places = np.arange(nodes.start, nodes.stop)
        words = np.empty((order, len(places)), np.int64)
        for place in range(order - 1, 0, -1):
            words[place] = self.words[places]
            # nodes without children share their start with the next node, so take the last one that starts here
            places = np.searchsorted(self.children, places, side="right") - 1
        words[0] = places
        return words

    def score(self, tokens: Int64s, lengths: Int64s) -> NDArray[np.float64]:
        """ln p of each word of sentences and of their `</s>`, [words + sentences]."""
        log_probs = np.empty(len(tokens) + len(lengths))
        _score(tokens, lengths, self.order, self.words, self.log10_probs, self.log10_backoffs, self.children, log_probs)
        return log_probs

    def next_word(self, context: Int64s) -> NDArray[np.float64]:
        """p of every word of the vocabulary after a context, [V]; a leading `<s>` is part of the context."""
        probs = 10.0 ** self.log10_probs[: self.num_words].astype(np.float64)
        probs[START_ID] = 0
        for length in range(1, min(self.order - 1, len(context)) + 1):
            node = np.asarray(context[-length:][:1])
            for word in context[len(context) - length + 1 :]:
                node = find_rows(self.words, self.children, node, np.array([word]))
            if node[0] != NOWHERE:
                found = slice(self.children[node[0]], self.children[node[0] + 1])
                probs *= 10.0 ** float(self.log10_backoffs[node[0]])
                probs[self.words[found]] = 10.0 ** self.log10_probs[found].astype(np.float64)
        return probs


def join_levels(
    words: list[UInt32s], log10_probs: list[Float32s], log10_backoffs: list[Float32s], starts: list[Int64s]
) -> Trie:
    """Lay orders one after another; `log10_backoffs` and `starts` are of all orders but the last.

    `starts` [rows + 1] of an order: where the children of its n-grams start in the order above.
    """
    sizes = [len(each) for each in words]
    ends = np.cumsum(sizes)
    return Trie(
        np.concatenate(words),
        np.concatenate(log10_probs),
        np.concatenate([np.zeros(0, np.float32), *log10_backoffs]),
        np.concatenate([*(each[:-1] + end for each, end in zip(starts, ends)), ends[-1:]]).astype(np.int64),
        tuple(sizes),
    )


def find_rows(words: UInt32s, starts: Int64s, contexts: Int64s, wanted: Int64s) -> Int64s:
    """The row of each wanted word among the children of its context, or NOWHERE; a context may be NOWHERE itself."""
    found = np.empty(len(wanted), np.int64)
    _find_all(words, starts, contexts, wanted, found)
    return found


@compiled
def find_child(words: UInt32s, start: int, stop: int, word: int) -> int:
    """The place of a word among the ascending words from `start` to `stop`, or NOWHERE."""
    low, high = start, stop
    while low < high:
        middle = (low + high) >> 1
        if np.int64(words[middle]) < word:
            low = middle + 1
        else:
            high = middle
    if low < stop and np.int64(words[low]) == word:
        return low
    return NOWHERE


@compiled
def _find_all(words: UInt32s, children: Int64s, contexts: Int64s, wanted: Int64s, found: Int64s) -> None:
    for row in range(len(wanted)):
        context = contexts[row]
        found[row] = NOWHERE
        if context >= 0:
            found[row] = find_child(words, children[context], children[context + 1], wanted[row])


@compiled
def _score(
    tokens: Int64s,
    lengths: Int64s,
    order: int,
    words: UInt32s,
    log10_probs: Float32s,
    log10_backoffs: Float32s,
    children: Int64s,
    log_probs: NDArray[np.float64],
) -> None:
    nodes = np.empty(order, np.int64)  # of the last 1, 2, … words, up to order - 1
    first = 0
    row = 0
    for sentence in range(len(lengths)):
        length = lengths[sentence]
        nodes[:] = NOWHERE
        nodes[0] = START_ID
        for place in range(length + 1):
            word = END_ID
            if place < length:
                word = tokens[first + place]
            log10_prob = 0.0
            is_found = False
            # downwards, because each n-gram is a child of the next shorter one that ended at the word before
            for longer in range(order - 1, 0, -1):
                context = nodes[longer - 1]
                node = NOWHERE
                if context >= 0:
                    node = find_child(words, children[context], children[context + 1], word)
                    if not is_found:
                        if node >= 0:
                            log10_prob += np.float64(log10_probs[node])
                            is_found = True
                        else:
                            log10_prob += np.float64(log10_backoffs[context])
                nodes[longer] = node
            nodes[0] = word
            if not is_found:
                log10_prob += np.float64(log10_probs[word])
            log_probs[row] = log10_prob * _LN_10
            row += 1
        first += length
