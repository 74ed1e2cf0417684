"""The store of vectors: to the bit and back, refusing what is damaged or belongs to other words; nearest words."""

from dataclasses import replace

import numpy as np
import pytest

from fewwords.errors import InputError
from fewwords.vectors import WordVectors, nearest_words
from fewwords.vectors.word_vectors import _FILE
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary
from fewwords.work_folder import vectors_path
from two_files import write_old_vectors

WORDS = [*SPECIAL_WORDS, "the", "house", "houses", "river", "zebra"]


@pytest.fixture
def vocabulary():
    return Vocabulary(WORDS, np.arange(len(WORDS), 0, -1))


@pytest.fixture
def vectors(vocabulary):
    values = np.random.default_rng(1).normal(size=(len(WORDS), 5)).astype(np.float32)
    has_vector = np.array([False] * 3 + [True] * 4 + [False])
    values[~has_vector] = 0
    return WordVectors(values, has_vector, vocabulary.fingerprint, {"seed": 7})


def test_round_trip_to_the_bit(vectors, tmp_path):
    vectors.save(tmp_path)
    loaded = WordVectors.load(tmp_path)
    assert loaded.values.tobytes() == vectors.values.tobytes()
    assert loaded.has_vector.tobytes() == vectors.has_vector.tobytes()
    assert (loaded.vocabulary_fingerprint, loaded.made_from) == (vectors.vocabulary_fingerprint, {"seed": 7})
    assert (len(loaded), loaded.size, loaded.num_without_vector) == (8, 5, 1)
    assert sorted(path.name for path in (tmp_path / "vectors").iterdir()) == ["vectors.safetensors"]
    assert WordVectors.stored_shape(tmp_path) == (8, 5)


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"vectors\.safetensors: no such file; run fewwords\.make_vectors"):
        WordVectors.load(tmp_path)
    assert WordVectors.stored_shape(tmp_path) is None


def test_truncated_and_changed_files(vectors, tmp_path):
    vectors.save(tmp_path)
    path = vectors_path(tmp_path)
    content = path.read_bytes()
    for damaged in (content[:-1], content[:-1] + bytes([content[-1] ^ 1]), b""):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"truncated or changed.*force=True"):
            WordVectors.load(tmp_path)


def test_a_damaged_header_is_not_taken_for_no_vectors(vectors, tmp_path):
    vectors.save(tmp_path)
    path = vectors_path(tmp_path)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match=r"vectors\.safetensors: truncated or changed.*force=True"):
        WordVectors.stored_shape(tmp_path)


def test_vectors_of_two_files_still_load(vectors, vocabulary, tmp_path):
    write_old_vectors(vectors, vectors_path(tmp_path))
    loaded = WordVectors.load(tmp_path)
    loaded.check_fits(vocabulary)
    assert (loaded.values.tobytes(), loaded.made_from) == (vectors.values.tobytes(), {"seed": 7})
    assert WordVectors.stored_shape(tmp_path) == (8, 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "fewwords codes 1"}, "not a file of vectors"),
        ({"made_from": None}, "made_from is .*, not an object"),
        ({"vocabulary": None}, "vocabulary is None, not a string"),
        ({"sha256": "0"}, "truncated or changed"),
    ],
)
def test_changed_description_of_two_files(vectors, tmp_path, change, message):
    write_old_vectors(vectors, vectors_path(tmp_path), **change)
    with pytest.raises(InputError, match=rf"vectors\.safetensors: .*{message}.*force=True"):
        WordVectors.load(tmp_path)


def test_vectors_for_other_words(vectors, tmp_path, vocabulary):
    replace(vectors, vocabulary_fingerprint="0").save(tmp_path)
    with pytest.raises(InputError, match="made for another vocabulary"):
        WordVectors.load(tmp_path).check_fits(vocabulary)


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("values", (4, 2), np.nan, "rank 4 has a NaN, infinite or"),
        ("values", (5, 0), -np.inf, "rank 5 has a NaN, infinite or"),
        ("values", (5, 0), 1e30, "rank 5 has a NaN, infinite or absurdly large"),
        ("values", 6, 0.0, "has_vector of the word of rank 6"),
        ("has_vector", 7, True, "has_vector of the word of rank 7"),
        ("has_vector", 1, True, "a special word has a vector"),
    ],
)
def test_bad_values_are_refused_even_with_a_matching_hash(vectors, tmp_path, name, place, value, message):
    arrays = {"values": vectors.values.copy(), "has_vector": vectors.has_vector.copy()}
    arrays[name][place] = value
    path = vectors_path(tmp_path)
    _FILE.save(path, arrays, {"vocabulary": "", "made_from": {}})
    with pytest.raises(InputError, match=message) as error:
        WordVectors.load(tmp_path)
    assert str(path) in str(error.value)


def test_arrays_of_other_shapes_and_types(vectors):
    for values, has_vector in [
        (vectors.values.astype(np.float64), vectors.has_vector),
        (vectors.values[0], vectors.has_vector),
        (vectors.values[:, :0], vectors.has_vector),
        (vectors.values, vectors.has_vector[1:]),
        (vectors.values, vectors.has_vector.astype(np.int8)),
    ]:
        with pytest.raises(InputError, match="vectors: "):
            WordVectors(values, has_vector, "")


def test_fits_its_vocabulary_and_larger_ones_only(vectors, vocabulary):
    vectors.check_fits(vocabulary)
    vectors.check_fits(Vocabulary([*WORDS, "more"], np.ones(9, np.int64)))
    swapped = [*WORDS[:6], WORDS[7], WORDS[6]]
    with pytest.raises(InputError, match=r"another vocabulary.*run fewwords\.make_vectors\(force=True"):
        vectors.check_fits(Vocabulary(swapped, vocabulary.counts))
    with pytest.raises(InputError, match="8 words, but the vocabulary has only 7"):
        vectors.check_fits(Vocabulary(WORDS[:7], vocabulary.counts[:7]))


def test_neighbours_against_cosines_one_by_one(vectors):
    ranks, cosines = vectors.neighbours([3, 5], k=2)
    for row, word in enumerate([3, 5]):
        expected = {
            other: float(
                vectors.values[word]
                @ vectors.values[other]
                / np.linalg.norm(vectors.values[word])
                / np.linalg.norm(vectors.values[other])
            )
            for other in range(3, 7)
            if other != word
        }
        best = sorted(expected, key=lambda other: -expected[other])[:2]
        assert ranks[row].tolist() == best
        assert cosines[row] == pytest.approx([expected[other] for other in best], abs=1e-6)


def test_neighbours_are_never_the_word_itself_or_without_vector(vectors):
    ranks, cosines = vectors.neighbours([4], k=100)
    assert sorted(ranks[0].tolist()) == [3, 5, 6]
    assert np.isfinite(cosines).all()


def test_nearest_words_are_named(vectors, vocabulary):
    ranks, _ = vectors.neighbours([4], k=3)
    assert [word for word, _ in nearest_words(vectors, vocabulary, "house", 3)] == vocabulary.decode(ranks[0])


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("hause", "hause: not in the corpus; did you mean house"),
        ("House", "did you mean house"),
        ("qqqq", "not in the corpus; choose another"),
        ("", "not in the corpus"),
        ("zebra", "zebra: has no vector"),
        ("<unk>", "special words have no vector"),
        ("later", "word number 8 .* the first 8 have vectors.*vocabulary_size=9"),
    ],
)
def test_words_without_neighbours(vectors, word, message):
    with pytest.raises(InputError, match=message):
        nearest_words(vectors, Vocabulary([*WORDS, "later"], np.ones(9, np.int64)), word)
