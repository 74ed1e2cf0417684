"""The paper's solver: alive, sparse, and no better than the exact one at equal size."""

import numpy as np
import pytest
import torch

from fewwords.codes import solve_codes
from fewwords.codes.adam import loss_and_gradient
from fewwords.codes.objective import fitting_loss
from fewwords.codes.settings import AdamSettings, CodingSettings


def clustered(num_atoms: int, num_words: int, dimensions: int, seed: int) -> tuple[np.ndarray, int]:
    """Base words around cluster centres; rare words mixed from three of them, with noise."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((20, dimensions))
    base = centres[random.integers(0, 20, num_atoms)] + random.standard_normal((num_atoms, dimensions))
    rare = sum(share * base[random.integers(0, num_atoms, num_words)] for share in (0.6, 0.4, 0.3))
    rare = rare + 0.5 * random.standard_normal((num_words, dimensions))
    return np.concatenate([np.zeros((3, dimensions)), base, rare]).astype(np.float32), num_atoms + 3


@pytest.fixture(scope="module")
def solved() -> tuple:
    vectors, num_base = clustered(300, 60, 100, seed=0)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    settings = AdamSettings(steps=400, learning_rate=0.002, trace_every=100)
    codes, trace = solve_codes(vectors, num_base, CodingSettings(solver="adam", max_nonzeros=None, adam=settings))
    return vectors, unit, num_base, codes, trace


def test_no_code_is_empty(solved: tuple) -> None:
    _, _, _, codes, trace = solved
    assert trace.endings == {"rescued": 0}
    assert codes.num_rare == 60
    assert int(codes.indices.min()) >= 3


def test_values_under_the_threshold_are_gone(solved: tuple) -> None:
    codes = solved[3]
    for word in range(codes.num_base, codes.num_words):
        values = codes.row(word)[1]
        assert values.min() >= np.float32(0.015) * values.max()


def test_trace_tells_of_falling_loss_and_growing_sparsity(solved: tuple) -> None:
    steps = solved[4].steps
    assert [step["step"] for step in steps] == [0, 100, 200, 300, 400]
    assert steps[0]["sum"] == pytest.approx(1, abs=1e-5)
    assert steps[-1]["loss"] < steps[0]["loss"]
    # The penalties take words out once the loss has fallen.
    assert steps[-1]["nonzeros"] < max(step["nonzeros"] for step in steps)


def test_exact_is_at_least_as_good_with_as_many_words(solved: tuple) -> None:
    vectors, unit, num_base, _, _ = solved
    settings = AdamSettings(steps=400, learning_rate=0.002)
    adam, _ = solve_codes(vectors, num_base, CodingSettings(solver="adam", max_nonzeros=8, adam=settings))
    exact, _ = solve_codes(vectors, num_base, CodingSettings(max_nonzeros=8))
    adam_loss, exact_loss = (fitting_loss(codes, unit[:num_base], unit[num_base:]) for codes in (adam, exact))
    assert np.diff(adam.offsets).max() <= 8
    assert exact_loss.mean() < adam_loss.mean()
    # With no limit the exact loss is the least there is, for every word.
    free, _ = solve_codes(vectors, num_base, CodingSettings(max_nonzeros=None))
    assert (fitting_loss(free, unit[:num_base], unit[num_base:]) <= adam_loss + 1e-6).all()


def test_without_penalties_adam_finds_the_exact_optimum() -> None:
    vectors, num_base = clustered(20, 10, 30, seed=1)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    settings = AdamSettings(steps=3000, learning_rate=0.003, w_alpha=0, w_beta=0, threshold=0, num_start=20)
    adam, _ = solve_codes(vectors, num_base, CodingSettings(solver="adam", max_nonzeros=None, adam=settings))
    exact, _ = solve_codes(vectors, num_base, CodingSettings(max_nonzeros=None))
    np.testing.assert_allclose(
        fitting_loss(adam, unit[:num_base], unit[num_base:]),
        fitting_loss(exact, unit[:num_base], unit[num_base:]),
        atol=1e-4,
    )


def test_without_the_cap_words_die_and_are_rescued() -> None:
    vectors, num_base = clustered(300, 30, 40, seed=2)
    settings = AdamSettings(steps=300, learning_rate=0.005, cap=1e9)
    codes, trace = solve_codes(vectors, num_base, CodingSettings(solver="adam", adam=settings))
    assert trace.endings["rescued"] > 0
    assert codes.num_rare == 30


def test_a_word_opposed_to_all_base_words_is_coded() -> None:
    base = np.abs(np.random.default_rng(3).standard_normal((20, 10)))
    vectors = np.concatenate([base, -base[:2]]).astype(np.float32)
    codes, trace = solve_codes(
        vectors, 20, CodingSettings(solver="adam", adam=AdamSettings(steps=200, learning_rate=0.01)), normalise=False
    )
    assert trace.endings == {"rescued": 2}
    for word in (20, 21):
        rows, values = codes.row(word)
        length = np.linalg.norm(vectors[word]) / np.linalg.norm(vectors[rows[0]])
        np.testing.assert_allclose(values, [length], rtol=1e-5)


@pytest.mark.parametrize("scale", [0.02, 0.3])
def test_gradient_is_that_of_the_objective(scale: float) -> None:
    """Equation 5 written out, with alpha and beta as numbers, and differentiated by torch; sums below and above 1."""
    generator = torch.Generator().manual_seed(3)
    x = (torch.rand(6, 20, generator=generator, dtype=torch.float64) * scale).requires_grad_()
    atoms = torch.randn(20, 5, generator=generator, dtype=torch.float64)
    words = torch.randn(6, 5, generator=generator, dtype=torch.float64)
    settings = AdamSettings(cap=1e9)
    loss = ((x @ atoms - words) ** 2).sum(1)
    r1, r2 = x.abs().sum(1), (x.sum(1) - 1).abs()
    assert bool((x.sum(1) < 1).all()) == (scale < 0.1)
    alpha, beta = (loss / r1).detach(), (0.1 * loss / r2).detach()
    (loss + alpha * r1 + beta * r2).sum().backward()
    losses, gradient = loss_and_gradient(x.detach(), atoms, words, settings)
    torch.testing.assert_close(losses, loss.detach())
    torch.testing.assert_close(gradient, x.grad)
