"""Quantisation against what it claims: the least error over scales and tables, and a smaller error of products."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fewwords.models.neural.folder import save_neural
from fewwords.models.packed.matrix import FloatMatrix, all_rows
from fewwords.models.packed.parts import HIGHEST_STEP, LOWEST_STEP, Reader, read_vector, scales_of, vector_part
from fewwords.packing.biases import corrected_biases
from fewwords.packing.inputs import Inputs, read_inputs
from fewwords.packing.quantise import num_groups, quantise_matrix, quantise_values
from fewwords.packing.refine import NextWords, refine
from fewwords.runtime import load
from packed_models import make_neural

CHANCE = np.random.default_rng(5)


def dequantise(levels: np.ndarray, steps: np.ndarray) -> np.ndarray:
    return levels * np.repeat(scales_of(steps).astype(np.float64), levels.shape[1] // steps.shape[1], axis=1)


@pytest.mark.parametrize(("columns", "groups"), [(200, 5), (40, 1), (10, 1), (100, 2), (7, 1), (97, 1), (300, 6)])
def test_groups_divide_the_columns(columns: int, groups: int) -> None:
    assert num_groups(columns, 4) == groups
    assert num_groups(columns, 8) == 1


@pytest.mark.parametrize("bits", [8, 4])
def test_no_other_scale_has_less_error(bits: int) -> None:
    values = CHANCE.standard_t(4, (12, 40))
    levels, steps = quantise_matrix(values.astype(np.float32), bits)
    lowest, highest = (-8, 7) if bits == 4 else (-127, 127)
    assert lowest <= levels.min() <= levels.max() <= highest
    found = np.square(dequantise(levels, steps) - values).sum(1)
    for step in range(-80, 30):
        scale = 2 ** (step / 8)
        other = np.clip(np.rint(values / scale), lowest, highest) * scale
        assert (found <= np.square(other - values).sum(1) * (1 + 1e-4)).all()


def test_zeros_and_extremes_stay_within_the_format() -> None:
    for value in (0.0, 1e-30, 1e30, -1e30):
        levels, steps = quantise_matrix(np.full((2, 4), value, np.float32), 4)
        assert LOWEST_STEP <= steps.min() <= steps.max() <= HIGHEST_STEP
        assert np.isfinite(dequantise(levels, steps)).all()


def test_moments_lower_the_error_of_products() -> None:
    mixing = CHANCE.standard_normal((40, 40)) * np.linspace(0.05, 1.5, 40)
    inputs = CHANCE.standard_normal((3000, 40)) @ mixing
    values = CHANCE.standard_normal((60, 40)).astype(np.float32)
    moments = inputs.T @ inputs / len(inputs)
    plain, informed = (dequantise(*quantise_matrix(values, 4, given)) for given in (None, moments))
    errors = [np.square((found - values) @ inputs.T).mean() for found in (plain, informed)]
    assert errors[1] < 0.8 * errors[0]


def make_inputs(tmp_path: Path, tied: bool) -> Inputs:
    save_neural(tmp_path, make_neural("lstm-z-w", size=12, tied=tied), "")
    chance = np.random.default_rng(2)
    sentences = [(60 * chance.random(chance.integers(1, 9)) ** 2).astype(np.int64) for _ in range(400)]
    return read_inputs(load(tmp_path).network, sentences)


@pytest.mark.parametrize("tied", [True, False])
def test_refined_levels_are_the_best_given_the_others(tied: bool, tmp_path: Path) -> None:
    inputs = make_inputs(tmp_path, tied)
    words = NextWords(inputs, inputs.network.codes)
    values = all_rows(inputs.network.output)
    levels, steps = quantise_matrix(values, 4, inputs.context_moments)

    def errors() -> np.ndarray:
        off = dequantise(levels, steps) - values
        return np.array([row @ words.moments(place) @ row for place, row in enumerate(off)])

    before = errors()
    for _ in range(3):
        refine(values, levels, steps, 4, words, 0)
    after = errors()
    assert (after <= before * (1 + 1e-9)).all()
    assert after.sum() < 0.95 * before.sum()
    for row, column, change in ((3, 5, 1), (20, 0, -1), (7, 11, 1), (12, 3, -1)):
        if -8 <= levels[row, column] + change <= 7:
            levels[row, column] += change
            assert errors()[row] >= after[row] * (1 - 1e-9)
            levels[row, column] -= change


def test_a_word_has_the_moments_of_the_contexts_before_it(tmp_path: Path) -> None:
    inputs = make_inputs(tmp_path, False)
    codes = inputs.network.codes
    assert codes is not None
    words = NextWords(inputs, codes)
    for row in (5, 20):
        speaks = [word == row or row in codes.sparse_codes.row(word)[0] for word in inputs.targets.tolist()]
        chosen = inputs.contexts[np.array(speaks)].astype(np.float64)
        assert len(chosen) > 3
        mean = (chosen.sum(0) + 50 * inputs.contexts.mean(0)) / (len(chosen) + 50)
        np.testing.assert_allclose(words.mean(row), mean, rtol=1e-4, atol=1e-6)
        common = np.cov(inputs.contexts.T, bias=True)
        expected = ((chosen - mean).T @ (chosen - mean) + 50 * common) / (len(chosen) + 50)
        np.testing.assert_allclose(words.moments(row), expected, rtol=1e-3, atol=1e-6)


def test_biases_make_up_for_the_mean_error(tmp_path: Path) -> None:
    """Off the same way everywhere, the output gives the scores that it gave before."""
    inputs = make_inputs(tmp_path, False)
    network = inputs.network
    shifted = replace(network, output=FloatMatrix(all_rows(network.output) + np.float32(0.1)))
    still = replace(inputs, contexts=np.broadcast_to(inputs.contexts[:1], inputs.contexts.shape))
    bias = corrected_biases(network, shifted, still)["bias"]
    found = replace(shifted, bias=bias).log_probs(inputs.contexts[:1])
    np.testing.assert_allclose(found, network.log_probs(inputs.contexts[:1]), atol=1e-4)


def test_columns_that_do_not_matter_leave_rounding_as_it_is() -> None:
    values = CHANCE.standard_normal((20, 40)).astype(np.float32)
    plain, informed = (quantise_matrix(values, 4, given) for given in (None, np.eye(40)))
    assert all(np.array_equal(*pair) for pair in zip(plain, informed))


@pytest.mark.parametrize("bits", [2, 3, 6])
def test_a_table_fulfils_lloyds_conditions(bits: int) -> None:
    values = CHANCE.lognormal(-2, 0.4, 5000).astype(np.float32)
    levels, table = quantise_values(values, bits)
    nearest = np.abs(values[:, None] - table).argmin(1)
    assert (np.abs(values - table[levels]) <= np.abs(values - table[nearest]) + 1e-6).all()
    for level in np.unique(levels):
        assert table[level] == pytest.approx(values[levels == level].mean(), rel=0.02)


def test_a_table_of_few_values_and_of_none() -> None:
    levels, table = quantise_values(np.array([0.5, 0.25, 0.5], np.float32), 3)
    assert table[levels].tolist() == [0.5, 0.25, 0.5]
    levels, table = quantise_values(np.empty(0, np.float32), 3)
    assert (len(levels), len(table), bool((table > 0).all())) == (0, 8, True)


@pytest.mark.parametrize("length", [1, 63, 64, 65, 300])
def test_a_vector_is_off_by_at_most_half_a_step(length: int) -> None:
    values = CHANCE.standard_normal(length).astype(np.float32)
    arrays, facts = vector_part(values, 5)
    found = read_vector(Reader({f"x.{name}": array for name, array in arrays.items()}, facts, "x"), length)
    steps = np.repeat(arrays["blocks"][:, 1], 64)[:length]
    assert (np.abs(found - values) <= steps / 2 + 1e-6).all()


def test_special_values_are_kept_and_cost_the_others_nothing() -> None:
    values = np.concatenate([[-3.0, -30.0, -4.0], CHANCE.standard_normal(100)]).astype(np.float32)
    arrays, facts = vector_part(values, 6, 3)
    found = read_vector(Reader({f"x.{name}": array for name, array in arrays.items()}, facts, "x"), 103, 3)
    assert found[:3].tolist() == [-3.0, -30.0, -4.0]
    assert np.abs(found - values).max() < 0.06
