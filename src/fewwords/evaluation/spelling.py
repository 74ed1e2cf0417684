"""Bits per character with unknown words spelled out, to compare models over different vocabularies.

A perplexity counts any unknown word as `<unk>`, so a smaller vocabulary looks better. Here each unknown word also pays
for its letters: a letter n-gram model, trained on the words of the training part past the first V, spells it, its end
included:

    bits per character = (-log2 p of all targets + bits to spell each unknown word) / characters,

where a word has its letters and one character after it, a space or the end of the sentence. The letter model is
interpolated Witten-Bell, p(c|h) = (count(h c) + T(h) p(c|h')) / (count(h) + T(h)), with T(h) the number of different
letters seen after h, and h' the context h without its first letter; at the lowest level it is uniform over the letters
seen, the end, and "any other code point".

A prepared part has lost the letters of words that never occur in train. Such a word is taken to cost, and to be as long
as, the average word that occurs in train once: a tenth of those is held out from the letter model for that purpose.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewwords.corpus.token_corpus import PartName, TokenCorpus
from fewwords.errors import InputError
from fewwords.vocabulary import UNKNOWN_ID, Vocabulary

ORDER = 5
NUM_CODE_POINTS = 0x110000
HELD_OUT_EVERY = 10
_START, _END, _OTHER, _FIRST_LETTER = range(4)
_BITS = 12  # per symbol, so that five fit into an int64
_MOST_LETTERS = (1 << _BITS) - _FIRST_LETTER

Symbols = NDArray[np.int64]


@dataclass(frozen=True)
class _Level:
    """Counts after contexts of one length: `keys` are contexts with a symbol, `contexts` without; both sorted."""

    keys: Symbols
    counts: NDArray[np.float64]
    contexts: Symbols
    totals: NDArray[np.float64]
    types: NDArray[np.float64]

    def interpolate(self, keys: Symbols, lower: NDArray[np.float64]) -> NDArray[np.float64]:
        """p of each key's symbol after its context, from the p after the shorter context."""
        counts = _look_up(self.keys, self.counts, keys)
        totals, types = (_look_up(self.contexts, values, keys >> _BITS) for values in (self.totals, self.types))
        return np.where(totals > 0, (counts + types * lower) / np.maximum(totals + types, 1), lower)


@dataclass(frozen=True)
class SpellingModel:
    """How many bits the letters of a word cost; `letters` are the code points seen in training, sorted."""

    letters: NDArray[np.uint32]
    levels: tuple[_Level, ...]

    def bits(self, words: Sequence[str]) -> NDArray[np.float64]:
        """-log2 p of the letters and the end of each word, [num_words]; over all words the probabilities sum to one."""
        if not words:
            return np.zeros(0)
        symbols, targets, owners = _lay_out(words, self.letters)
        probs = np.full(len(targets), 1 / (len(self.letters) + 2))
        for length, level in enumerate(self.levels):
            probs = level.interpolate(_keys(symbols, targets, length), probs)
        bits = -np.log2(probs) + (symbols[targets] == _OTHER) * math.log2(NUM_CODE_POINTS - len(self.letters))
        return np.bincount(owners, bits, minlength=len(words)).astype(np.float64)


def train_spelling(words: Sequence[str], counts: NDArray[np.int64], order: int = ORDER) -> SpellingModel:
    """A model of the letters of `words`, which occur `counts` [num_words] times."""
    if not 1 <= order <= ORDER:
        raise InputError(f"a letter model of order {order}: choose 1 to {ORDER}")
    code_points, _ = _code_points(words)
    letters, occurrences = np.unique(code_points, return_counts=True)
    if len(letters) > _MOST_LETTERS:  # the rest are "other"
        letters = np.sort(letters[np.argsort(-occurrences, kind="stable")[:_MOST_LETTERS]])
    symbols, targets, owners = _lay_out(words, letters)
    weights = np.asarray(counts, dtype=np.float64)[owners]
    return SpellingModel(letters, tuple(_count(_keys(symbols, targets, length), weights) for length in range(order)))


@dataclass(frozen=True)
class RareSpelling:
    """The letter model of the words past a vocabulary, and the cost and length of a word whose letters are lost."""

    model: SpellingModel
    lost_bits: float
    lost_length: float


