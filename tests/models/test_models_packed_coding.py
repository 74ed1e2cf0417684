"""The codings of a packed file: integers of any width, unary, words, matrices."""

import base64
import zlib
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError
from fewwords.models.packed.bits import MOST_BITS, pack, pack_unary, unpack, unpack_unary
from fewwords.models.packed.codes import CodeRows
from fewwords.models.packed.matrix import FEW_VECTORS, FloatMatrix, QuantisedMatrix, all_rows, store_levels
from fewwords.models.packed.words import decode_words, encode_words, rank_width
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary
from page.browser import WHY_NOT, is_here, open_browser

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\t"), min_size=1, max_size=40)


@given(st.integers(1, MOST_BITS), st.data())
def test_integers_of_any_width(width: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(0, 2**width - 1), max_size=40))
    packed = pack(np.array(values, np.int64), width)
    as_one = sum(value << width * place for place, value in enumerate(values))
    assert packed.tobytes() == as_one.to_bytes(-(-width * len(values) // 8), "little")
    assert unpack(packed, width, len(values)).tolist() == values
    with pytest.raises(InputError):
        unpack(packed, width, len(values) + 8)


def test_wider_integers_than_any_file_has_are_refused() -> None:
    for width in (0, MOST_BITS + 1, 64):
        with pytest.raises(InputError):
            unpack(np.zeros(width, np.uint8), width, 8)


@given(st.lists(st.integers(0, 30), max_size=40))
def test_unary(values: list[int]) -> None:
    packed = pack_unary(np.array(values, np.int64))
    bits = "".join("0" * value + "1" for value in values)
    assert "".join(f"{byte:08b}"[::-1] for byte in packed.tolist()).rstrip("0") == bits
    assert unpack_unary(packed, len(values)).tolist() == values
    for wrong in (len(values) + 1, len(values) - 1):
        with pytest.raises(InputError):
            unpack_unary(packed, wrong)


@given(st.lists(WORDS, unique=True, min_size=1, max_size=30).filter(lambda words: not set(words) & set(SPECIAL_WORDS)))
def test_words_come_back_in_their_order(words: list[str]) -> None:
    vocabulary = Vocabulary([*SPECIAL_WORDS, *words], np.ones(len(words) + 3, np.int64))
    found = decode_words(encode_words(vocabulary), len(vocabulary))
    assert list(found.words) == list(vocabulary.words)
    assert found.alphabetical.tolist() == vocabulary.alphabetical.tolist()


@pytest.fixture(scope="module")
def many_words() -> Vocabulary:
    """70,000 words, whose ranks have 17 bits."""
    words = [*SPECIAL_WORDS, *(f"w{7919 * rank % 69_997}é" for rank in range(69_997))]
    return Vocabulary(words, np.ones(len(words), np.int64))


def test_ranks_of_17_bits(many_words: Vocabulary) -> None:
    assert list(decode_words(encode_words(many_words), 70_000).words) == list(many_words.words)


def test_ranks_of_17_bits_in_the_page(many_words: Vocabulary) -> None:
    if not is_here():
        pytest.skip(WHY_NOT)
    arrays = {name: base64.b64encode(array).decode() for name, array in encode_words(many_words).items()}
    script = (
        files("fewwords.page").joinpath("model.js").read_text(encoding="utf-8")
        + """
        const [arrays, numWords] = arguments;
        const file = { array: (part, name) => Uint8Array.from(atob(arrays[name]), (byte) => byte.charCodeAt(0)) };
        return readWords(file, numWords).then((words) => words.join(" "));"""
    )
    with open_browser() as browser:
        assert browser.run(script, arrays, 70_000).split(" ") == list(many_words.words)


def test_long_words_that_share_more_than_a_byte_can_say() -> None:
    words = ["a" * 300, "a" * 301, *(f"b{number}" for number in range(20))]
    vocabulary = Vocabulary([*SPECIAL_WORDS, *words], np.ones(len(words) + 3, np.int64))
    assert list(decode_words(encode_words(vocabulary), len(vocabulary)).words) == list(vocabulary.words)


def test_words_that_no_reader_would_take_are_not_packed() -> None:
    vocabulary = Vocabulary([*SPECIAL_WORDS, "a" * 5000], np.ones(4, np.int64))
    with pytest.raises(InputError, match="too long to be packed"):
        encode_words(vocabulary)


def deflated(data: bytes) -> np.ndarray:
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return np.frombuffer(squeezer.compress(data) + squeezer.flush(), np.uint8)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("rests", deflated(b"a" * 10_000_000)),
        ("rests", deflated(b"a\nb\nc" + b"x" * 5000)),
        ("rests", deflated(b"b\na\nc")),
        ("rests", deflated(b"a\na\nc")),
        ("rests", deflated(b"\nb\nc")),
        ("rests", deflated(b"a\nb\n\xff")),
        ("rests", deflated(b"</s>\n<s>\n<unk>")),
        ("rests", deflated(b"a\nb")),
        ("rests", deflated(b"a\nb\nc")[:-1]),
        ("rests", np.concatenate([deflated(b"a\nb\nc"), np.zeros(3, np.uint8)])),
        ("rests", np.frombuffer(b"\xff" * 30, np.uint8)),
        ("shared", deflated(b"\0\2\0")),
        ("shared", deflated(b"\1\0\0")),
        ("shared", deflated(b"\0" * 1_000_000)),
        ("ranks", pack(np.array([0, 1, 1]), 2)),
        ("ranks", pack(np.array([0, 1, 3]), 2)),
        ("ranks", pack(np.array([0, 1]), 2)[:0]),
    ],
)
def test_words_that_are_not_a_vocabulary_are_refused(name: str, array: np.ndarray) -> None:
    arrays = {"shared": deflated(b"\0\0\0"), "rests": deflated(b"a\nb\nc"), "ranks": pack(np.arange(3), 2)}
    assert list(decode_words(arrays, 6).words) == [*SPECIAL_WORDS, "a", "b", "c"]
    with pytest.raises(InputError):
        decode_words({**arrays, name: array}, 6)


