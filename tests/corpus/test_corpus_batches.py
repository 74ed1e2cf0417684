"""Equal-length batches: every sentence once an epoch, and the same continuation from any position."""

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewwords.corpus import Part, Position, batches
from fewwords.corpus.token_file import TokenFile, TokenWriter
from fewwords.errors import InputError

NUM_TYPES = 50


def make_part(folder: Path, lengths: list[int], size: int = NUM_TYPES + 3) -> Part:
    """A part of random sentences of the given lengths, each with its number as the first word."""
    rng = np.random.default_rng(len(lengths))
    sentences = [rng.integers(3, size, length) for length in lengths]
    with TokenWriter(folder / "train.tokens", sum(lengths), len(lengths)) as writer:
        tokens = np.concatenate(sentences).astype(np.uint32) if sentences else np.zeros(0, np.uint32)
        writer.append(tokens, np.array(lengths, dtype=np.int64))
    return Part("train", TokenFile(folder / "train.tokens"), size)


def epoch_of(part: Part, batch_words: int, seed: int = 1, epoch: int = 0) -> list[batches.Batch]:
    """All batches of one epoch."""
    found = []
    for batch in part.batches(batch_words, seed=seed, position=Position(epoch)):
        found.append(batch)
        if batch.next.epoch != epoch:
            return found
    raise AssertionError("batches never end")


def rows(found: list[batches.Batch]) -> list[tuple[int, ...]]:
    return [tuple(row) for batch in found for row in batch.ids.tolist()]


@pytest.fixture(params=[1 << 17, 16, 1], ids=["one window", "many windows", "a window a sentence"])
def windows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "WINDOW_SENTENCES", request.param)


@pytest.fixture
def part(tmp_path: Path) -> Part:
    return make_part(tmp_path, [1 + (7 * number) % 12 for number in range(150)])


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize("batch_words", [1, 5, 24, 10_000])
def test_every_sentence_once_an_epoch(part: Part, batch_words: int) -> None:
    everything = Counter(tuple(sentence.tolist()) for sentence in part.sentences())
    for epoch in (0, 1):
        found = epoch_of(part, batch_words, epoch=epoch)
        assert Counter(rows(found)) == everything
        for batch in found:
            num_sentences, length = batch.ids.shape
            assert num_sentences == 1 or num_sentences * length <= batch_words
            assert batch.ids.dtype == np.int64


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=40), batch_words=st.integers(1, 60))
def test_only_the_last_batch_of_a_length_is_not_full(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], batch_words: int
) -> None:
    part = make_part(tmp_path_factory.mktemp("batches"), lengths)
    shapes = [batch.ids.shape for batch in epoch_of(part, batch_words)]
    for length in set(lengths):
        step = max(1, batch_words // length)
        whole, rest = divmod(lengths.count(length), step)
        sizes = sorted(rows for rows, columns in shapes if columns == length)
        assert sizes == sorted([step] * whole + [rest] * (rest > 0))


@pytest.mark.usefixtures("windows")
def test_any_position_continues_as_if_it_had_never_stopped(part: Part) -> None:
    num_batches = 2 * len(epoch_of(part, 30)) + 5
    straight = list(islice(part.batches(30, seed=3), num_batches))
    for number in range(0, num_batches - 1, 11):
        rest = islice(part.batches(30, seed=3, position=straight[number].next), num_batches - number - 1)
        for batch, expected in zip(rest, straight[number + 1 :], strict=True):
            np.testing.assert_array_equal(batch.ids, expected.ids)
            assert batch.next == expected.next


def test_the_seed_decides(part: Part) -> None:
    assert rows(epoch_of(part, 30, seed=5)) == rows(epoch_of(part, 30, seed=5))
    assert rows(epoch_of(part, 30, seed=5)) != rows(epoch_of(part, 30, seed=6))


@pytest.mark.usefixtures("windows")
def test_epochs_differ(part: Part) -> None:
    first, second = epoch_of(part, 30), epoch_of(part, 30, epoch=1)
    assert rows(first) != rows(second)
    assert [batch.ids.shape[1] for batch in first] != [batch.ids.shape[1] for batch in second]


def test_lengths_come_mixed(part: Part) -> None:
    lengths = [batch.ids.shape[1] for batch in epoch_of(part, 12)]
    assert lengths != sorted(lengths)
    assert lengths != sorted(lengths, reverse=True)


def test_words_past_the_vocabulary_are_unknown(part: Part) -> None:
    small = Part(part.name, part.file, 20)
    for cut, whole in zip(epoch_of(small, 30), epoch_of(part, 30), strict=True):
        np.testing.assert_array_equal(cut.ids, np.where(whole.ids < 20, whole.ids, 0))
    assert any((batch.ids == 0).any() for batch in epoch_of(small, 30))


def test_sentences_and_slices(part: Part) -> None:
    every = [sentence.tolist() for sentence in part.sentences()]
    assert list(map(len, every)) == part.lengths.tolist()
    assert [sentence.tolist() for sentence in part.sentences(140, 999)] == every[140:]
    assert [token for sentence in every for token in sentence] == part.tokens(0, part.num_words).tolist()
    for index in (-1, part.num_sentences):
        with pytest.raises(IndexError):
            part.sentence(index)


def test_what_cannot_be_is_refused(tmp_path: Path, part: Part) -> None:
    with pytest.raises(InputError, match="0 words: choose 1 or more"):
        next(part.batches(0))
    with pytest.raises(InputError, match="the part train is empty"):
        next(make_part(tmp_path, []).batches(10))
