"""The store of sparse codes: layout, scipy, disk, and values of 8 bits."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fewwords.codes import SparseCodes, random_codes
from fewwords.codes.sparse_codes import _FILE
from fewwords.errors import InputError
from two_files import write_old_codes


def small_codes() -> SparseCodes:
    """Four base words; word 4 = 0.75 of 1 and 0.5 of 3, word 5 = 2 of 0."""
    return SparseCodes(
        np.array([0, 2, 3]), np.array([1, 3, 0], np.uint16), np.array([0.75, 0.5, 2.0], np.float32), 4, {"seed": 1}
    )


def test_counts() -> None:
    codes = small_codes()
    assert (codes.num_words, codes.num_rare, codes.nonzeros_per_rare_word) == (6, 2, 1.5)
    assert codes.num_values == 6  # three indices and three values
    assert codes.num_bytes == 3 * 8 + 3 * 2 + 3 * 4


def test_rows() -> None:
    codes = small_codes()
    for word in range(4):
        assert [part.tolist() for part in codes.row(word)] == [[word], [1.0]]
    assert [part.tolist() for part in codes.row(4)] == [[1, 3], [0.75, 0.5]]
    with pytest.raises(IndexError):
        codes.row(6)


def test_scipy_and_back() -> None:
    codes = small_codes()
    dense = codes.to_csr().toarray()
    assert np.array_equal(dense[:4], np.eye(4))
    assert np.array_equal(dense[4:], [[0, 0.75, 0, 0.5], [2, 0, 0, 0]])
    again = SparseCodes.from_csr(codes.to_csr())
    assert again.indices.dtype == codes.indices.dtype
    assert np.array_equal(again.offsets, codes.offsets)
    assert np.array_equal(again.indices, codes.indices)
    assert np.array_equal(again.values, codes.values)


def test_matrix_without_identity_is_refused() -> None:
    from scipy.sparse import csr_array

    with pytest.raises(InputError, match="identity"):
        SparseCodes.from_csr(csr_array(np.array([[1.0, 0.5], [0, 1], [1, 0]])))


def test_indices_take_16_bits_as_long_as_they_fit() -> None:
    assert random_codes(65_540, 65_536, 2, seed=0).indices.dtype == np.uint16
    assert random_codes(65_540, 65_537, 2, seed=0).indices.dtype == np.int32


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offsets": np.array([0, 3, 2])}, "offsets"),
        ({"offsets": np.array([0, 4, 3])}, "offsets"),
        ({"offsets": np.array([1, 2, 3])}, "offsets"),
        ({"offsets": np.array([0, 3, 3])}, "word 5 has an empty code"),
        ({"offsets": np.array([0.0, 2.0, 3.0])}, "int64"),
        ({"indices": np.array([1, 4, 0], np.uint16)}, "outside the base"),
        ({"indices": np.array([3, 1, 0], np.uint16)}, "ascend"),
        ({"indices": np.array([1, 1, 0], np.uint16)}, "ascend"),
        ({"indices": np.array([1, 3, 0], np.int32)}, "uint16"),
        ({"values": np.array([0.75, np.nan, 2], np.float32)}, "NaN"),
        ({"values": np.array([0.75, -0.5, 2], np.float32)}, "negative"),
        ({"values": np.array([0.75, 1e38, 2], np.float32)}, "above 100,000,000"),
        ({"values": np.array([0.75, 0.5], np.float32)}, "length"),
        ({"num_base": 0}, "base words"),
    ],
)
def test_inconsistent_codes_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(small_codes(), **changes)


def test_save_and_load_to_the_bit(tmp_path: Path) -> None:
    codes = replace(random_codes(500, 100, 7, seed=3), made_from={"words": "0a1b", "steps": [1, 2]})
    codes.save(tmp_path / "codes.safetensors")
    loaded = SparseCodes.load(tmp_path / "codes.safetensors")
    for name in ("offsets", "indices", "values"):
        assert getattr(loaded, name).dtype == getattr(codes, name).dtype
        assert getattr(loaded, name).tobytes() == getattr(codes, name).tobytes()
    assert (loaded.num_base, loaded.made_from) == (codes.num_base, codes.made_from)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["codes.safetensors"]


def test_codes_of_two_files_still_load(tmp_path: Path) -> None:
    path = tmp_path / "codes.safetensors"
    write_old_codes(small_codes(), path)
    loaded = SparseCodes.load(path)
    assert (loaded.num_base, loaded.num_words, loaded.made_from) == (4, 6, {"seed": 1})
    assert loaded.values.tolist() == [0.75, 0.5, 2.0]

    changed: dict[str, object]
    for changed in ({"base_size": 5}, {"format": "other"}, {"made_from": None}, {"sha256": "0"}):
        write_old_codes(small_codes(), path, **changed)
        with pytest.raises(InputError, match=r"codes\.safetensors: .*; make the codes"):
            SparseCodes.load(path)
    path.with_suffix(".json").unlink()
    with pytest.raises(InputError, match=r"codes\.safetensors: not a file of codes, and no codes\.json"):
        SparseCodes.load(path)


def test_damaged_files_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "codes.safetensors"
    with pytest.raises(InputError, match=r"codes\.safetensors: no such file"):
        SparseCodes.load(path)
    small_codes().save(path)
    content = path.read_bytes()
    path.write_bytes(content[:-3])
    with pytest.raises(InputError, match=r"codes\.safetensors.*truncated"):
        SparseCodes.load(path)
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(InputError, match=r"codes\.safetensors.*changed"):
        SparseCodes.load(path)
    path.write_bytes(content.replace(b'num_base\\": 4', b'num_base\\": 5'))
    assert path.read_bytes() != content
    with pytest.raises(InputError, match=r"codes\.safetensors.*changed"):
        SparseCodes.load(path)


@pytest.mark.parametrize(
    ("changes", "facts", "message"),
    [
        ({"values": np.array([-1], np.float32)}, {}, "negative"),
        ({"values": np.array([1.0])}, {}, "float32"),
        ({"offsets": np.array([0, 2])}, {}, "offsets"),
        ({}, {"num_base": 0}, "0 base words"),
        ({}, {"num_base": "4"}, "num_base is .*, not a whole number"),
        ({}, {"num_base": True}, "num_base is .*, not a whole number"),
        ({}, {"made_from": []}, "made_from is .*, not an object"),
    ],
)
def test_files_with_a_true_hash_and_a_false_content_are_refused(
    tmp_path: Path, changes: dict[str, Any], facts: dict[str, Any], message: str
) -> None:
    path = tmp_path / "codes.safetensors"
    arrays = {"offsets": np.array([0, 1]), "indices": np.zeros(1, np.uint16), "values": np.ones(1, np.float32)}
    _FILE.save(path, arrays, {"num_base": 4, "made_from": {}})
    assert SparseCodes.load(path).num_words == 5
    _FILE.save(path, arrays | changes, {"num_base": 4, "made_from": {}} | facts)
    with pytest.raises(InputError, match=rf"codes\.safetensors: .*{message}.*; make the codes again"):
        SparseCodes.load(path)


@given(
    arrays(np.float32, st.integers(1, 30), elements=st.floats(2.0**-20, 2.0**20, width=32)),
    st.integers(1, 6),
)
def test_quantisation_error_is_bounded(values: np.ndarray, per_word: int) -> None:
    num_words = -(-len(values) // per_word)
    offsets = np.minimum(np.arange(num_words + 1) * per_word, len(values))
    indices = (np.arange(len(values)) % per_word).astype(np.uint16)
    codes = SparseCodes(offsets, indices, values, per_word)
    quantised = codes.quantise()
    restored = quantised.dequantise()
    errors = np.abs(restored.values.astype(np.float64) - values)
    scales = np.repeat(quantised.scales, np.diff(offsets))
    assert (errors <= np.where(values >= scales / 2, 0.5001 * scales, scales)).all()
    assert np.array_equal(restored.indices, indices)
    assert quantised.max_error == pytest.approx(errors.max())
    expected = np.linalg.norm(errors) / np.linalg.norm(values.astype(np.float64))
    assert quantised.relative_error == pytest.approx(expected)


def test_quantised_codes_are_smaller() -> None:
    codes = random_codes(2000, 100, 8, seed=0)
    # Eight values of 4 bytes become eight of 1 and a scale of 4.
    assert codes.num_bytes - codes.quantise().num_bytes == 1900 * (8 * 4 - 8 - 4)
