"""What both solvers refuse, what importing them costs, and the controls."""

import subprocess
import sys

import numpy as np
import pytest

from fewwords.codes import CodingSettings, nearest_codes, random_codes, solve_codes
from fewwords.errors import InputError


def vectors() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((30, 5)).astype(np.float32)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 7, 29])
def test_values_that_are_no_numbers_are_refused_by_row(bad: float, row: int) -> None:
    table = vectors()
    table[row, 2] = bad
    with pytest.raises(InputError, match=f"row {row} "):
        solve_codes(table, 20)


def test_a_rare_word_without_a_direction_is_refused_by_row() -> None:
    table = vectors()
    table[25] = 0
    with pytest.raises(InputError, match="row 25 "):
        solve_codes(table, 20)


def test_base_words_without_a_direction_are_no_atoms() -> None:
    table = vectors()
    table[[0, 1, 2, 10]] = 0
    codes, _ = solve_codes(table, 20, CodingSettings(max_nonzeros=None))
    assert not np.isin(codes.indices, [0, 1, 2, 10]).any()
    table[3:20] = 0
    with pytest.raises(InputError, match="every base word"):
        solve_codes(table, 20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_base": 0}, "0 base words"),
        ({"num_base": 30}, "30 base words"),
        ({"num_base": 31}, "31 base words"),
        ({"num_base": 3}, "special"),
        ({"num_base": 20, "tolerance": 0.0}, "tolerance"),
        ({"num_base": 20, "jobs": 0}, "jobs"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve_codes(vectors(), **arguments)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_nonzeros": 0}, "max_nonzeros"),
        ({"solver": "magic"}, "magic"),
        ({"solver": "adam", "sum_to_one": True}, "adam"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CodingSettings(**settings)


def test_vectors_of_a_wrong_shape_are_refused() -> None:
    with pytest.raises(InputError, match="shape"):
        solve_codes(np.ones(30, np.float32), 20)


def test_what_the_codes_were_made_from_is_kept() -> None:
    codes, trace = solve_codes(vectors(), 20, CodingSettings(max_nonzeros=2), made_from={"vectors": "0a1b"})
    assert codes.made_from["vectors"] == "0a1b"
    assert codes.made_from["max_nonzeros"] == 2
    assert sum(trace.endings.values()) == 10


def test_importing_is_light() -> None:
    check = "import sys, fewwords.codes; print([m for m in ('torch', 'scipy', 'numba') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_random_codes() -> None:
    codes = random_codes(200, 20, 4, seed=5)
    assert (codes.num_words, codes.num_base, codes.nonzeros_per_rare_word) == (200, 20, 4)
    assert (codes.values == 0.25).all()
    assert set(codes.indices.tolist()) == set(range(3, 20))
    assert np.array_equal(codes.indices, random_codes(200, 20, 4, seed=5).indices)
    assert not np.array_equal(codes.indices, random_codes(200, 20, 4, seed=6).indices)
    with pytest.raises(InputError, match="non-zeros"):
        random_codes(200, 20, 18, seed=5)


def test_nearest_codes() -> None:
    table = vectors()
    table[:3] = table[20:23] * 2  # a special word would be the nearest, if it were allowed
    codes = nearest_codes(table, 20)
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    expected = 3 + (unit[20:] @ unit[3:20].T).argmax(axis=1)
    assert codes.indices.tolist() == expected.tolist()
    assert (codes.values == 1).all()
