"""The exact solver against other solvers, against all supports, and against its optimality conditions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls
from sklearn.linear_model import Lasso, lars_path

from fewwords.codes import CodingSettings, SparseCodes, exact, solve_codes
from fewwords.codes.atoms import unit_vectors
from fewwords.codes.objective import fitting_loss, optimality_residual

TOLERANCE = 1e-4


def problem(num_atoms: int, num_words: int, dimensions: int, seed: int) -> tuple[np.ndarray, int]:
    """Unit vectors that look like word vectors: common direction, clusters, rare words mixed from base words."""
    random = np.random.default_rng(seed)
    clusters = random.standard_normal((max(2, num_atoms // 10), dimensions))
    base = clusters[random.integers(0, len(clusters), num_atoms)] + random.standard_normal((num_atoms, dimensions))
    base += 0.5 * random.standard_normal(dimensions)
    rare = sum(share * base[random.integers(0, num_atoms, num_words)] for share in (0.6, 0.4, 0.3))
    rare = rare + 0.5 * random.standard_normal((num_words, dimensions))
    vectors = np.concatenate([np.zeros((3, dimensions)), base, rare])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return vectors.astype(np.float32), num_atoms + 3


def dense(codes: SparseCodes) -> np.ndarray:
    return codes.to_csr().toarray()[codes.num_base :]


def on_simplex(atoms: np.ndarray, word: np.ndarray) -> np.ndarray:
    """min ||x @ atoms - word||^2 on the simplex, by sequential quadratic programming."""
    count = len(atoms)
    result = minimize(
        lambda x: np.sum((x @ atoms - word) ** 2),
        np.full(count, 1 / count),
        jac=lambda x: 2 * atoms @ (x @ atoms - word),
        bounds=[(0, None)] * count,
        constraints=[{"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(count)}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.asarray(result.x)


def test_no_limit_is_non_negative_least_squares() -> None:
    vectors, num_base = problem(40, 20, 30, seed=0)
    codes, trace = solve_codes(vectors, num_base, CodingSettings(max_nonzeros=None), tolerance=1e-6)
    assert trace.endings["optimal"] == 20
    expected = [nnls(vectors[3:num_base].T.astype(float), word.astype(float))[0] for word in vectors[num_base:]]
    np.testing.assert_allclose(dense(codes)[:, 3:], expected, atol=1e-5)
    losses = [np.sum((x @ vectors[3:num_base] - w) ** 2) for x, w in zip(expected, vectors[num_base:], strict=True)]
    np.testing.assert_allclose(fitting_loss(codes, vectors[:num_base], vectors[num_base:]), losses, atol=1e-9)


def test_no_limit_is_the_end_of_the_lars_path() -> None:
    vectors, num_base = problem(30, 5, 25, seed=1)
    codes, _ = solve_codes(vectors, num_base, CodingSettings(max_nonzeros=None), tolerance=1e-6)
    for code, word in zip(dense(codes), vectors[num_base:].astype(float), strict=True):
        path = lars_path(vectors[3:num_base].T.astype(float), word, method="lasso", positive=True, max_iter=1000)[2]
        # The path's end is itself only near the optimum, which non-negative least squares finds to 1e-8.
        np.testing.assert_allclose(code[3:], path[:, -1], atol=1e-2)


def test_sum_to_one_is_the_lasso_whose_penalty_is_the_multiplier() -> None:
    vectors, num_base = problem(60, 12, 15, seed=2)
    codes, _ = solve_codes(vectors, num_base, CodingSettings(max_nonzeros=None, sum_to_one=True))
    atoms = vectors[3:num_base].astype(float)
    compared = 0
    for code, word in zip(dense(codes)[:, 3:].astype(float), vectors[num_base:].astype(float), strict=True):
        penalty = -float(code @ (2 * atoms @ (code @ atoms - word)))
        if penalty <= 1e-3:
            continue
        # scikit-learn minimises ||y - X x||^2 / (2 E) + alpha sum(x).
        lasso = Lasso(alpha=penalty / (2 * len(word)), positive=True, fit_intercept=False, tol=1e-10, max_iter=100_000)
        np.testing.assert_allclose(code, lasso.fit(atoms.T, word).coef_, atol=2e-3)
        compared += 1
    assert compared >= 6


def test_sum_to_one_against_quadratic_programming() -> None:
    vectors, num_base = problem(15, 10, 8, seed=3)
    codes, _ = solve_codes(vectors, num_base, CodingSettings(max_nonzeros=None, sum_to_one=True))
    for code, word in zip(dense(codes)[:, 3:], vectors[num_base:], strict=True):
        assert code.sum() == pytest.approx(1, abs=1e-6)
        np.testing.assert_allclose(code, on_simplex(vectors[3:num_base].astype(float), word), atol=1e-3)


@pytest.mark.parametrize("sum_to_one", [False, True])
def test_lengths_count_without_normalisation(sum_to_one: bool) -> None:
    vectors, num_base = problem(15, 8, 6, seed=4)
    lengths = np.random.default_rng(4).uniform(0.2, 5, (len(vectors), 1)).astype(np.float32)
    vectors *= lengths
    codes, _ = solve_codes(vectors, num_base, CodingSettings(max_nonzeros=None, sum_to_one=sum_to_one), normalise=False)
    atoms = vectors[3:num_base].astype(float)
    for code, word in zip(dense(codes)[:, 3:], vectors[num_base:].astype(float), strict=True):
        expected = on_simplex(atoms, word) if sum_to_one else nnls(atoms.T, word)[0]
        best = np.sum((expected @ atoms - word) ** 2)
        assert np.sum((code @ atoms - word) ** 2) == pytest.approx(best, abs=1e-4 * np.sum(word**2))


@pytest.mark.parametrize("sum_to_one", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_limited_codes_against_all_supports(limit: int, sum_to_one: bool) -> None:
    vectors, num_base = problem(10, 30, 8, seed=5)
    codes, _ = solve_codes(vectors, num_base, CodingSettings(max_nonzeros=limit, sum_to_one=sum_to_one))
    losses = fitting_loss(codes, vectors[:num_base], vectors[num_base:])
    atoms = vectors[3:num_base].astype(float)
    best = np.full(len(losses), np.inf)
    for support in combinations(range(10), limit):
        for row, word in enumerate(vectors[num_base:].astype(float)):
            chosen = atoms[list(support)]
            x = on_simplex(chosen, word) if sum_to_one else nnls(chosen.T, word)[0]
            best[row] = min(best[row], np.sum((x @ chosen - word) ** 2))
    assert np.diff(codes.offsets).max() <= limit
    assert (losses >= best - 1e-5).all()
    reached = losses <= best + 1e-5
    # One atom is a plain search; more are searched greedily, so most words reach the best and none is far from it.
    assert reached.all() if limit == 1 else reached.mean() >= 0.8
    assert losses.mean() <= 1.1 * best.mean()


def test_swaps_never_hurt_and_sometimes_help() -> None:
    vectors, num_base = problem(200, 100, 20, seed=6)
    base, rare = vectors[:num_base], vectors[num_base:]
    shared = {
        "max_nonzeros": 4, "sum_to_one": False, "normalise": True, "tolerance": TOLERANCE, "jobs": 1, "num_special": 3,
    }  # fmt: skip
    greedy = fitting_loss(exact.solve_exact(base, rare, **shared, max_tries=0)[0], base, rare)
    swapped = fitting_loss(exact.solve_exact(base, rare, **shared, max_tries=4)[0], base, rare)
    assert (swapped <= greedy + 1e-7).all()
    assert (swapped < greedy - 1e-4).any()


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    num_atoms=st.integers(1, 40),
    dimensions=st.integers(1, 12),
    limit=st.sampled_from([None, 1, 2, 5]),
    sum_to_one=st.booleans(),
    kind=st.sampled_from(["gaussian", "duplicates", "zeros", "opposed", "nearly equal", "nearly opposed"]),
)
def test_optimality_conditions_hold(
    seed: int, num_atoms: int, dimensions: int, limit: int | None, sum_to_one: bool, kind: str
) -> None:
    random = np.random.default_rng(seed)
    base, rare = random.standard_normal((num_atoms, dimensions)), random.standard_normal((8, dimensions))
    if kind == "duplicates":
        base[num_atoms // 2 :] = base[: num_atoms - num_atoms // 2]
    elif kind == "zeros":
        base[random.random(num_atoms) < 0.5] = 0
        base[0] = 1
    elif kind == "opposed":
        base, rare = np.abs(base), -np.abs(rare)
    elif kind == "nearly equal":
        base = base[:1] + 1e-3 * base
    elif kind == "nearly opposed":
        base[1::2] = 1e-2 * base[1::2] - base[: len(base[1::2])]
    rare[0], rare[1] = base[0], base[0] + base[-1]
    rare[~rare.any(axis=1)] = 1
    vectors = np.concatenate([random.standard_normal((3, dimensions)), base, rare]).astype(np.float32)
    num_base = num_atoms + 3
    codes, trace = solve_codes(vectors, num_base, CodingSettings(max_nonzeros=limit, sum_to_one=sum_to_one), jobs=1)
    assert codes.num_rare == 8
    assert trace.endings["unfinished"] == 0
    assert np.diff(codes.offsets).min() >= 1
    assert int(codes.indices.min()) >= 3
    unit = vectors.copy()
    unit[vectors.any(axis=1)], _ = unit_vectors(vectors[vectors.any(axis=1)])
    best_cosine = (unit[num_base:] @ unit[3:num_base].T).max(axis=1)
    has_neighbour = (best_cosine > TOLERANCE) | sum_to_one
    assert trace.endings["without_neighbour"] <= np.count_nonzero(~has_neighbour)
    free = limit is None or limit >= min(num_atoms, dimensions + sum_to_one)
    residual = optimality_residual(codes, unit[:num_base], unit[num_base:], sum_to_one=sum_to_one, on_support=not free)
    # Values are stored in float32; only opposed base words make sums for which that shows.
    rounding = 2.0**-23 * dense(codes).sum(axis=1, dtype=float)
    assert (residual <= TOLERANCE + np.where(rounding < 1e-5, 0, rounding))[has_neighbour].all()
    if sum_to_one:
        np.testing.assert_allclose(dense(codes).sum(axis=1), 1, atol=1e-5)


def test_hand_made_words() -> None:
    base = np.eye(4, dtype=np.float32)
    rare = np.array([[0, 2, 0, 0], [1, 0, 1, 0], [-1, 0, 0, -2]], np.float32)
    vectors = np.concatenate([np.zeros((3, 4), np.float32), base, rare])
    codes, trace = solve_codes(vectors, 7, normalise=False)
    expected = [[0, 2, 0, 0], [1, 0, 1, 0], [0, 5**0.5, 0, 0]]
    # The third word is at an obtuse or right angle to all: the nearest base word, made as long as the word.
    np.testing.assert_allclose(dense(codes)[:, 3:], expected, rtol=1e-6)
    assert trace.endings == {"optimal": 2, "limited": 0, "without_neighbour": 1, "unfinished": 0}
    assert solve_codes(vectors, 7)[0].row(7)[1].tolist() == [1.0]


def test_same_result_for_any_number_of_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "WORDS_PER_BLOCK", 64)
    monkeypatch.setattr(exact, "WORDS_PER_TASK", 5)
    vectors, num_base = problem(150, 200, 20, seed=7)
    first, second = (solve_codes(vectors, num_base, jobs=jobs)[0] for jobs in (1, 2))
    assert first.offsets.tobytes() == second.offsets.tobytes()
    assert first.indices.tobytes() == second.indices.tobytes()
    assert first.values.tobytes() == second.values.tobytes()


@pytest.mark.parametrize("sum_to_one", [False, True])
def test_the_gram_matrix_is_only_a_matter_of_speed(monkeypatch: pytest.MonkeyPatch, sum_to_one: bool) -> None:
    vectors, num_base = problem(150, 60, 20, seed=8)
    with_gram, _ = solve_codes(vectors, num_base, CodingSettings(sum_to_one=sum_to_one))
    monkeypatch.setattr(exact, "LARGEST_GRAM_BYTES", 0)
    without, _ = solve_codes(vectors, num_base, CodingSettings(sum_to_one=sum_to_one))
    assert np.array_equal(with_gram.indices, without.indices)
    np.testing.assert_allclose(with_gram.values, without.values, atol=1e-6)
