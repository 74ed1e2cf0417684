"""The settings chosen for texts of every size."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.making.choice import RECIPES, Choice, check_text, choose
from fewwords.vectors.settings import SkipGramSettings


def zipf_counts(num_words: int) -> NDArray[np.int64]:
    """Counts by rank of a text whose words follow Zipf's law, after three special words."""
    ranks = np.arange(1, 1_000_001)
    counts = np.floor(num_words / (ranks * math.log(num_words))).astype(np.int64)
    return np.concatenate([[0, 0, 0], counts[counts > 0]])


def chosen(num_words: int) -> Choice:
    return choose(num_words, zipf_counts(num_words))


def test_the_table_is_in_order_and_has_no_end() -> None:
    limits = [each.most_words for each in RECIPES]
    assert limits == sorted(limits)
    assert limits[-1] == math.inf
    of_vectors = [SkipGramSettings(epochs=each.vector_epochs).passes(each.most_words) for each in RECIPES]
    for passes in (of_vectors, [each.epochs for each in RECIPES]):
        assert passes == sorted(passes, reverse=True)
        assert passes[-1] >= 1


@pytest.mark.parametrize("num_words", [2_000, 18_000, 550_000, 2_000_000, 90_000_000, 2_000_000_000])
def test_sizes_are_possible_for_every_text(num_words: int) -> None:
    found = chosen(num_words)
    counts = zipf_counts(num_words)
    assert found.vocabulary_size <= min(50_000, len(counts))
    assert 1 <= found.base_size <= 8_000
    assert found.base_size < found.vocabulary_size - 3
    if found.vocabulary_size < 50_000:
        # the last word is frequent enough, and the next is not
        assert counts[found.vocabulary_size - 1] >= found.recipe.least_count > counts[found.vocabulary_size]


def test_a_small_text_is_read_often_and_a_large_one_once() -> None:
    small, medium, large = (chosen(words).recipe for words in (18_000, 550_000, 90_000_000))
    assert small.epochs > medium.epochs > large.epochs == 1
    # and training has steps enough to learn something
    assert 18_000 * small.epochs / small.batch_words > 500
    assert chosen(90_000_000).vocabulary_size == 50_000
    assert chosen(90_000_000).base_size == 8_000


def test_what_is_given_stays() -> None:
    counts = np.full(1_003, 1)
    assert choose(20_000, counts, vocabulary_size=500) == Choice(500, 497 // 3, RECIPES[0])
    assert choose(20_000, counts, vocabulary_size=500, base_size=7).base_size == 7


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"vocabulary_size": 1_004}, "1,003 different words"),
        ({"vocabulary_size": 4}, "choose 5 to"),
        ({"vocabulary_size": 103, "base_size": 100}, "choose 1 to 99"),
        ({"base_size": 0}, "choose 1 to"),
    ],
)
def test_impossible_sizes(sizes: dict[str, int], told: str) -> None:
    with pytest.raises(InputError, match=told):
        choose(20_000, np.full(1_003, 2), **sizes)


@pytest.mark.parametrize("words", [(1_999, 100, 100), (5_000, 0, 100), (5_000, 100, 0)])
def test_too_little_text(words: tuple[int, int, int]) -> None:
    check_text("a.txt", 2_000, 1, 1)
    with pytest.raises(InputError, match=r"a\.txt: .* needs 2,000"):
        check_text("a.txt", *words)
