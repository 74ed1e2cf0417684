"""Quantisation against what it claims: the least error over scales and tables, and a smaller error of products."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from fewwords.models.neural.folder import save_neural
from fewwords.models.packed.parts import HIGHEST_STEP, LOWEST_STEP, Reader, read_vector, vector_part
from fewwords.packing.inputs import encoder_inputs
from fewwords.packing.make_parts import make_parts
from fewwords.packing.quantise import dequantise, num_groups, quantise_matrix, quantise_values
from fewwords.packing.recipe import RECIPES
from fewwords.runtime import load
from packed_models import make_neural

CHANCE = np.random.default_rng(5)


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


def test_the_inputs_are_what_the_encoder_meets(tmp_path: Path) -> None:
    save_neural(tmp_path, make_neural("lstm-z-w", size=12), "")
    model = load(tmp_path)
    sentences = [np.array(words, np.int64) for words in ([5, 40, 9], [7], [3, 50, 8], [])]
    inputs = encoder_inputs(model.network, sentences)
    states = []
    for sentence in sentences:
        states.append(model.start())
        for word in sentence.tolist():
            states.append(model.feed(states[-1], word))
    expected = {tuple(np.round(state[0][-1, 0], 4).tolist()) for state in states}
    assert {tuple(row) for row in np.round(inputs["lstm.weight_hh_l0"], 4).tolist()} == expected
    read = model.network.vectors(np.array([1, 1, 1, 1, 5, 40, 9, 7, 3, 50, 8]))
    np.testing.assert_allclose(inputs["lstm.weight_ih_l0"].mean(0), read.mean(0), rtol=1e-4, atol=1e-6)


def test_text_makes_the_gates_more_exact(tmp_path: Path) -> None:
    save_neural(tmp_path, make_neural("lstm-z-w", size=40), "")
    model = load(tmp_path)
    sentences = [(60 * CHANCE.random(8) ** 2).astype(np.int64) for _ in range(200)]
    inputs = encoder_inputs(model.network, sentences)

    def gates(weights: Mapping[str, np.ndarray]) -> np.ndarray:
        rows = inputs["lstm.weight_ih_l0"]
        return rows @ weights["lstm.weight_ih_l0"].T + weights["lstm.bias_ih_l0"]

    exact = gates(model.network.encoder.weights)
    errors = []
    for given in ({}, inputs):
        off = gates(make_parts(model, RECIPES[4], given).network().encoder.weights) - exact
        errors.append(np.square(off).mean())
    assert errors[1] < 0.5 * errors[0]


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