def test_ranks_take_no_more_bits_than_they_need() -> None:
    assert [rank_width(3 + count) for count in (1, 2, 3, 4, 5, 65_536, 65_537)] == [1, 1, 2, 2, 3, 16, 17]


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("rows", [1, 2, 7, 1000])
@pytest.mark.parametrize("groups", [1, 5])
def test_a_quantised_matrix_is_levels_times_scales(bits: int, rows: int, groups: int) -> None:
    chance = np.random.default_rng(rows)
    levels = chance.integers(-8 if bits == 4 else -127, 8 if bits == 4 else 128, (rows, 20))
    scales = chance.random((rows, groups)).astype(np.float32)
    expected = np.array([[levels[i, j] * scales[i, j * groups // 20] for j in range(20)] for i in range(rows)])
    matrix = QuantisedMatrix(store_levels(levels, bits), scales)
    assert (matrix.shape, matrix.bits) == ((rows, 20), bits)
    np.testing.assert_allclose(all_rows(matrix), expected, rtol=1e-6)
    ids = chance.integers(0, rows, 5)
    np.testing.assert_allclose(matrix.rows(ids), expected[ids], rtol=1e-6)
    for number in (1, FEW_VECTORS, FEW_VECTORS + 1, 30):
        vectors = chance.standard_normal((number, 20)).astype(np.float32)
        np.testing.assert_allclose(matrix.times(vectors), expected @ vectors.T, rtol=1e-4, atol=2e-3)


def test_blocks_cover_matrices_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fewwords.models.packed.matrix.BLOCK_VALUES", 12)
    chance = np.random.default_rng(0)
    for rows in range(1, 20):
        levels = chance.integers(-8, 8, (rows, 4))
        vectors = chance.standard_normal((6, 4)).astype(np.float32)
        for bits in (8, 4):
            matrix = QuantisedMatrix(store_levels(levels, bits), np.ones((rows, 1), np.float32))
            for count in (1, 6):
                np.testing.assert_allclose(matrix.times(vectors[:count]), levels @ vectors[:count].T, atol=1e-4)


def test_codes_combine_rows_and_scores_alike() -> None:
    chance = np.random.default_rng(1)
    base = chance.standard_normal((5, 3)).astype(np.float32)
    indices, values = np.array([0, 4, 2, 1, 2, 3], np.uint16), np.array([0.5, 0.25, 1, 0.1, 0.2, 0.3], np.float32)
    codes = CodeRows.from_codes(SparseCodes(np.array([0, 2, 3, 6]), indices, values, 5))
    expected = np.array([0.5 * base[0] + 0.25 * base[4], base[2], 0.1 * base[1] + 0.2 * base[2] + 0.3 * base[3]])
    found = codes.combine(FloatMatrix(base), np.array([7, 2, 5, 6]))
    np.testing.assert_allclose(found, [expected[2], base[2], expected[0], expected[1]], rtol=1e-6)
    for num_contexts in (1, 4, 9):
        contexts = chance.standard_normal((num_contexts, 3)).astype(np.float32)
        rare = np.concatenate([chunk.copy() for _, chunk in codes.rare_scores(base @ contexts.T)])
        np.testing.assert_allclose(rare, expected @ contexts.T, rtol=1e-4, atol=1e-6)
