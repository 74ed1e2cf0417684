"""ARPA files: there and back, by a reader of ten lines, by KenLM where it is installed, and broken in every way."""

import bz2
import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from kneser_ney_oracle import make_part, make_vocabulary, next_word_probs, read_arpa_plainly, score_plainly

from fewwords.errors import InputError
from fewwords.models.kneser_ney import KneserNey, estimate, read_arpa, write_arpa
from fewwords.vocabulary import END, START, Vocabulary

SIZE = 12


def text(num_sentences: int, seed: int) -> list[list[int]]:
    chance = np.random.default_rng(seed)
    drawn = [
        (2 + (SIZE - 2) * chance.random(length) ** 2).astype(int) for length in chance.integers(0, 9, num_sentences)
    ]
    return [np.where(words == 2, 0, words).tolist() for words in drawn]


def make_model(order: int = 3, **settings) -> KneserNey:
    part = make_part(text(200, 1), SIZE)
    return estimate(part, order, vocabulary=make_vocabulary(SIZE), discount_fallback=(0.5, 1, 1.5), **settings)


def same_trie(one: KneserNey, other: KneserNey) -> None:
    for name in ("words", "log10_probs", "log10_backoffs", "children"):
        np.testing.assert_array_equal(getattr(one.trie, name), getattr(other.trie, name))
    assert one.trie.sizes == other.trie.sizes


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ["model.arpa", "model.arpa.gz"])
def test_round_trip_to_the_bit(tmp_path: Path, order: int, name: str) -> None:
    model = make_model(order, prune=(0, 0, 1)[:order])
    write_arpa(model, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b" if name.endswith("gz") else b"\\data\\\n")
    for again in (read_arpa(tmp_path / name), read_arpa(tmp_path / name, model.vocabulary)):
        same_trie(model, again)
        assert again.vocabulary.words == model.vocabulary.words
    write_arpa(again, tmp_path / f"again-{name}")
    assert (tmp_path / f"again-{name}").read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("settings", [{}, {"interpolate": False}, {"prune": (0, 1, 2)}, {"order": 4}])
def test_scores_equal_those_of_a_plain_reader(tmp_path: Path, settings) -> None:
    model = make_model(**settings)
    write_arpa(model, tmp_path / "model.arpa")
    table = read_arpa_plainly(tmp_path / "model.arpa")
    assert table[(START,)][0] == -99
    assert len(table) == sum(model.size.num_ngrams)
    sentences = text(50, 2)
    expected = []
    for sentence in sentences:
        line = (START, *model.vocabulary.decode(sentence), END)
        expected += [score_plainly(table, line[: stop + 1], model.order) for stop in range(1, len(line))]
    found = model.all_log_probs(map(np.array, sentences))
    np.testing.assert_allclose(found, np.array(expected) * math.log(10), atol=1e-6)


def test_scores_equal_those_of_kenlm() -> None:
    """KenLM's own scores of an ARPA file, kept beside it (the JSON file tells their origin)."""
    folder = Path(__file__).with_name("fixtures")
    model = read_arpa(folder / "kenlm.arpa")
    known = json.loads((folder / "kenlm.json").read_text())["scores"]
    assert len(known) == 50
    for each in known:
        ids = np.array(model.vocabulary.encode(each["sentence"].split()), np.int64)
        np.testing.assert_allclose(model.all_log_probs([ids]) / math.log(10), each["log10_probs"], atol=1e-5)


SMALL = """
\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-1\t<unk>
-99\t<s>\t-0.3
-0.5\t</s>
-0.4\tb\t-0.1
-0.6\ta\t0.2

\\2-grams:
-0.2\t<s> b
-0.25\ta b
-0.3\t<s> a

\\end\\
"""


def test_reads_files_of_others(tmp_path: Path) -> None:
    path = tmp_path / "small.arpa"
    path.write_text(SMALL)
    model = read_arpa(path)
    assert list(model.vocabulary.words) == ["<unk>", "<s>", "</s>", "b", "a"]
    # <s> a is there; a </s> is not: back-off of a, and </s> alone
    expected = [-0.3, 0.2 - 0.5]
    np.testing.assert_allclose(model.all_log_probs([np.array([4])]) / math.log(10), expected, atol=1e-6)
    by_rank = Vocabulary(["<unk>", "<s>", "</s>", "a", "b"], np.zeros(5, np.int64))
    np.testing.assert_allclose(read_arpa(path, by_rank).all_log_probs([np.array([3])]), np.log(10) * np.array(expected))
    # carriage returns, other compressions, any name
    path.write_bytes(bz2.compress(SMALL.replace("\n", "\r\n").encode()))
    same_trie(read_arpa(path), model)


@pytest.mark.usefixtures("shown")
def test_file_without_unknown_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "open.arpa"
    path.write_text(SMALL.replace("-1\t<unk>\n", "").replace("ngram 1=5", "ngram 1=4"))
    model = read_arpa(path)
    assert "no <unk>" in capsys.readouterr().err
    assert next_word_probs(model, [])[0] < 1e-90


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\n\\data\\\n", "", r"line 1: there is no \\data\\ header"),
        ("ngram 1=5\nngram 2=3\n", "", "line 4: the header has no line"),
        ("ngram 1=5", "ngram 1: 5", "line 3: 'ngram 1: 5' is not"),
        ("ngram 1=5", "ngram 1=" + "5" * 5_000, "line 3: 'ngram 1=5{72}' is not"),
        ("ngram 1=5", "ngram " + "1" * 5_000 + "=5", "line 3: 'ngram 1{74}' is not"),
        ("-0.25\ta b", "-0_25\ta b", "line 15: '-0_25' or 'b' is not a number"),
        ("-0.6\ta\t0.2", "-0.6\ta\t0_2", "line 11: '-0.6' or '0_2' is not a number"),
        ("ngram 2=3", "ngram 3=3", "line 4: 'ngram 3=3' where the number of 2-grams"),
        ("ngram 1=5", "ngram 1=6", "line 13: there were 5 1-grams, but the header says 6"),
        ("ngram 2=3", "ngram 2=2", "line 18: there were 3 2-grams, but the header says 2"),
        ("\\1-grams", "\\2-grams", r"line 6: '\\2-grams:' where '\\1-grams:' should be"),
        ("\\2-grams", "\\3-grams", r"line 13: '\\3-grams:' where '\\2-grams:' should be"),
        ("\n\\end\\\n", "", r"line 16: the file ends in the section of 2-grams, without \\end\\"),
        ("\n\\1-grams:" + SMALL.split("\\1-grams:")[1], "", "line 4: the file ends in its header"),
        ("\\end\\\n", "\\end\\\nmore\n", r"line 19: there is text after \\end\\"),
        ("-0.25\ta b", "nan\ta b", "line 15: the log-probability is not a finite number"),
        ("-0.25\ta b", "-inf\ta b", "line 15: the log-probability is not a finite number"),
        ("-0.25\ta b", "0.25\ta b", "line 15: the log-probability is positive"),
        ("-0.25\ta b", "-x\ta b", "line 15: '-x' or 'b' is not a number"),
        ("-0.25\ta b", "-0.25\ta", "line 15: 2 fields, but a line of 2-grams has 3"),
        ("-0.25\ta b", "-0.25\ta b\t0.1", "line 15: 4 fields, but a line of 2-grams has 3"),
        ("-0.25\ta b", "-0.25\ta c", "line 15: the word 'c' is not among the 1-grams"),
        ("-0.25\ta b", "-0.25\t<s> b", "line 15: this n-gram occurs for the second time"),
        ("-0.6\ta\t0.2", "-0.6\tb\t0.2", "line 11: this n-gram occurs for the second time"),
        ("-0.6\ta\t0.2", "-0.6\ta\tnan", "line 11: the back-off weight is not a finite number"),
        ("-0.6\ta\t0.2", "-0.6\ta\t400", "line 11: the back-off weight is above 30"),
        ("-0.6\ta\t0.2", "\n-0.6\ta\t0.2", "line 12: an n-gram after the blank line"),
        ("-0.5\t</s>\n", "-0.5\tend\n", "'</s>' is missing among the 1-grams"),
    ],
)
def test_broken_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert SMALL.count(old) == 1
    path = tmp_path / "small.arpa"
    path.write_text(SMALL.replace(old, new))
    with pytest.raises(InputError, match=f"small.arpa: {message}") as failure:
        read_arpa(path)
    assert "\n" not in str(failure.value)