def train_rare_spelling(vocabulary: Vocabulary, size: int) -> RareSpelling:
    """Train on the words past the first `size` of all words; raises InputError if there are none."""
    words, counts = vocabulary.words[size:], vocabulary.counts[size:]
    if not len(words):
        raise InputError(f"a vocabulary of {size:,} words leaves no words to learn spelling from; choose a smaller one")
    once = np.flatnonzero(counts == 1)[::HELD_OUT_EVERY]
    kept = np.setdiff1d(np.arange(len(words)), once)
    if not len(kept) or not len(once):
        once = kept = np.arange(len(words))
    model = train_spelling([words[index] for index in kept], counts[kept])
    held_out = [words[index] for index in once]
    return RareSpelling(model, float(model.bits(held_out).mean()), sum(map(len, held_out)) / len(held_out))


@dataclass(frozen=True)
class Spelled:
    """A text read with a vocabulary, and the cost of its unknown words; `num_lost` of them have lost their letters."""

    num_words: int
    num_sentences: int
    num_unknown: int
    num_lost: int
    letter_bits: float
    num_characters: float

    def bits_per_character(self, log_prob: float) -> float:
        """For a model with the sum `log_prob` of ln p over all targets of the text, `</s>` included."""
        return (-log_prob / math.log(2) + self.letter_bits) / self.num_characters


def spell_part(corpus: TokenCorpus, name: PartName, size: int, max_words: int | None = None) -> Spelled:
    """Spell out the words of a part, or of its first sentences, that are not among the first `size` words."""
    vocabulary = corpus.vocabulary()
    spelling = train_rare_spelling(vocabulary, size)
    part = corpus.part(name).head(max_words)
    ranks, counts = np.unique(part.tokens(0, part.num_words), return_counts=True)
    lengths = np.array([len(vocabulary.words[rank]) for rank in ranks], dtype=np.float64)
    lengths[ranks == UNKNOWN_ID] = spelling.lost_length
    bits = np.zeros(len(ranks))
    bits[ranks >= size] = spelling.model.bits([vocabulary.words[rank] for rank in ranks[ranks >= size]])
    bits[ranks == UNKNOWN_ID] = spelling.lost_bits
    return Spelled(
        num_words=part.num_words,
        num_sentences=part.num_sentences,
        num_unknown=int(counts[(ranks >= size) | (ranks == UNKNOWN_ID)].sum()),
        num_lost=int(counts[ranks == UNKNOWN_ID].sum()),
        letter_bits=float(bits @ counts),
        num_characters=float((lengths + 1) @ counts),
    )


def _code_points(words: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The letters of all words one after another, and the length of each word."""
    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return letters, np.fromiter(map(len, words), np.int64, len(words))


def _lay_out(words: Sequence[str], letters: NDArray[np.uint32]) -> tuple[Symbols, NDArray[np.int64], NDArray[np.int64]]:
    """All words in one row of symbols, each after enough starts; the places of letters and ends, and their words."""
    code_points, lengths = _code_points(words)
    found = np.minimum(np.searchsorted(letters, code_points), max(len(letters) - 1, 0))
    known = letters[found] == code_points if len(letters) else np.zeros(len(code_points), bool)
    owners = np.repeat(np.arange(len(words)), lengths + 1)
    targets = np.arange(len(owners)) + (ORDER - 1) * (owners + 1)
    symbols = np.full(len(code_points) + ORDER * len(words), _START, np.int64)
    symbols[targets] = _END
    is_letter = np.ones(len(targets), bool)
    is_letter[np.cumsum(lengths + 1) - 1] = False
    symbols[targets[is_letter]] = np.where(known, found + _FIRST_LETTER, _OTHER)
    return symbols, targets, owners


def _keys(symbols: Symbols, targets: NDArray[np.int64], length: int) -> Symbols:
    """Each target with the `length` symbols before it, as one number."""
    keys = np.zeros(len(targets), np.int64)
    for back in range(length, -1, -1):
        keys = (keys << _BITS) | symbols[targets - back]
    return keys


def _count(keys: Symbols, weights: NDArray[np.float64]) -> _Level:
    seen, inverse = np.unique(keys, return_inverse=True)
    counts = np.bincount(inverse, weights, minlength=len(seen)).astype(np.float64)
    contexts, first = np.unique(seen >> _BITS, return_index=True)
    types = np.diff(np.append(first, len(seen))).astype(np.float64)
    return _Level(seen, counts, contexts, np.add.reduceat(counts, first), types)


def _look_up(keys: Symbols, values: NDArray[np.float64], wanted: Symbols) -> NDArray[np.float64]:
    """The value of each wanted key, 0 where there is none."""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0.0)
