"""Import: one matrix written in every layout and compression comes back the same; what is damaged is named."""

import bz2
import gzip
import lzma
import struct

import numpy as np
import pytest
import zstandard

from fewwords.errors import InputError
from fewwords.vectors import import_vectors, vector_files
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary

FILE_WORDS = ["the", "Paris", "straße", "</s>", "other", "naïve", "PARIS"]
MATRIX = np.random.default_rng(3).normal(size=(len(FILE_WORDS), 6)).astype(np.float32)
WORDS = [*SPECIAL_WORDS, "the", "paris", "straße", "naïve", "missing"]
VOCABULARY = Vocabulary(WORDS, np.array([0, 0, 0, 50, 20, 15, 10, 5]))
EXPECTED = np.concatenate([np.zeros((3, 6)), MATRIX[[0, 1, 2, 5]], np.zeros((1, 6))]).astype(np.float32)


def text_rows(end="\n", blank=" "):
    rows = (blank.join([word, *(repr(float(value)) for value in row)]) for word, row in zip(FILE_WORDS, MATRIX))
    return "".join(row + end for row in rows).encode()


def binary_rows(end=b""):
    return b"".join(word.encode() + b" " + row.astype("<f4").tobytes() + end for word, row in zip(FILE_WORDS, MATRIX))