def test_missing_context(tmp_path: Path) -> None:
    path = tmp_path / "three.arpa"
    three = SMALL.replace("ngram 2=3\n", "ngram 2=3\nngram 3=1\n").replace("\\end", "\\3-grams:\n-0.1\tb a b\n\n\\end")
    path.write_text(three)
    with pytest.raises(InputError, match="line 20: the first 2 words of this 3-gram are not among the 2-grams"):
        read_arpa(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"mmap lm http://kheafield.com/code format version 5\n\0", "a binary file of KenLM"),
        (b"SRILM_BINARY_NGRAM_002\n", "a binary file of SRILM"),
        (b"PK\x03\x04....", "a zip archive"),
        (bytes(range(256)) * 4, "a binary file, not an ARPA file"),
        (gzip.compress(SMALL.encode())[:-20], "the gzip file is cut short"),
        (gzip.compress(gzip.compress(SMALL.encode())), "gzip inside a compressed file"),
        (b"<html>\n", "line 1: there is no .data. header"),
        (bz2.compress(b"\n" + b"x" * (8 << 20)), "line 2: a line of over 1 MB; the file is damaged"),
        (SMALL.replace("a", "é").encode("latin-1").replace(b"d\xe9t\xe9", b"data"), "is not UTF-8"),
    ],
)
def test_files_of_another_kind(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "odd.arpa"
    path.write_bytes(content.replace(b"gr\xe9ms", b"grams").replace(b"ngr\xe9m", b"ngram"))
    with pytest.raises(InputError, match=message):
        read_arpa(path)


def test_words_of_another_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "small.arpa"
    path.write_text(SMALL)
    with pytest.raises(InputError, match="line 11: the word 'a' is not in the vocabulary"):
        read_arpa(path, Vocabulary(["<unk>", "<s>", "</s>", "b"], np.zeros(4, np.int64)))
    with pytest.raises(InputError, match="the word 'c' is missing among the 1-grams"):
        read_arpa(path, make_vocabulary(6))
    with pytest.raises(InputError, match="no such file"):
        read_arpa(tmp_path / "none.arpa")


def test_words_that_an_arpa_file_cannot_hold(tmp_path: Path) -> None:
    model = make_model()
    words = [*model.vocabulary.words[:-1], "two words"]
    odd = KneserNey(Vocabulary(words, model.vocabulary.counts), model.trie, model.settings)
    with pytest.raises(InputError, match="'two words' contains a space"):
        write_arpa(odd, tmp_path / "model.arpa")
    assert not list(tmp_path.iterdir())
