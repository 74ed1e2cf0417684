"""Seeds, spreads, and what may be said of a difference."""

import statistics
from collections.abc import Callable

import pytest

from fewwords.paper.record import Record
from fewwords.paper.tables.seeds import Comparison, Runs, compare, gather_runs

Make = Callable[..., Record]


def cell_of(records: list[Record], name: str) -> Runs:
    return next(cell for cell in gather_runs(records).values() if name in [each.name for each in cell.records])


def test_spread_is_the_sample_deviation_over_the_mean(record: Make) -> None:
    found = [record("lstm-z", 22_000, seed=seed, ppl=ppl) for seed, ppl in ((2, 104.0), (1, 100.0), (3, 99.0))]
    cell = cell_of(found, "lstm-z-v22000-w5M")
    # deviations 3, -1, -2 from a mean of 101: (9 + 1 + 4) / 2 = 7
    assert cell.mean == pytest.approx(101)
    assert cell.deviation == pytest.approx(7**0.5)
    assert cell.spread == pytest.approx(7**0.5 / 101)
    assert not cell.pooled
    assert cell.first.seed == 1


def test_one_seed_takes_the_spread_of_the_same_model_elsewhere(record: Make) -> None:
    found = [record("lstm-s", 22_000, seed=1, ppl=100.0), record("lstm-s", 22_000, seed=2, ppl=110.0)]
    found += [record("lstm-z", 22_000, seed=1, ppl=100.0), record("lstm-z", 22_000, seed=2, ppl=101.0)]
    found += [record("lstm-z", 50_000, ppl=90.0), record("kn3", 50_000, ppl=90.0)]
    cell = cell_of(found, "lstm-z-v50000-w5M")
    assert cell.pooled
    assert cell.spread == pytest.approx(statistics.stdev([100, 101]) / 100.5)
    assert (cell_of(found, "kn3-v50000-w5M").spread, cell_of(found, "kn3-v50000-w5M").pooled) == (0.0, False)


def test_the_papers_size_takes_the_spread_of_the_small_budget(record: Make) -> None:
    found = [record("lstm-z", 22_000, seed=1, ppl=100.0), record("lstm-z", 22_000, seed=2, ppl=101.0)]
    cell = cell_of([*found, record("lstm-z", 22_000, budget="", ppl=60.0)], "lstm-z-v22000")
    assert (len(cell.records), cell.pooled) == (1, True)
    assert cell.spread == pytest.approx(statistics.stdev([100, 101]) / 100.5)


def test_one_seed_of_a_model_without_spread_takes_the_largest_of_all(record: Make) -> None:
    found = [record("lstm-s", 22_000, seed=1, ppl=100.0), record("lstm-s", 22_000, seed=2, ppl=110.0)]
    found += [record("lstm-z", 22_000, seed=1, ppl=100.0), record("lstm-z", 22_000, seed=2, ppl=101.0)]
    cell = cell_of([*found, record("lstm-z-w", 22_000, ppl=90.0)], "lstm-z-w-v22000-w5M")
    assert cell.pooled
    assert cell.spread == pytest.approx(statistics.stdev([100, 110]) / 105)


def test_unstable_models_lend_their_spread_to_none_but_their_like(record: Make) -> None:
    found = [
        record("lstm-z-zero-bias", 22_000, seed=1, ppl=100.0),
        record("lstm-z-zero-bias", 22_000, seed=2, ppl=300.0),
    ]
    found += [record("lstm-z", 22_000, ppl=100.0), record("lstm-s-zero-bias", 22_000, ppl=100.0)]
    assert cell_of(found, "lstm-z-v22000-w5M").spread is None
    assert cell_of(found, "lstm-s-zero-bias-v22000-w5M").spread == pytest.approx(statistics.stdev([100, 300]) / 200)


def test_a_diverged_seed_leaves_no_mean(record: Make) -> None:
    found = [record("lstm-s", 22_000, seed=1, ppl=100.0), record("lstm-s", 22_000, seed=2, ppl=3.5e6)]
    cell = cell_of(found, "lstm-s-v22000-w5M")
    assert cell.mean is None
    assert cell.spread is None


@pytest.mark.parametrize(("ppl", "diverged"), [(None, True), (float("inf"), True), (22_001.0, True), (21_999.0, False)])
def test_diverged_means_worse_than_a_uniform_guess(record: Make, ppl: float | None, diverged: bool) -> None:
    assert record("lstm-z", 22_000, ppl=ppl).has_diverged is diverged


def test_a_row_of_table_3_that_is_a_control_too_stays_one_cell(record: Make) -> None:
    control = {"table": "normaliser", "setting": "one", "reference": "lstm-z-v22000-w5M"}
    found = [record("lstm-s", 22_000, control=control), record("lstm-s", 22_000, seed=2)]
    assert [len(cell.records) for cell in gather_runs(found).values()] == [2]


@pytest.mark.parametrize(
    ("ratio", "spread", "of", "side"),
    [(0.97, 0.01, 1.0, -1), (0.981, 0.01, 1.0, 0), (1.019, 0.01, 1.0, 0), (1.03, 0.01, 1.0, 1)]
    + [(0.5, None, 1.0, None), (0.91, 0.01, 0.9, 0), (0.87, 0.01, 0.9, -1), (0.95, 0.01, 0.9, 1)],
)
def test_a_side_is_taken_only_beyond_twice_the_spread(
    ratio: float, spread: float | None, of: float, side: int | None
) -> None:
    assert Comparison(ratio, spread, False).side(of) == side


def test_the_wider_spread_counts(record: Make) -> None:
    left = Runs((record("lstm-z", 22_000, ppl=90.0),), 0.001)
    right = Runs((record("lstm-s", 22_000, ppl=100.0),), 0.02, pooled=True)
    assert compare(left, right) == Comparison(0.9, 0.02, True)
    assert compare(left, None) is None
