"""Non-zeros where they pay: no other choice of as many has a smaller loss, and frequent words get more of them."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from fewwords.codes.allocation import choose_codes, lengths_up_to
from fewwords.codes.objective import fitting_loss
from fewwords.codes.settings import CodingSettings
from fewwords.codes.solve import solve_codes
from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError

NUM_BASE = 40


def candidate(length: int, num_rare: int) -> SparseCodes:
    """Codes of one length whose values tell which candidate they are from."""
    offsets = np.arange(num_rare + 1) * length
    indices = np.tile(np.arange(length), num_rare).astype(np.uint16)
    return SparseCodes(offsets, indices, np.full(num_rare * length, float(length), np.float32), 10)


def vectors(num_words: int = 140) -> NDArray[np.float32]:
    values = np.random.default_rng(3).normal(size=(num_words, 16)).astype(np.float32)
    values[:3] = 0
    return values


@pytest.mark.parametrize("mean", [1.0, 1.5, 2.0, 3.2, 4.0])
def test_no_other_choice_of_as_many_nonzeros_has_a_smaller_loss(mean: float) -> None:
    chance = np.random.default_rng(1)
    lengths = [1, 2, 4]
    losses = np.sort(chance.random((3, 5)), axis=0)[::-1]
    counts = chance.integers(1, 100, 5).astype(np.float64)
    codes = choose_codes([candidate(length, 5) for length in lengths], losses, counts, mean)
    chosen = np.diff(codes.offsets)
    assert chosen.mean() <= mean
    assert codes.values.tolist() == np.repeat(chosen, chosen).tolist()  # each word has the whole code of its candidate
    reached = sum(counts[word] * losses[lengths.index(length), word] for word, length in enumerate(chosen))
    for other in itertools.product(range(3), repeat=5):
        if sum(lengths[each] for each in other) <= chosen.sum():
            assert reached <= losses[list(other), range(5)] @ counts + 1e-12


def test_a_mean_that_all_can_have_leaves_the_best_codes() -> None:
    losses = np.array([[0.5, 0.4], [0.3, 0.2]])
    codes = choose_codes([candidate(1, 2), candidate(3, 2)], losses, np.ones(2), 3)
    assert np.diff(codes.offsets).tolist() == [3, 3]
    with pytest.raises(ValueError, match="shortest"):
        choose_codes([candidate(2, 2)], losses[:1], np.ones(2), 1)


def test_the_lengths_that_are_tried() -> None:
    assert lengths_up_to(1) == [1]
    assert lengths_up_to(8) == [1, 2, 3, 4, 5, 6, 8]
    assert lengths_up_to(9)[-2:] == [8, 9]


def test_frequent_words_get_more_nonzeros_than_rare_ones_and_each_code_is_the_best_of_its_length() -> None:
    values = vectors()
    counts = np.concatenate([np.full(NUM_BASE, 1000), np.full(50, 100), np.full(50, 2)])
    settings = CodingSettings(max_nonzeros=6, mean_nonzeros=3)
    codes, _ = solve_codes(values, NUM_BASE, settings, counts=counts, jobs=1)
    lengths = np.diff(codes.offsets)
    assert 2.8 < lengths.mean() <= 3
    assert lengths[:50].mean() > lengths[50:].mean() + 1
    assert codes.made_from["mean_nonzeros"] == 3
    for word in (0, 60, 99):
        alike, _ = solve_codes(values, NUM_BASE, CodingSettings(max_nonzeros=int(lengths[word])), jobs=1)
        for ours, theirs in zip(codes.row(NUM_BASE + word), alike.row(NUM_BASE + word)):
            np.testing.assert_array_equal(ours, theirs)
    same, _ = solve_codes(values, NUM_BASE, CodingSettings(max_nonzeros=3), jobs=1)
    units = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-9)
    sums = [fitting_loss(each, units[:NUM_BASE], units[NUM_BASE:]) @ counts[NUM_BASE:] for each in (codes, same)]
    assert sums[0] < 0.95 * sums[1]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"mean_nonzeros": 9}, "give 1 to 8, which is `max_nonzeros`"),
        ({"mean_nonzeros": 0.5}, "give 1 to 8, which is `max_nonzeros`"),
        ({"mean_nonzeros": 3, "max_nonzeros": None}, "give a limit"),
        ({"mean_nonzeros": 3, "solver": "adam"}, "for the exact solver"),
    ],
)
def test_means_that_cannot_be_kept_are_refused(settings: dict[str, float], told: str) -> None:
    with pytest.raises(InputError, match=told):
        CodingSettings(**settings)  # type: ignore[arg-type]
