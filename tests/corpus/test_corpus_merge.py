"""The external sort by itself: runs merged range by range against one sort in memory."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewwords.corpus import merge
from fewwords.corpus.merge import Division, divide, drop_duplicates, merge_sentences, merge_vocabularies
from fewwords.corpus.runs import Run, RunBuilder, content_keys, find_runs, gather, mix, ordered_keys, shuffle_keys
from fewwords.corpus.token_file import TokenFile
from fewwords.text.lexicon import Lexicon
from fewwords.vocabulary import Vocabulary

Keyed = list[tuple[int, list[str]]]


@pytest.fixture
def tiny_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "_RANGE_WORDS", 20)
    monkeypatch.setattr(merge, "_RANGE_TYPES", 4)
    monkeypatch.setattr(merge, "_SAMPLE_EVERY", 2)


def write_runs(folder: Path, sentences: Keyed, num_runs: int, dedup: bool = False) -> list[Run]:
    """Deal the sentences out to runs, each with a lexicon of its own."""
    for number in range(num_runs):
        lexicon = Lexicon()
        builder = RunBuilder(folder, f"run-{number}", dedup=dedup, seed=1)
        for key, words in sentences[number::num_runs]:
            builder.add(lexicon.encode(words), np.array([len(words)]), np.array([key], dtype=np.uint64))
        builder.flush(lexicon)
    return find_runs(folder)


def random_sentences(num: int, seed: int = 0) -> Keyed:
    rng = random.Random(seed)
    words = ["a", "b", "zz", "é", "語", "𝔸", "<unk>", "b2", "Z", "aa"]
    return [(rng.getrandbits(64), rng.choices(words, weights=range(1, 11), k=rng.randint(1, 6))) for _ in range(num)]


def read_part(folder: Path, part: str, words: list[str]) -> list[list[str]]:
    file = TokenFile(folder / f"{part}.tokens")
    return [[words[rank] for rank in file.tokens[start:end]] for start, end in zip(file.offsets, file.offsets[1:])]


@pytest.mark.parametrize("ranges", ["whole", "tiny"])
@pytest.mark.parametrize("num_runs", [1, 2, 7])
def test_merge_is_a_sort(tmp_path: Path, ranges: str, num_runs: int, request: pytest.FixtureRequest) -> None:
    if ranges == "tiny":
        request.getfixturevalue("tiny_ranges")
    sentences = random_sentences(200)
    runs = write_runs(tmp_path, sentences, num_runs)
    division = Division(1 << 61, 1 << 62)
    told: list[int] = []
    counts = merge_vocabularies(runs, division, tmp_path, tmp_path / "words.tsv")
    sizes = merge_sentences(runs, division, tmp_path, told.append)
    ordered = sorted(sentences)
    expected = {
        "dev": [words for key, words in ordered if key < 1 << 61],
        "test": [words for key, words in ordered if 1 << 61 <= key < 1 << 62],
        "train": [words for key, words in ordered if key >= 1 << 62],
    }
    vocabulary = Vocabulary.load(tmp_path / "words.tsv")
    train_counts = Counter(word for words in expected["train"] for word in words)
    assert vocabulary.counts.tolist() == counts.tolist()
    assert vocabulary.counts[0] == train_counts.pop("<unk>")
    ranked = sorted(train_counts.items(), key=lambda item: (-item[1], item[0]))
    assert list(zip(vocabulary.words[3:], vocabulary.counts[3:].tolist())) == ranked
    for part, content in expected.items():
        masked = [[word if word in vocabulary else "<unk>" for word in words] for words in content]
        assert read_part(tmp_path, part, list(vocabulary.words)) == masked
        assert sizes[part] == (sum(map(len, content)), len(content))
    assert sum(told) == sum(len(words) for _, words in sentences)


def test_the_smallest_and_the_largest_key_are_not_lost(tmp_path: Path) -> None:
    sentences: Keyed = [(0, ["first"]), ((1 << 64) - 1, ["last"]), (5, ["middle"])]
    runs = write_runs(tmp_path, sentences, 2)
    division = divide(runs, 0, 0)
    merge_vocabularies(runs, division, tmp_path, tmp_path / "words.tsv")
    merge_sentences(runs, division, tmp_path, lambda amount: None)
    words = list(Vocabulary.load(tmp_path / "words.tsv").words)
    assert read_part(tmp_path, "train", words) == [["first"], ["middle"], ["last"]]


@pytest.mark.parametrize(("dev_words", "test_words"), [(0, 0), (1, 0), (0, 1), (10, 25), (100, 100), (300, 100)])
@pytest.mark.parametrize("num_runs", [1, 3])
def test_division_against_a_walk_over_the_sorted_sentences(
    tmp_path: Path, dev_words: int, test_words: int, num_runs: int
) -> None:
    sentences = random_sentences(150, seed=2)
    division = divide(write_runs(tmp_path, sentences, num_runs), dev_words, test_words)
    parts: list[list[int]] = [[], [], []]
    filled, part = 0, 0
    for key, words in sorted(sentences):
        while part < 2 and filled >= (dev_words, test_words)[part]:
            filled, part = 0, part + 1
        parts[part].append(key)
        filled += len(words)
    found: list[list[int]] = [[], [], []]
    for key, _ in sorted(sentences):
        found[0 if key < division.dev_end else 1 if key < division.test_end else 2].append(key)
    assert found == parts


@pytest.mark.usefixtures("tiny_ranges")
@pytest.mark.parametrize("num_runs", [1, 2, 5])
def test_duplicates_go_but_for_one(tmp_path: Path, num_runs: int) -> None:
    sentences = [(key, words[:2]) for key, words in random_sentences(300, seed=3)]
    runs = write_runs(tmp_path, sentences, num_runs, dedup=True)
    gone = drop_duplicates(runs)
    distinct = {tuple(words) for _, words in sentences}
    left = [key for run in runs for key in run.keys().tolist()]
    assert len(left) == len(set(left)) == len(distinct)
    assert gone == (300 - len(distinct), sum(len(w) for _, w in sentences) - sum(map(len, distinct)))
    assert sum(int(run.lengths().sum()) for run in runs) == sum(len(run.tokens()) for run in runs)


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=30), st.integers(0, 2**63 - 1)
)
def test_content_keys_are_equal_for_equal_sentences_alone(sentences: list[list[int]], seed: int) -> None:
    hashes = mix(np.arange(1, 7, dtype=np.uint64))
    tokens = np.array([token for sentence in sentences for token in sentence])
    keys = content_keys(hashes[tokens], np.array(list(map(len, sentences))), seed).tolist()
    assert len(set(zip(keys, map(tuple, sentences)))) == len(set(keys)) == len(set(map(tuple, sentences)))


def python_mix(value: int) -> int:
    """SplitMix64's finaliser on Python's integers."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) % (1 << 64)
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) % (1 << 64)
    return value ^ (value >> 31)


