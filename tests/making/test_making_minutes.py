"""What fits into a time: the time that the answer would take, added up, is the time that was given."""

import pytest

from fewwords.making.minutes import (
    FEWEST_TRAINING_WORDS,
    NUM_EVALUATIONS,
    SHARE_OF_VECTORS,
    TEST_WORDS,
    training_within,
    vectors_within,
    with_last_stretch,
)
from fewwords.training.settings import LAST_STRETCH_WORDS, TrainingSettings
from fewwords.training.speed import Speed


@pytest.mark.parametrize("seconds", [300, 900, 3_600])
def test_training_takes_the_time_that_there_is(seconds: float) -> None:
    speed = Speed(20_000, 8_000)
    num_words, dev_words = 90_000_000, 100_000
    found = training_within(seconds, num_words, dev_words, 1, speed)
    scored = NUM_EVALUATIONS * found.dev_words + dev_words + found.test_words
    assert found.epochs * num_words / 20_000 + scored / 8_000 == pytest.approx(seconds, rel=1e-3)
    assert scored / 8_000 < 0.3 * seconds


def test_training_is_never_longer_than_wanted_nor_nothing() -> None:
    speed = Speed(20_000, 8_000)
    assert training_within(1e6, 500_000, 20_000, 4, speed).epochs == 4
    assert training_within(1e6, 500_000, 20_000, 4, speed).test_words == TEST_WORDS
    late = training_within(-5, 500_000, 20_000, 4, speed)
    assert late.epochs * 500_000 == pytest.approx(FEWEST_TRAINING_WORDS)
    assert late.dev_words > 0 < late.test_words


def test_vectors_get_their_share() -> None:
    assert vectors_within(1e6, 500_000, 5, 100_000) == (5, None)
    epochs, words = vectors_within(60, 500_000, 5, 100_000)
    assert (epochs, words) == (3, None)
    assert epochs * 500_000 / 100_000 <= SHARE_OF_VECTORS * 60 < (epochs + 1) * 500_000 / 100_000
    assert vectors_within(60, 90_000_000, 3, 100_000) == (1, 1_500_000)
    assert vectors_within(-1, 30_000, 3, 100_000) == (1, None)


@pytest.mark.parametrize("epochs", [0.001, 0.4, 0.95, 1.0])
def test_in_one_pass_the_last_stretch_reads_words_of_its_own(epochs: float) -> None:
    num_words = 93_000_000
    first, last = (TrainingSettings(**changes) for changes in with_last_stretch(epochs, num_words))
    assert first.words is not None
    assert last.words is not None
    assert last.skip_words == first.words <= epochs * num_words
    assert first.words + last.words <= num_words + 1
    assert last.words == pytest.approx(LAST_STRETCH_WORDS * first.words, abs=1)
    assert first.words + last.words >= epochs * num_words - 1  # and not fewer than there is time for


def test_in_several_passes_it_reads_some_of_the_words_again() -> None:
    assert with_last_stretch(4, 1_000_000) == ({"epochs": 4}, {"epochs": 4 * LAST_STRETCH_WORDS})