HEADER = f"{len(FILE_WORDS)} 6\n".encode()
LAYOUTS = {
    "word2vec text": HEADER + text_rows(),
    "fastText .vec": HEADER + text_rows(end=" \n"),
    "windows": HEADER.replace(b"\n", b"\r\n") + text_rows(end="\r\n"),
    "GloVe": text_rows(),
    "GloVe with tabs": text_rows(blank="\t"),
    "word2vec binary": HEADER + binary_rows(),
    "word2vec binary with newlines": HEADER + binary_rows(b"\n"),
}
COMPRESSIONS = {
    "plain": lambda data: data,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_and_compression(tmp_path, layout, compression):
    path = tmp_path / "vectors"
    path.write_bytes(COMPRESSIONS[compression](LAYOUTS[layout]))
    vectors = import_vectors(path, VOCABULARY)
    assert vectors.values.tobytes() == EXPECTED.tobytes()
    assert vectors.has_vector.tolist() == [False] * 3 + [True] * 4 + [False]
    vectors.check_fits(VOCABULARY)
    assert vectors.made_from["rows"] == len(FILE_WORDS)


@pytest.mark.parametrize("binary", [False, True])
def test_against_files_that_gensim_wrote(tmp_path, binary):
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(6)
    keyed.add_vectors(FILE_WORDS, MATRIX)
    keyed.save_word2vec_format(str(tmp_path / "keyed"), binary=binary)
    assert import_vectors(tmp_path / "keyed", VOCABULARY).values.tobytes() == EXPECTED.tobytes()


@pytest.mark.parametrize("layout", ["word2vec text", "GloVe", "word2vec binary"])
def test_pieces_of_any_size(tmp_path, layout, monkeypatch):
    path = tmp_path / "vectors"
    path.write_bytes(LAYOUTS[layout])
    monkeypatch.setattr(vector_files, "_CHUNK", 1)
    monkeypatch.setattr(vector_files, "LONGEST_LINE", 200)
    assert import_vectors(path, VOCABULARY).values.tobytes() == EXPECTED.tobytes()


def test_a_file_of_several_buffers(tmp_path):
    """20,000 rows of 60 values: rows lie across the ends of buffers."""
    values = np.random.default_rng(4).normal(size=(20_000, 60)).astype(np.float32)
    words = [f"w{number}" for number in range(20_000)]
    with (tmp_path / "binary").open("wb") as binary, (tmp_path / "text").open("w") as text:
        binary.write(b"20000 60\n")
        for word, row in zip(words, values):
            binary.write(word.encode() + b" " + row.tobytes())
            text.write(word + " " + " ".join(map(str, row.tolist())) + "\n")
    chosen = [0, 7, 4_368, 12_345, 19_999]
    vocabulary = Vocabulary([*SPECIAL_WORDS, *(words[rank] for rank in chosen)], np.ones(8, np.int64))
    for name in ("binary", "text"):
        assert import_vectors(tmp_path / name, vocabulary).values[3:].tobytes() == values[chosen].tobytes()


def test_words_with_blanks(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text(". . . 0.1 0.2 0.3\nthe 1 2 3\nroute 66 4 5 6\nat name@domain.com 7 8 9\nparis 1e-3 -2 +3.\n")
    vocabulary = Vocabulary([*SPECIAL_WORDS, "the", "paris", ". . .", "route 66"], np.ones(7, np.int64))
    values = import_vectors(path, vocabulary).values[3:]
    assert values.tolist() == np.float32([[1, 2, 3], [1e-3, -2, 3], [0.1, 0.2, 0.3], [4, 5, 6]]).tolist()


def test_exact_spelling_goes_before_lower_case_before_any_other(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("APPLE 1 0\nApple 2 0\napple 3 0\nPEAR 4 0\nPear 5 0\nfig 6 0\nfig 7 0\nDate 8 0\nDATE 9 0\n")
    vocabulary = Vocabulary([*SPECIAL_WORDS, *"apple Apple aPPle pear fig date DATE".split()], np.ones(10, np.int64))
    assert import_vectors(path, vocabulary).values[3:, 0].tolist() == [3, 2, 3, 4, 6, 8, 9]


@pytest.mark.usefixtures("shown")
def test_says_which_words_have_none(tmp_path, capsys):
    path = tmp_path / "vectors.txt"
    path.write_bytes(LAYOUTS["GloVe"])
    import_vectors(path, VOCABULARY)
    log = capsys.readouterr().err
    assert "GloVe text, 7 rows of 6 values; 4 of 5 words have a vector, 1 of them from a form in different case" in log
    assert "1 words (5.00% of running words) have none; the most frequent: missing" in log


def test_a_row_of_zeros_is_no_vector(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 0 0\nparis 1 2\n")
    assert import_vectors(path, VOCABULARY).has_vector.tolist() == [False] * 4 + [True] + [False] * 3


def damaged(data):
    return bytes(byte ^ 85 for byte in data)


BAD = {
    "empty": (b"", "the file is empty"),
    "only newlines": (b"\n\n", "the file is empty"),
    "no dimensions": (b"3 0\nthe\n", "line 1: vectors of 0 dimensions"),
    "too many dimensions": (b"3 999999999\nthe 1\n", "line 1: vectors of 999999999 dimensions"),
    "too few values": (b"2 3\nthe 1 2 3\nparis 1 2\n", "line 3: 2 values instead of 3"),
    "too few values of a wanted word": (b"2 3\nthe 1 2 3\nparis  1 2\n", "line 3: 'paris' has 2 values instead of 3"),
    "too many values": (b"the 1.0 2.0\nx 1.0 2.0\nparis 1.0 2.0 3.0\n", "line 3: 3 values instead of 2"),
    "a first line of other size": (b"2 4\nthe 1 2 3\nparis 1 2 3\n", "line 2: 3 values instead of 4"),
    "no number": (b"the 1 2\nparis 1 two\n", "line 2: 'paris' has a value that is not a number"),
    "an underscore among digits": (b"the 1 2\nparis 1_0 2\n", "line 2: 'paris' has a value that is not a number"),
    "cut within the last number": (b"2 2\nthe 1 2.5\nparis 1 2.", "line 3: the last line has no line end"),
    "cut within the last number, no first line": (b"the 1 2.5\nparis 1 2.", "line 2: the last line has no line end"),
    "NaN": (b"2 2\nthe 1 nan\nparis 1 2\n", "line 2: 'the' has a NaN or infinite value"),
    "infinite": (b"the 1 2\nparis -inf 2\n", "line 2: 'paris' has a NaN or infinite value"),
    "too large for 32 bits": (b"the 1 2\nparis 1e300 2\n", "line 2: 'paris' has a NaN or infinite value"),
    "fewer rows than promised": (b"3 2\nthe 1 2\nparis 1 2\n", "ends after 2 of the 3 rows"),
    "no rows": (b"3 2\n", "ends after 0 of the 3 rows"),
    "no word in common": (b"der 1 2\ndie 1 2\n", "none of its 2 words is in the corpus"),
    "prose": (b"It was a dark and stormy night.\nThe rain fell.\n", "line 1: lines are not a word and its numbers"),
    "words alone": (b"the\nparis\n", "line 1: lines are not a word and its numbers"),
    "one endless line": (b"the " + b"1 " * 600_000 + b"\n", "line 1: longer than 1,048,576 bytes"),
    "binary cut within a row": (HEADER + binary_rows()[:-3], "row 7: the file ends within it; 7 rows were promised"),
    "binary cut between rows": (HEADER + binary_rows()[:-30], "ends after 6 of the 7 rows"),
    "binary with NaN": (b"1 2\nthe " + struct.pack("<2f", 1, np.nan), "row 1: 'the' has a NaN"),
    "binary with more": (
        b"1 2\n" + b"the " + struct.pack("<4f", 1, -2, 3, 4),
        "row 2: more data after the promised 1 rows",
    ),
    "binary, not vectors": (damaged(text_rows()) * 20, "binary, but without the first line"),
    "binary, no space": (b"9 9\n" + b"\x00\xff" * 1_200_000, "row 1: the word does not end"),
    "zip": (b"PK\x03\x04rest", "a zip archive.*unpack"),
    "pickle": (b"\x80\x04\x95rest", "a Python pickle.*word2vec format"),
    "fastText model": (struct.pack("<i", 793712314) + b"rest", "a fastText model.*.vec"),
    "cut gzip": (gzip.compress(LAYOUTS["GloVe"])[:-9], "gzip file is cut short"),
    "damaged xz": (lzma.compress(LAYOUTS["GloVe"])[:40] + b"\x00" * 40, "damaged xz data"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path, case):
    content, message = BAD[case]
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        import_vectors(path, VOCABULARY)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_no_file(tmp_path):
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(InputError, match="no such file"):
            import_vectors(path, VOCABULARY)