@given(block=st.integers(0, 2**30), num=st.integers(1, 20), seed=st.integers(0, 2**63 - 1))
def test_shuffle_keys_against_plain_integers(block: int, num: int, seed: int) -> None:
    first = python_mix(seed) + (block << 24)
    expected = [python_mix((first + index) % (1 << 64)) for index in range(num)]
    assert shuffle_keys(block, num, seed).tolist() == expected


def test_ordered_keys_rise_over_blocks_and_parts() -> None:
    keys = [int(key) for part in range(3) for block in (0, 1, 2**30) for key in ordered_keys(part, block, 3)]
    assert keys == sorted(set(keys))
    division = merge.ORDERED_DIVISION
    assert [(key >= division.dev_end) + (key >= division.test_end) for key in keys] == [0] * 9 + [1] * 9 + [2] * 9


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=10), st.randoms())
def test_gather_against_lists(sentences: list[list[int]], rng: random.Random) -> None:
    order = list(range(len(sentences)))
    rng.shuffle(order)
    tokens = np.array([token for sentence in sentences for token in sentence], dtype=np.uint32)
    lengths = np.array(list(map(len, sentences)))
    assert gather(tokens, lengths, np.array(order)).tolist() == [t for index in order for t in sentences[index]]


def test_deleting_a_run_leaves_nothing(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, random_sentences(10), 2)
    merge_vocabularies(runs, Division(0, 0), tmp_path, tmp_path / "words.tsv")
    for run in runs:
        run.delete()
    assert {path.name for path in tmp_path.iterdir()} == {"words.tsv", "all-words"}
