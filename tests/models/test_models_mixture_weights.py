"""Expectation maximisation of mixture weights: against a second optimiser, a grid, and its own promises."""

import numpy as np
import pytest
from scipy.optimize import minimize

from fewwords.errors import InputError
from fewwords.models.mixture.weights import check_weights, mix_log_probs, tune_weights


def made_up(num_models: int, num_targets: int = 400, seed: int = 0) -> np.ndarray:
    """ln p of models that are good at different targets, [models, targets]."""
    chance = np.random.default_rng(seed)
    return np.log(chance.beta(0.5, 3, (num_models, num_targets)) + 1e-6)


def mean(log_probs: np.ndarray, weights: np.ndarray) -> float:
    return float(np.log(weights @ np.exp(log_probs)).mean())


def test_the_sum_by_hand() -> None:
    log_probs = np.log([[0.5, 0.1], [0.2, 0.4]])
    np.testing.assert_allclose(mix_log_probs(log_probs, [0.25, 0.75]), np.log([0.125 + 0.15, 0.025 + 0.3]))
    np.testing.assert_allclose(mix_log_probs(log_probs, [0, 1]), log_probs[1])
    np.testing.assert_allclose(mix_log_probs(log_probs - 2000, [0.25, 0.75]), np.log([0.275, 0.325]) - 2000)


def test_one_round_by_hand() -> None:
    """A weight becomes the mean share of its model in the probability of the targets, here 0.35 and 0.25 in all."""
    weights = tune_weights(np.log([[0.5, 0.1], [0.2, 0.4]]), tolerance=0, most_rounds=1)
    first = (0.25 / 0.35 + 0.05 / 0.25) / 2
    np.testing.assert_allclose(weights, [first, 1 - first])


@pytest.mark.parametrize("seed", range(4))
def test_two_weights_against_a_fine_grid(seed: int) -> None:
    log_probs = made_up(2, seed=seed)
    grid = np.linspace(0, 1, 2001)
    best = grid[np.argmax([mean(log_probs, np.array([weight, 1 - weight])) for weight in grid])]
    weights = tune_weights(log_probs, tolerance=1e-9)
    assert weights[0] == pytest.approx(best, abs=1 / 2000)
    assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("num_models", [3, 5])
def test_many_weights_against_another_optimiser(num_models: int) -> None:
    log_probs = made_up(num_models, seed=num_models)
    log_probs[0] -= 3  # a bad model, whose best weight is next to nothing
    found = minimize(
        lambda weights: -mean(log_probs, weights),
        np.full(num_models, 1 / num_models),
        bounds=[(1e-12, 1)] * num_models,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success
    weights = tune_weights(log_probs, tolerance=1e-9, most_rounds=100_000)
    np.testing.assert_allclose(weights, found.x, atol=1e-3)
    assert mean(log_probs, weights) >= -found.fun - 1e-8


def test_the_likelihood_never_falls_and_ends_within_the_tolerance() -> None:
    log_probs = made_up(4, seed=9)
    means = [mean(log_probs, tune_weights(log_probs, tolerance=0, most_rounds=rounds)) for rounds in range(60)]
    assert means[0] == pytest.approx(mean(log_probs, np.full(4, 0.25)))
    assert np.all(np.diff(means) >= -1e-14)
    assert means[-1] > means[0] + 1e-3
    best = mean(log_probs, tune_weights(log_probs, tolerance=0, most_rounds=20_000))
    for tolerance in (1e-2, 1e-4, 1e-6):
        assert best - tolerance <= mean(log_probs, tune_weights(log_probs, tolerance=tolerance)) <= best + 1e-12


def test_the_mix_is_no_worse_than_the_best_model() -> None:
    good, bad = made_up(2, seed=3)
    log_probs = np.stack([good, np.minimum(good, bad) - 0.1])  # the second is worse at everything
    weights = tune_weights(log_probs)
    assert weights[0] > 0.999
    assert mean(log_probs, weights) >= good.mean() - 1e-6


def test_equal_models_keep_equal_weights() -> None:
    log_probs = np.repeat(made_up(1), 3, axis=0)
    np.testing.assert_array_equal(tune_weights(log_probs), np.full(3, 1 / 3))


def test_probabilities_beyond_what_exp_can_hold_and_of_zero() -> None:
    log_probs = made_up(2)
    expected = tune_weights(log_probs)
    np.testing.assert_allclose(tune_weights(log_probs - 5000), expected)
    lost = np.full((2, 3), -np.inf)
    np.testing.assert_allclose(tune_weights(np.concatenate([log_probs, lost], axis=1)), expected)
    np.testing.assert_array_equal(tune_weights(lost), [0.5, 0.5])
    assert tune_weights(np.array([[0.0, -np.inf], [-1.0, -1.0]]), tolerance=1e-9)[1] > 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.5, 0.0], "3 weights for 2 models"),
        ([], "0 weights for 2 models"),
        ([1.5, -0.5], "numbers from 0 to 1"),
        ([np.nan, 1.0], "numbers from 0 to 1"),
        ([0.5, 0.4], "sum to 0.9"),
    ],
)
def test_weights_that_are_no_distribution(weights: list[float], message: str) -> None:
    with pytest.raises(InputError, match=f"here: .*{message}"):
        check_weights(weights, 2, "here")


def test_weights_with_the_error_of_a_few_digits_will_do() -> None:
    check_weights([0.333333, 0.333333, 0.333334], 3, "")
    check_weights([0.1] * 10, 10, "")
