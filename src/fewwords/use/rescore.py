"""Rescoring: the hypotheses of a recogniser in a new order, by acoustic score, language model and number of words.

A hypothesis scores  acoustic_weight * acoustic + lm_weight * log10 p(words) + word_bonus * words.  The weights can be tuned on
utterances whose words are known, by trying a grid and keeping the one with the fewest word errors.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.use.nbest import NBest
from fewwords.use.text_model import TextModel

LM_WEIGHTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0)
_BONUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 32.0)
WORD_BONUSES = (*(-bonus for bonus in reversed(_BONUSES)), 0.0, *_BONUSES)


@dataclass(frozen=True)
class Weights:
    """How much each part of the score counts."""

    acoustic: float = 1.0
    lm: float = 1.0
    word_bonus: float = 0.0

    def __post_init__(self) -> None:
        names = {"acoustic_weight": self.acoustic, "lm_weight": self.lm, "word_bonus": self.word_bonus}
        for name, value in names.items():
            if not math.isfinite(value):
                raise InputError(f"`{name}` {value}: choose a finite number")


@dataclass(frozen=True)
class Errors:
    """Word errors of the first hypotheses against the words that were said."""

    num_errors: int
    num_words: int

    @property
    def rate(self) -> float:
        """Errors for each word that was said."""
        return self.num_errors / self.num_words


def read_reference(lines: Iterable[str], name: str) -> dict[str, str]:
    """What was said by utterance, from lines `utterance word word …`; raises InputError for an utterance that comes twice."""
    said: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        utterance, _, words = line.strip().partition(" ")
        if utterance in said:
            raise InputError(f"{name}: line {number}: {utterance} is there already; give each utterance once")
        if utterance:
            said[utterance] = words
    return said


def score_lists(model: TextModel, lists: Sequence[NBest], *, end_mark: str = "") -> list[list[float]]:
    """log10 p of every hypothesis, each a sentence.

    Recognisers write no full stop, but most corpora have one: `end_mark` is added to each hypothesis before it is scored.
    """
    texts = [f"{hypothesis.text} {end_mark}" for each in lists for hypothesis in each.hypotheses]
    scores = iter(model.score_all(texts))
    return [[next(scores) for _ in each.hypotheses] for each in lists]


def reorder(
    lists: Sequence[NBest], scores: Sequence[Sequence[float]], weights: Weights
) -> tuple[list[NBest], list[list[float]]]:
    """The lists with their best hypotheses first, and the language model's scores in the same order; ties stay as they are."""
    found_lists, found_scores = [], []
    for each, scored in zip(lists, scores):
        order = np.argsort(-_totals(each, scored, weights), kind="stable").tolist()
        found_lists.append(NBest(each.utterance, tuple(each.hypotheses[place] for place in order)))
        found_scores.append([scored[place] for place in order])
    return found_lists, found_scores


def _totals(each: NBest, scores: Sequence[float], weights: Weights) -> NDArray[np.float64]:
    acoustic = np.array([hypothesis.acoustic for hypothesis in each.hypotheses])
    words = np.array([len(hypothesis.text.split()) for hypothesis in each.hypotheses])
    total: NDArray[np.float64] = (
        weights.acoustic * acoustic + weights.lm * np.asarray(scores) + weights.word_bonus * words
    )
    return total


def count_errors(lists: Sequence[NBest], reference: Mapping[str, str]) -> Errors:
    """The word errors of the first hypotheses; raises InputError for an utterance without a reference."""
    check_reference(lists, reference)
    said = [reference[each.utterance].split() for each in lists]
    errors = sum(word_errors(words, each.hypotheses[0].text.split()) for words, each in zip(said, lists))
    return Errors(errors, sum(map(len, said)))


def tune(
    lists: Sequence[NBest], scores: Sequence[Sequence[float]], reference: Mapping[str, str], acoustic: float = 1.0
) -> Weights:
    """The weights of the grid with the fewest word errors, beside an acoustic one; of equal ones, the smallest bonus and weight."""
    check_reference(lists, reference)
    said = []
    for each in lists:
        words = reference[each.utterance].split()
        said.append(np.array([word_errors(words, hypothesis.text.split()) for hypothesis in each.hypotheses]))

    def num_errors(weights: Weights) -> int:
        totals = (_totals(each, scored, weights) for each, scored in zip(lists, scores))
        return int(sum(errors[int(total.argmax())] for errors, total in zip(said, totals)))

    grid = [Weights(acoustic, lm, bonus) for lm, bonus in product(LM_WEIGHTS, WORD_BONUSES)]
    return min(grid, key=lambda weights: (num_errors(weights), abs(weights.word_bonus), weights.lm))


def check_reference(lists: Sequence[NBest], reference: Mapping[str, str], name: str = "the reference") -> None:
    """Raise InputError unless the reference has the words of every list, and any words at all."""
    for each in lists:
        if each.utterance not in reference:
            raise InputError(f"{name}: has no utterance {each.utterance}; give the words that were said in each")
    if not any(reference[each.utterance].split() for each in lists):
        raise InputError(f"{name}: has no words; check the file")


def is_at_the_end(weights: Weights) -> bool:
    """Whether tuned weights are at an end of the grid, so that better ones may lie beyond."""
    return weights.lm == LM_WEIGHTS[-1] or abs(weights.word_bonus) == _BONUSES[-1]


def word_errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Substitutions, insertions and deletions between two sequences of words (Levenshtein)."""
    row = list(range(len(heard) + 1))
    for place, word in enumerate(said, 1):
        before, row[0] = row[0], place
        for column, other in enumerate(heard, 1):
            before, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, before + (word != other))
    return row[-1]
