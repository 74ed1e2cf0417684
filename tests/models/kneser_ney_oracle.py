"""For the tests of Kneser-Ney: parts made of lists, and the model again, slowly, straight from its definition."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from fewwords.corpus.token_corpus import Part
from fewwords.corpus.token_file import TokenFile
from fewwords.models.kneser_ney import KneserNey
from fewwords.vocabulary import END_ID, SPECIAL_WORDS, START_ID, Vocabulary

Ngram = tuple[int, ...]


@dataclass
class ListedTokens:
    """What a part needs of a token file."""

    tokens: np.ndarray
    offsets: np.ndarray

    @property
    def num_words(self) -> int:
        return len(self.tokens)

    @property
    def num_sentences(self) -> int:
        return len(self.offsets) - 1

    head = TokenFile.head


def next_word_probs(model: KneserNey, context: Sequence[int], *, from_start: bool = True) -> np.ndarray:
    """p of every word after a context of ids, [V]; `from_start`: the context begins a sentence."""
    return model.trie.next_word(np.array([*([START_ID] if from_start else []), *context], np.int64))


def make_part(sentences: Sequence[Sequence[int]], size: int) -> Part:
    """A part of these sentences, read through `size` words."""
    tokens = np.array([word for sentence in sentences for word in sentence], np.uint32)
    offsets = np.cumsum([0, *map(len, sentences)])
    return Part("train", ListedTokens(tokens, offsets), size)  # type: ignore[arg-type]


def make_vocabulary(size: int) -> Vocabulary:
    """The special words, then a, b, c …"""
    return Vocabulary([*SPECIAL_WORDS, *map(letter, range(3, size))], np.zeros(size, np.int64))


def letter(rank: int) -> str:
    return chr(ord("a") + rank - 3) if rank < 29 else f"w{rank}"


def occurrences(sentences: Sequence[Sequence[int]], order: int) -> Counter[Ngram]:
    """How often each n-gram of `<s>` sentence `</s>` occurs, `<s>` alone left out."""
    found: Counter[Ngram] = Counter()
    for sentence in sentences:
        line = (START_ID, *sentence, END_ID)
        found.update(line[stop - order : stop] for stop in range(max(order, 2), len(line) + 1))
    return found


def adjusted_counts(sentences: Sequence[Sequence[int]], highest: int) -> dict[int, Counter[Ngram]]:
    """Kneser-Ney's counts of each order."""
    counts = {highest: occurrences(sentences, highest)}
    for order in range(1, highest):
        left: defaultdict[Ngram, set[int]] = defaultdict(set)
        for ngram in occurrences(sentences, order + 1):
            left[ngram[1:]].add(ngram[0])
        counts[order] = Counter(
            {
                ngram: count if ngram[0] == START_ID else len(left[ngram])
                for ngram, count in occurrences(sentences, order).items()
            }
        )
    return counts


def reference_model(
    sentences: Sequence[Sequence[int]],
    highest: int,
    size: int,
    discounts: Sequence[Sequence[float]],
    interpolate: bool = True,
    prune: Sequence[int] = (0, 0, 0, 0, 0),
) -> Callable[[Ngram, int], float]:
    """p(context, word) from the definition, in dictionaries; the sentences hold ids below `size`."""
    counts = adjusted_counts(sentences, highest)
    seen = {order: occurrences(sentences, order) for order in counts}
    predictable = [word for word in range(size) if word != START_ID]

    @cache
    def prob(context: Ngram, word: int) -> float:
        order = len(context) + 1
        after = {ngram[-1]: count for ngram, count in counts[order].items() if ngram[:-1] == context}
        total = sum(after.values())
        kept = {each: count for each, count in after.items() if seen[order][(*context, each)] > prune[order - 1]}
        share = {each: (count - discounts[order - 1][min(count, 3) - 1]) / total for each, count in kept.items()}
        left = 1 - sum(share.values())
        if order == 1:
            return 0.0 if word == START_ID else share.get(word, 0.0) + left / len(predictable)
        if not kept:
            return prob(context[1:], word)
        if interpolate:
            return share.get(word, 0.0) + left * prob(context[1:], word)
        if len(kept) == len(predictable):
            return share.get(word, 0.0) / (1 - left)
        if word in kept:
            return share[word]
        return left / (1 - sum(prob(context[1:], each) for each in kept)) * prob(context[1:], word)

    return lambda context, word: prob(tuple(context[max(0, len(context) - highest + 1) :]), word)


def read_arpa_plainly(path: Path) -> dict[tuple[str, ...], tuple[float, float]]:
    """The lines of an ARPA file as a dictionary: words -> log10 p, log10 back-off weight."""
    table = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) > 1:
            table[tuple(fields[1].split(" "))] = (float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0)
    return table


def score_plainly(table: dict[tuple[str, ...], tuple[float, float]], words: tuple[str, ...], order: int) -> float:
    """log10 p of the last word after the others, by the rule of back-off models."""
    words = words[-order:]
    if words in table:
        return table[words][0]
    return table.get(words[:-1], (0.0, 0.0))[1] + score_plainly(table, words[1:], order)
