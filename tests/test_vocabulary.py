"""The vocabulary: ids, cuts, and its file."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewwords.errors import InputError
from fewwords.vocabulary import END_ID, SPECIAL_WORDS, START_ID, UNKNOWN_ID, Vocabulary

WORDS = st.lists(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1).filter(
        lambda word: not set(word) & set("\t\n") and word not in SPECIAL_WORDS
    ),
    unique=True,
    max_size=20,
)


def vocabulary(*words: str) -> Vocabulary:
    return Vocabulary([*SPECIAL_WORDS, *words], np.arange(100, 97 - len(words), -1))


def test_special_words_come_first() -> None:
    small = vocabulary("the", "owl")
    assert small.encode(["<unk>", "<s>", "</s>"]) == [UNKNOWN_ID, START_ID, END_ID] == [0, 1, 2]


def test_encode_and_decode() -> None:
    small = vocabulary("the", "owl")
    assert small.encode(["the", "cat", "owl"]) == [3, 0, 4]
    assert small.decode(np.array([3, 0, 4])) == ["the", "<unk>", "owl"]
    assert "owl" in small
    assert "cat" not in small
    assert len(small) == 5


def test_the_head_counts_the_rest_as_unknown() -> None:
    whole = vocabulary("the", "owl", "fly")
    head = whole.head(4)
    assert list(head.words) == ["<unk>", "<s>", "</s>", "the"]
    assert head.counts.tolist() == [100 + 96 + 95, 99, 98, 97]
    assert head.counts.sum() == whole.counts.sum()
    assert whole.counts[0] == 100, "the whole one stays as it is"
    assert whole.head(6).counts.tolist() == whole.counts.tolist()


@pytest.mark.parametrize("size", [-1, 0, 3, 7])
def test_a_head_that_cannot_be(size: int) -> None:
    with pytest.raises(InputError, match="choose a size from 4 to 6"):
        vocabulary("the", "owl", "fly").head(size)


def test_the_fingerprint_is_that_of_the_words_in_order() -> None:
    assert vocabulary("a", "b").fingerprint == vocabulary("a", "b").fingerprint
    assert vocabulary("a", "b").fingerprint != vocabulary("b", "a").fingerprint
    assert vocabulary("a", "b").fingerprint != vocabulary("ab").fingerprint


@given(WORDS)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "words.tsv"
    saved = vocabulary(*words)
    saved.save(path)
    loaded = Vocabulary.load(path)
    assert list(loaded.words) == list(saved.words)
    assert loaded.counts.tolist() == saved.counts.tolist()
    assert loaded.fingerprint == saved.fingerprint
    assert list(Vocabulary.load(path, 3).words) == list(SPECIAL_WORDS)


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("0\t<unk>\t1\n1\t<s>\n", "line 2 is not"),
        ("0\t<unk>\t1\n2\t<s>\t1\n", "line 2 is not"),
        ("0\t<unk>\tmany\n", "line 1 is not"),
        ("0\t<unk>\t1\n1\t<s>\t1\n2\t</s>\t1\n3\towl", "line 4 is not"),
        ("0\tthe\t1\n1\towl\t1\n2\tfly\t1\n", "special words <unk> <s> </s> do not come first"),
        ("", "do not come first"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: str, wrong: str) -> None:
    (tmp_path / "words.tsv").write_text(content)
    with pytest.raises(InputError, match=wrong):
        Vocabulary.load(tmp_path / "words.tsv")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.tsv").write_bytes(b"0\t\xff\xfe\t1\n")
    with pytest.raises(InputError, match="line 1"):
        Vocabulary.load(tmp_path / "words.tsv")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"words\.tsv: no such file; run fewwords\.prepare"):
        Vocabulary.load(tmp_path / "words.tsv")


def test_words_that_begin_with_some_letters_are_those_of_a_plain_search() -> None:
    words = ["the", "they", "then", "a", "an", "ant", "é", "éa", "zebra", "'s", "1", "12"]
    vocabulary = Vocabulary([*SPECIAL_WORDS, *words], np.ones(len(words) + 3, np.int64))
    for prefix in ("", "t", "the", "they", "an", "é", "z", "zz", "'", "1", "<"):
        found = [vocabulary.words[rank] for rank in vocabulary.alphabetical[vocabulary.starting_with(prefix)]]
        assert found == sorted(word for word in words if word.startswith(prefix))
