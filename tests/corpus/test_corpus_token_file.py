"""The token store: what goes in comes out, safetensors reads it too, and a damaged file is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from fewwords.corpus.token_file import TokenFile, TokenWriter
from fewwords.errors import InputError

SENTENCES = st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=9), max_size=20)


def write(path: Path, sentences: list[list[int]], num_pieces: int = 1) -> None:
    """Write sentences in so many calls."""
    num_words = sum(map(len, sentences))
    with TokenWriter(path, num_words, len(sentences)) as writer:
        for piece in range(num_pieces):
            chosen = sentences[len(sentences) * piece // num_pieces : len(sentences) * (piece + 1) // num_pieces]
            tokens = np.array([token for sentence in chosen for token in sentence], dtype=np.uint32)
            writer.append(tokens, np.array(list(map(len, chosen)), dtype=np.int64))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokens") / "part.tokens"


@given(sentences=SENTENCES, num_pieces=st.integers(1, 5))
def test_round_trip(path: Path, sentences: list[list[int]], num_pieces: int) -> None:
    write(path, sentences, num_pieces)
    file = TokenFile(path)
    assert (file.num_words, file.num_sentences) == (sum(map(len, sentences)), len(sentences))
    assert (file.tokens.dtype, file.offsets.dtype) == (np.uint32, np.int64)
    read = [file.tokens[start:end].tolist() for start, end in zip(file.offsets, file.offsets[1:])]
    assert read == sentences


@given(sentences=SENTENCES)
def test_safetensors_reads_the_same(path: Path, sentences: list[list[int]]) -> None:
    write(path, sentences)
    file, tensors = TokenFile(path), load_file(path)
    assert set(tensors) == {"tokens", "offsets"}
    np.testing.assert_array_equal(tensors["offsets"], file.offsets)
    np.testing.assert_array_equal(tensors["tokens"][: file.num_words], file.tokens)
    # one word of padding at most, and it is zero
    assert tensors["tokens"][file.num_words :].tolist() in ([], [0])


@given(sentences=SENTENCES)
def test_the_bytes_depend_on_the_content_alone(path: Path, sentences: list[list[int]]) -> None:
    write(path, sentences, 1)
    once = path.read_bytes()
    write(path, sentences, 4)
    assert path.read_bytes() == once


@given(sentences=SENTENCES, data=st.data())
def test_a_cut_or_longer_file_is_refused(path: Path, sentences: list[list[int]], data: st.DataObject) -> None:
    write(path, sentences)
    content = path.read_bytes()
    wrong = data.draw(
        st.one_of(st.integers(0, len(content) - 1).map(lambda end: content[:end]), st.just(content + b"x"))
    )
    path.write_bytes(wrong)
    with pytest.raises(InputError, match=r"not a complete token file.*run fewwords\.prepare\(sources, force=True\)"):
        TokenFile(path)


@given(st.binary(max_size=100))
def test_garbage_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a complete token file"):
        TokenFile(path)


def with_header(path: Path, layout: object, body: bytes) -> None:
    header = json.dumps(layout).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + body)


TOKENS = {"dtype": "U32", "shape": [2], "data_offsets": [0, 8]}
OFFSETS = {"dtype": "I64", "shape": [2], "data_offsets": [8, 24]}
BODY = np.array([7, 8], "<u4").tobytes() + np.array([0, 2], "<i8").tobytes()


def test_a_header_written_by_hand_is_read(path: Path) -> None:
    with_header(path, {"tokens": TOKENS, "offsets": OFFSETS, "__metadata__": {"num_words": "2"}}, BODY)
    assert TokenFile(path).tokens.tolist() == [7, 8]


@pytest.mark.parametrize(
    "layout",
    [
        [],
        "text",
        {},
        {"tokens": TOKENS, "offsets": OFFSETS},
        {"tokens": 3, "offsets": OFFSETS, "__metadata__": {"num_words": "2"}},
        {"tokens": TOKENS, "offsets": OFFSETS, "__metadata__": {"num_words": "two"}},
        {"tokens": TOKENS, "offsets": OFFSETS, "__metadata__": {"num_words": "3"}},
        {"tokens": TOKENS, "offsets": OFFSETS, "__metadata__": {"num_words": "1"}},
        {"tokens": TOKENS, "offsets": OFFSETS, "__metadata__": {"num_words": "-1"}},
        {"tokens": TOKENS, "offsets": {"data_offsets": [9, 24]}, "__metadata__": {"num_words": "2"}},
        {"tokens": TOKENS, "offsets": {"data_offsets": [24, 24]}, "__metadata__": {"num_words": "2"}},
        {"tokens": {"data_offsets": [0, 7]}, "offsets": OFFSETS, "__metadata__": {"num_words": "2"}},
    ],
)
def test_a_header_that_does_not_fit_is_refused(path: Path, layout: object) -> None:
    with_header(path, layout, BODY)
    with pytest.raises(InputError, match="not a complete token file"):
        TokenFile(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"part\.tokens: no such file; run fewwords\.prepare"):
        TokenFile(tmp_path / "part.tokens")


@pytest.mark.parametrize(("num_words", "num_sentences"), [(4, 1), (2, 1), (3, 2), (3, 0)])
def test_sizes_must_be_those_announced(path: Path, num_words: int, num_sentences: int) -> None:
    with pytest.raises(RuntimeError, match="announced"), TokenWriter(path, num_words, num_sentences) as writer:
        writer.append(np.arange(3, dtype=np.uint32), np.array([3], dtype=np.int64))
