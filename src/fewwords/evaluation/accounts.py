"""Perplexity, PPL = 2^(-1/N sum log2 p(w|h)) = exp(-1/N sum ln p(w|h)) (section 4.3), with its accounts.

What N counts is a matter of convention, so sums are kept separately by kind of target: `<unk>`, `</s>`, base words, and
four bands of rare words, equal in number of types, from the more to the less frequent. Every perplexity in common use
follows from these sums, and the sums of several texts add up.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.models.model import Model, Scored
from fewwords.vocabulary import END_ID, NUM_SPECIAL, UNKNOWN_ID

PAPER_NUM_BASE = 8_000 + NUM_SPECIAL
NUM_RARE_BANDS = 4
_UNKNOWN, _END, _BASE, _FIRST_RARE = range(4)
NUM_KINDS = _FIRST_RARE + NUM_RARE_BANDS


@dataclass(frozen=True)
class Band:
    """Some of the targets: their number and the sum of ln p over them."""

    name: str
    num_targets: int
    log_prob: float

    @property
    def mean_log_prob(self) -> float:
        """The mean of ln p; NaN without targets."""
        return self.log_prob / self.num_targets if self.num_targets else math.nan

    @property
    def perplexity(self) -> float:
        """exp of minus the mean of ln p; NaN without targets."""
        return _exp(-self.mean_log_prob)


@dataclass(frozen=True)
class Perplexity:
    """Counts of targets and sums of ln p, by kind: `<unk>`, `</s>`, base words, and the bands of rare words.

    Base words have ids below `num_base`. `num_sentences` counts all, whether or not their ends are predicted.
    """

    vocabulary_size: int
    num_base: int
    num_sentences: int
    counts: tuple[int, ...]
    log_probs: tuple[float, ...]

    @property
    def num_words(self) -> int:
        """Running words, including those that read as `<unk>`, without `</s>`."""
        return sum(self.counts) - self.num_ends

    @property
    def num_unknown(self) -> int:
        """Running words that read as `<unk>`."""
        return self.counts[_UNKNOWN]

    @property
    def num_ends(self) -> int:
        """Predicted `</s>`: one per sentence, or none."""
        return self.counts[_END]

    @property
    def oov_rate(self) -> float:
        """The share of running words that read as `<unk>`."""
        return self.num_unknown / self.num_words if self.num_words else 0.0

    @property
    def log_prob(self) -> float:
        """The sum of ln p over all targets."""
        return math.fsum(self.log_probs)

    @property
    def value(self) -> float:
        """The perplexity over all targets: words, `<unk>`, and `</s>` where the model predicts it."""
        return self.over(unknown=True, ends=True)

    def over(self, *, unknown: bool, ends: bool) -> float:
        """The perplexity over the words, with or without `<unk>` and `</s>`; NaN if nothing is left."""
        return self._band("", [*([_UNKNOWN] if unknown else []), *([_END] if ends else []), *self._known]).perplexity

    @property
    def base(self) -> Band:
        """The base words."""
        return self._band("base words", [_BASE])

    @property
    def rare(self) -> Band:
        """All rare words."""
        return self._band("rare words", list(self._known[1:]))

    @property
    def unknown(self) -> Band:
        """The words that read as `<unk>`."""
        return self._band("<unk>", [_UNKNOWN])

    @property
    def bands(self) -> tuple[Band, ...]:
        """Base words, rare words by rank, `<unk>`, `</s>`: together, all targets."""
        edges = band_edges(self.vocabulary_size, self.num_base)
        rare = [
            self._band(f"rare words {first:,} to {stop - 1:,}", [_FIRST_RARE + number])
            for number, (first, stop) in enumerate(zip(edges, edges[1:]))
            if stop > first
        ]
        return (self.base, *rare, self.unknown, self._band("</s>", [_END]))

    def __add__(self, other: "Perplexity") -> "Perplexity":
        """The result for both texts together; raises ValueError if their vocabularies or base sets differ."""
        if (self.vocabulary_size, self.num_base) != (other.vocabulary_size, other.num_base):
            raise ValueError("perplexities over different vocabularies or base sets do not add up")
        return Perplexity(
            self.vocabulary_size,
            self.num_base,
            self.num_sentences + other.num_sentences,
            tuple(map(sum, zip(self.counts, other.counts))),
            tuple(map(sum, zip(self.log_probs, other.log_probs))),
        )

    def to_json(self) -> dict[str, Any]:
        """All figures, for a JSON file; a perplexity without targets, or an infinite one, is null, and `note` says so."""
        return {
            "vocabulary_size": self.vocabulary_size,
            "num_base": self.num_base,
            "sentences": self.num_sentences,
            "words": self.num_words,
            "oovs": self.num_unknown,
            "oov_rate": self.oov_rate,
            "log_prob": _finite(self.log_prob),
            "perplexity": _finite(self.value),
            "note": "infinite" if self.value == math.inf else None,
            "perplexity_without_end": _finite(self.over(unknown=True, ends=False)),
            "perplexity_without_unknown": _finite(self.over(unknown=False, ends=True)),
            "perplexity_without_unknown_and_end": _finite(self.over(unknown=False, ends=False)),
            "bands": [
                {
                    "name": band.name,
                    "targets": band.num_targets,
                    "log_prob": _finite(band.log_prob),
                    "perplexity": _finite(band.perplexity),
                }
                for band in (*self.bands, self.rare)
            ],
        }

    @property
    def _known(self) -> range:
        return range(_BASE, len(self.counts))

    def _band(self, name: str, kinds: list[int]) -> Band:
        counts = sum(self.counts[kind] for kind in kinds)
        return Band(name, counts, math.fsum(self.log_probs[kind] for kind in kinds))


class Account:
    """Sums scored sentences up into a Perplexity."""

    def __init__(self, model: Model, num_base: int | None = None) -> None:
        if num_base is None:
            num_base = PAPER_NUM_BASE if model.codes is None else model.codes.num_base
        self._vocabulary_size = model.num_words
        self._num_base = min(num_base, model.num_words)
        edges = band_edges(self._vocabulary_size, self._num_base)
        self._kinds = np.full(model.num_words, _BASE)
        for number, (first, stop) in enumerate(zip(edges, edges[1:])):
            self._kinds[first:stop] = _FIRST_RARE + number
        self._kinds[[UNKNOWN_ID, END_ID]] = _UNKNOWN, _END
        self._num_sentences = 0
        self._counts = np.zeros(NUM_KINDS, np.int64)
        self._log_probs = np.zeros(NUM_KINDS)

    def add(self, scored: Scored) -> Perplexity:
        """Add one sentence; returns its own perplexity."""
        words, log_probs = scored
        kinds = self._kinds[words]
        if len(log_probs) > len(words):
            kinds = np.append(kinds, _END)
        counts = np.bincount(kinds, minlength=NUM_KINDS)
        sums = np.zeros(NUM_KINDS)
        np.add.at(sums, kinds, log_probs)
        self._num_sentences += 1
        self._counts += counts
        self._log_probs += sums
        return self._perplexity(1, counts, sums)

    def total(self) -> Perplexity:
        """The perplexity of all sentences so far."""
        return self._perplexity(self._num_sentences, self._counts, self._log_probs)

    def _perplexity(self, num_sentences: int, counts: NDArray[np.int64], sums: NDArray[np.float64]) -> Perplexity:
        size, num_base = self._vocabulary_size, self._num_base
        return Perplexity(size, num_base, num_sentences, tuple(counts.tolist()), tuple(sums.tolist()))


def band_edges(vocabulary_size: int, num_base: int) -> list[int]:
    """The first ids of the bands of rare words, and the end: the rare ranks in four equal parts."""
    num_rare = vocabulary_size - num_base
    return [num_base + number * num_rare // NUM_RARE_BANDS for number in range(NUM_RARE_BANDS + 1)]


def _exp(value: float) -> float:
    return math.inf if value > 709 else math.exp(value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
