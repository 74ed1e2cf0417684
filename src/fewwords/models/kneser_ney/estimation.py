"""Estimate a modified Kneser-Ney model over a closed vocabulary: counts, discounts, levels, tree.

The text is counted twice: over all its words, for the discounts, and over the vocabulary, with every other word as
`<unk>`, a word like any other. `<s>` is context only; `</s>` is predicted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewwords.corpus.token_corpus import Part
from fewwords.errors import InputError
from fewwords.models.kneser_ney.counts import NgramCounter, NgramCounts
from fewwords.models.kneser_ney.discounts import (
    CountsOfCounts,
    Discounts,
    check_fallback,
    counts_of_counts,
    estimate_discounts,
)
from fewwords.models.kneser_ney.keys import fits_directly
from fewwords.models.kneser_ney.levels import Level, empty_context, next_level, word_level
from fewwords.models.kneser_ney.model import KneserNey
from fewwords.models.kneser_ney.sorted_runs import ROW_BYTES
from fewwords.models.kneser_ney.trie import LOG10_ZERO, Trie, join_levels
from fewwords.progress import say
from fewwords.readable import duration, quantity
from fewwords.vocabulary import START_ID, Vocabulary

HIGHEST_ORDER = 5
# On a two-core laptop; for the announcement only.
_KEYS_PER_SECOND = 12e6


def estimate(
    part: Part,
    order: int = 3,
    *,
    vocabulary: Vocabulary,
    interpolate: bool = True,
    prune: Sequence[int] = (),
    discount_fallback: Sequence[float] | None = None,
    max_words: int | None = None,
    memory_mib: int = 2048,
    temporary: Path | None = None,
) -> KneserNey:
    """Estimate a model of n-grams of up to `order` words over the part, or its first sentences with `max_words` words.

    `prune` has a threshold for each order, the last one also for higher orders: n-grams that occur at most that often
    are left out. `discount_fallback` has D1, D2, D3+ for orders with too little text. The sort takes at most
    `memory_mib`; beyond that, sorted blocks go to files in the folder `temporary`. Raises InputError for bad settings
    and for too little text, OSError for a full disk.
    """
    thresholds = _check(part, order, vocabulary, prune, discount_fallback, memory_mib)
    part = part.head(max_words)
    settings = _Settings(thresholds, interpolate, memory_mib << 20, temporary)
    _announce(part, order, settings)
    found = _counts_of_counts(part, order, settings)
    discounts = [estimate_discounts(n, counts, discount_fallback) for n, counts in enumerate(found, start=1)]
    return KneserNey(
        vocabulary,
        _estimate_trie(settings.counter(part), order, settings, discounts),
        {
            "order": order,
            "interpolate": interpolate,
            "prune": list(thresholds),
            "discounts": [list(each) for each in discounts],
            "counts_of_counts": [list(each) for each in found],
            "words": part.num_words,
            "sentences": part.num_sentences,
        },
    )


@dataclass(frozen=True)
class _Settings:
    thresholds: tuple[int, ...]
    interpolate: bool
    memory_bytes: int
    temporary: Path | None

    def counter(self, part: Part) -> NgramCounter:
        return NgramCounter(part, self.memory_bytes, self.temporary)


def _check(
    part: Part,
    order: int,
    vocabulary: Vocabulary,
    prune: Sequence[int],
    discount_fallback: Sequence[float] | None,
    memory_mib: int,
) -> tuple[int, ...]:
    """Raise InputError for bad settings; returns the pruning thresholds of all orders."""
    if not 1 <= order <= HIGHEST_ORDER:
        raise InputError(f"n-grams of order {order}: choose an order from 1 to {HIGHEST_ORDER}")
    if len(vocabulary) != part.vocabulary_size:
        raise InputError(
            f"the part {part.name} is read with {part.vocabulary_size:,} words and the vocabulary has {len(vocabulary):,}; "
            "open the part with the size of the vocabulary"
        )
    if memory_mib < 1:
        raise InputError(f"{memory_mib} MiB of memory: choose 1 or more")
    if discount_fallback is not None:
        check_fallback(discount_fallback)
    thresholds = [*prune] or [0]
    given = " ".join(map(str, thresholds))
    if len(thresholds) > order:
        raise InputError(f"`prune` {given}: {len(thresholds)} thresholds for a model of order {order}; give {order}")
    if thresholds[0] != 0:
        raise InputError(f"`prune` {given}: words of the vocabulary are never left out; start with 0")
    if thresholds != sorted(thresholds):
        raise InputError(f"`prune` {given}: a threshold below the one before would leave n-grams without their context")
    return tuple(thresholds + [thresholds[-1]] * (order - len(thresholds)))


def _announce(part: Part, order: int, settings: _Settings) -> None:
    num_keys = part.num_words + part.num_sentences
    needed, block = num_keys * ROW_BYTES, settings.memory_bytes
    # about half of the n-grams are distinct, and the sort's results need memory besides its block
    memory = (min(needed, block) + needed * 3 // 4) / 2**20 + 200
    passes = 2 * (order if fits_directly(part.vocabulary_size, order) else 2 * order)
    disk = "" if needed <= block else f", up to {2 * needed / 2**30:.1f} GiB of temporary files"
    say(
        f"kn{order}: {quantity(part.num_words)} words over a vocabulary of {part.vocabulary_size:,}, about {memory:,.0f} MiB "
        f"of memory{disk} and {duration(num_keys * passes / _KEYS_PER_SECOND)}"
    )


def _counts_of_counts(part: Part, order: int, settings: _Settings) -> list[CountsOfCounts]:
    """Counts of counts of each order over all words of the text, without pruning."""
    size = max(part.vocabulary_size, int(part.file.tokens.max(initial=0)) + 1)
    say(f"kn{order}: discounts from all {size:,} words of the text")
    return [counts_of_counts(ngrams) for ngrams in settings.counter(Part(part.name, part.file, size)).adjusted(order)]


def _estimate_trie(counter: NgramCounter, order: int, settings: _Settings, discounts: list[Discounts]) -> Trie:
    num_words = counter.part.vocabulary_size
    ngrams = counter.adjusted(order)
    levels = [empty_context(num_words), word_level(ngrams[0], num_words, discounts[0])]
    for n in range(2, order + 1):
        levels.append(
            next_level(
                ngrams[n - 1],
                levels[-1],
                levels[-2],
                discounts[n - 1],
                num_words=num_words,
                interpolate=settings.interpolate,
                is_last=n == order,
                kept=_kept(counter, ngrams[n - 1], settings.thresholds[n - 1], n == order),
            )
        )
    return _join(levels[1:])


def _kept(counter: NgramCounter, ngrams: NgramCounts, threshold: int, is_last: bool) -> NDArray[np.bool_] | None:
    """Which n-grams occur more than `threshold` times; None for all."""
    if threshold == 0:
        return None
    # below the highest order, counts are not occurrences, but the rows are the same
    occurrences = ngrams if is_last else counter.occurrences(ngrams.keys.order)
    return np.asarray(occurrences.counts > threshold)


def _join(levels: list[Level]) -> Trie:
    with np.errstate(divide="ignore"):
        log10_probs = [np.log10(level.probs).astype(np.float32) for level in levels]
    log10_probs[0][START_ID] = LOG10_ZERO
    for each in log10_probs:
        np.minimum(each, 0, out=each)  # rounding can leave a probability just above 1
    return join_levels(
        [level.words for level in levels],
        log10_probs,
        [np.log10(level.backoffs).astype(np.float32) for level in levels[:-1]],
        [level.starts for level in levels[:-1]],
    )
