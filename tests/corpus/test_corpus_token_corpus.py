"""The head of a part: the first sentences up to so many words, on the file's own map."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewwords.corpus import Part
from fewwords.corpus.token_file import TokenFile, TokenWriter
from fewwords.errors import InputError

SIZE = 12


def make_part(folder: Path, lengths: list[int]) -> Part:
    """Sentences of the given lengths, their words numbered through, of which every second is past the vocabulary."""
    with TokenWriter(folder / "train.tokens", sum(lengths), len(lengths)) as writer:
        tokens = np.arange(sum(lengths)) % (2 * SIZE)
        writer.append(tokens.astype(np.uint32), np.array(lengths, np.int64))
    return Part("train", TokenFile(folder / "train.tokens"), SIZE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


def first_sentences(part: Part, max_words: int) -> list[list[int]]:
    """Sentence after sentence while they fit, the first in any case."""
    taken: list[list[int]] = []
    num_words = 0
    for sentence in part.sentences():
        num_words += len(sentence)
        if taken and num_words > max_words:
            break
        taken.append(sentence.tolist())
    return taken


@given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=20), max_words=st.integers(1, 100))
def test_head_is_the_first_sentences_that_fit(folder: Path, lengths: list[int], max_words: int) -> None:
    part = make_part(folder, lengths)
    head = part.head(max_words)
    expected = first_sentences(part, max_words)
    assert [sentence.tolist() for sentence in head.sentences()] == expected
    assert (head.num_sentences, head.num_words) == (len(expected), sum(map(len, expected)))
    assert head.lengths.tolist() == list(map(len, expected))
    assert (head.name, head.vocabulary_size) == (part.name, part.vocabulary_size)
    # the part itself is as it was
    assert (part.num_sentences, part.num_words) == (len(lengths), sum(lengths))


def test_the_edges(folder: Path) -> None:
    part = make_part(folder, [7, 2, 4])
    for max_words, num_words in ((1, 7), (7, 7), (8, 7), (9, 9), (12, 9), (13, 13), (10**12, 13)):
        assert part.head(max_words).num_words == num_words
    assert part.head(None) is part
    head = part.head(9)
    assert [sentence.tolist() for sentence in head.head(7).sentences()] == [part.sentence(0).tolist()]
    with pytest.raises(IndexError):
        head.sentence(2)


def test_nothing_is_read_or_copied(folder: Path) -> None:
    part = make_part(folder, [5, 6, 7])
    head = part.head(11)
    assert isinstance(head.file, TokenFile)
    for ours, whole in ((head.file.tokens, part.file.tokens), (head.file.offsets, part.file.offsets)):
        assert isinstance(ours, np.memmap)
        assert np.shares_memory(ours, whole)
        assert ours.__array_interface__["data"] == whole.__array_interface__["data"]


def test_batches_of_a_head_are_its_sentences_alone(folder: Path) -> None:
    part = make_part(folder, [3, 5, 3, 4, 5, 3, 4] * 4)
    head = part.head(50)
    rows: list[list[int]] = []
    for batch in head.batches(10):
        rows.extend(batch.ids.tolist())
        if batch.next.epoch:
            break
    assert sorted(rows) == sorted(sentence.tolist() for sentence in head.sentences())


def test_what_cannot_be_is_refused(folder: Path) -> None:
    part = make_part(folder, [3])
    for max_words in (0, -1):
        with pytest.raises(InputError, match=f"the first {max_words} words: choose 1 or more"):
            part.head(max_words)
    for max_words in (None, 5):
        with pytest.raises(InputError, match="the part train is empty"):
            make_part(folder, []).head(max_words)
