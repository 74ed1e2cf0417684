"""The objective on sums worked out by hand, and the residual against a numerical gradient."""

import numpy as np
import pytest

from fewwords.codes import SparseCodes
from fewwords.codes.objective import (
    balanced_weight,
    distance_from_sum_one,
    fitting_loss,
    l1_norm,
    optimality_residual,
)

BASE = np.array([[1, 0], [0, 2]], np.float32)
RARE = np.array([[1, 1], [2, 0]], np.float32)
# Word 2 = 0.5 of 0 and 0.25 of 1, which is (0.5, 0.5); word 3 = 1 of 0, which is (1, 0).
CODES = SparseCodes(np.array([0, 2, 3]), np.array([0, 1, 0], np.uint16), np.array([0.5, 0.25, 1], np.float32), 2)


def test_terms_by_hand() -> None:
    assert fitting_loss(CODES, BASE, RARE).tolist() == [0.5**2 + 0.5**2, 1.0]
    assert l1_norm(CODES).tolist() == [0.75, 1.0]
    assert distance_from_sum_one(CODES).tolist() == [0.25, 0.0]


def test_balance_is_equations_6_and_7() -> None:
    loss, r1, r2 = fitting_loss(CODES, BASE, RARE), l1_norm(CODES), distance_from_sum_one(CODES)
    alpha, beta = balanced_weight(loss, r1, 1.0, 1e9), balanced_weight(loss, r2, 0.1, 1e9)
    assert alpha * r1 / loss == pytest.approx([1, 1])
    assert (beta * r2 / loss)[0] == pytest.approx(0.1)
    assert balanced_weight(loss, r2, 0.1, 0.1).tolist() == [0.1, 0.1]


def test_residual_by_hand() -> None:
    # Word 2: U x - w = (-0.5, -0.5); gradient (-1, -2) over lengths (1, 2) and |w| = sqrt 2.
    # Word 3: U x - w = (-1, 0); gradient (-2, 0) over |w| = 2.
    residual = optimality_residual(CODES, BASE, RARE, num_special=0)
    assert residual == pytest.approx([1 / 2**0.5, 1.0])
    # Word 3 on the simplex: multiplier -2, so the other atom, with gradient 0, does not violate it.
    # Word 2: multiplier 0.5 * -1 + 0.25 * -2 = -1; gradient - multiplier = (0, -1).
    residual = optimality_residual(CODES, BASE, RARE, sum_to_one=True, num_special=0)
    assert residual == pytest.approx([0.5 / 2**0.5, 0.0])


def test_on_support_ignores_the_other_words() -> None:
    # w = (1, 1) coded by the first word alone: best on its support, but the second word would help.
    codes = SparseCodes(np.array([0, 1]), np.array([0], np.uint16), np.ones(1, np.float32), 2)
    assert optimality_residual(codes, BASE, RARE[:1], on_support=True, num_special=0)[0] == pytest.approx(0)
    assert optimality_residual(codes, BASE, RARE[:1], num_special=0)[0] == pytest.approx(2 / 2**0.5)
