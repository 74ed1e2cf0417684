"""`prepare` from end to end, against plain Python: split, filter and count in memory, without runs, ranges or processes."""

import hashlib
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fewwords.corpus import Settings, TokenCorpus, make, merge, prepare, workers
from fewwords.errors import InputError
from fewwords.text import formats
from fewwords.text.clean import clean_text
from fewwords.text.sentences import SentenceSplitter

Sentence = tuple[str, ...]
Prose = Callable[..., str]


def naive_sentences(text: str, least: int = 3, most: int = 64, **options: Any) -> list[Sentence]:
    """The sentences to be kept, in the order of the text."""
    splitter = SentenceSplitter(**options)
    every = [tuple(words) for line in clean_text(text).splitlines() for words in splitter.sentences(line)]
    return [sentence for sentence in every if least <= len(sentence) <= most]


def stored(corpus: TokenCorpus, part: str, size: int | None = None) -> list[Sentence]:
    """The sentences of a part as words."""
    words = corpus.vocabulary(size).words
    return [tuple(words[rank] for rank in sentence) for sentence in corpus.part(part, size).sentences()]


def sentences_at_random(rng: random.Random, num: int, words: Sequence[str]) -> str:
    """Tokenised lines of 1 to 9 words."""
    return "".join(" ".join(rng.choices(words, k=rng.randint(1, 9))) + "\n" for _ in range(num))


@pytest.fixture(scope="module")
def text(prose: Prose) -> str:
    return prose(3000)


@pytest.fixture(scope="module")
def corpus(text: str, tmp_path_factory: pytest.TempPathFactory) -> TokenCorpus:
    folder = tmp_path_factory.mktemp("prepare")
    (folder / "text").write_text(text)
    return prepare([str(folder / "text")], folder / "work", dev_words=500, test_words=900)


@pytest.fixture
def many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, so that small texts have many."""
    monkeypatch.setattr(formats, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(formats, "_HEAD_BYTES", 500)


@pytest.fixture
def many_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small runs and ranges of the external sort."""
    monkeypatch.setattr(workers, "RUN_WORDS", 2500)
    monkeypatch.setattr(workers, "MOST_TYPES", 150)
    monkeypatch.setattr(merge, "_RANGE_WORDS", 2000)
    monkeypatch.setattr(merge, "_RANGE_TYPES", 400)
    monkeypatch.setattr(merge, "_SAMPLE_EVERY", 5)


def test_parts_hold_every_sentence_once(corpus: TokenCorpus, text: str) -> None:
    left = Counter(naive_sentences(text))
    train = Counter(stored(corpus, "train"))
    assert not train - left, "train holds a sentence that the text does not"
    left -= train
    known = {word for sentence in train for word in sentence}
    masked = Counter(tuple(word if word in known else "<unk>" for word in sentence) for sentence in left.elements())
    assert Counter(stored(corpus, "dev") + stored(corpus, "test")) == masked


def test_words_are_counted_and_ranked_on_train_alone(corpus: TokenCorpus) -> None:
    train = stored(corpus, "train")
    counts = Counter(word for sentence in train for word in sentence)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [line.split("\t") for line in (corpus.folder / "words.tsv").read_text().splitlines()]
    assert [(int(rank), word, int(count)) for rank, word, count in rows] == [
        (0, "<unk>", 0),
        (1, "<s>", len(train)),
        (2, "</s>", len(train)),
        *((rank, word, count) for rank, (word, count) in enumerate(ranked, 3)),
    ]


def test_a_word_past_the_vocabulary_reads_as_unknown(corpus: TokenCorpus) -> None:
    size = 40
    kept = set(corpus.vocabulary().words[:size])
    for part in ("train", "dev", "test"):
        masked = [tuple(w if w in kept else "<unk>" for w in sentence) for sentence in stored(corpus, part)]
        assert stored(corpus, part, size) == masked


@pytest.mark.parametrize("size", [3, 0, -1, 10**6])
def test_a_vocabulary_size_that_cannot_be_is_refused(corpus: TokenCorpus, size: int) -> None:
    with pytest.raises(InputError, match="was asked for"):
        corpus.part("train", size)


def test_dev_and_test_end_with_the_sentence_that_fills_them(corpus: TokenCorpus) -> None:
    for part, wanted in (("dev", 500), ("test", 900)):
        lengths = [len(sentence) for sentence in corpus.part(part).sentences()]
        assert sum(lengths[:-1]) < wanted <= sum(lengths)


@pytest.mark.parametrize(("dev_words", "test_words"), [(0, 0), (0, 50), (50, 0)])
def test_parts_may_be_empty(tmp_path: Path, text: str, dev_words: int, test_words: int) -> None:
    (tmp_path / "text").write_text(text)
    corpus = prepare([str(tmp_path / "text")], tmp_path / "work", dev_words=dev_words, test_words=test_words)
    assert bool(stored(corpus, "dev")) == bool(dev_words)
    assert bool(stored(corpus, "test")) == bool(test_words)
    sizes = [corpus.part(part).num_sentences for part in ("train", "dev", "test")]
    assert sum(sizes) == len(naive_sentences(text))


@pytest.mark.usefixtures("shown")
def test_small_corpora_get_smaller_parts_and_say_so(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text(text)
    corpus = prepare([str(tmp_path / "text")], tmp_path / "work")
    total = sum(map(len, naive_sentences(text)))
    for part in ("dev", "test"):
        lengths = [len(sentence) for sentence in corpus.part(part).sentences()]
        assert sum(lengths[:-1]) < int(0.05 * total) <= sum(lengths)
    assert f"dev: {int(0.05 * total):,} words instead of the paper's 100,000" in capsys.readouterr().err


def test_description_agrees_with_the_files(corpus: TokenCorpus, text: str) -> None:
    told = json.loads((corpus.folder / "corpus.json").read_text())
    assert told == corpus.description
    parts = {part: stored(corpus, part) for part in ("train", "dev", "test")}
    for part, sentences in parts.items():
        assert told["parts"][part] == {"words": sum(map(len, sentences)), "sentences": len(sentences)}
        known = sum(word != "<unk>" for sentence in sentences for word in sentence)
        share = known / sum(map(len, sentences))
        assert math.isclose(told["coverage"][str(told["types"])][part], share, abs_tol=1e-6)
    assert told["types"] == len(corpus.vocabulary()) == corpus.num_types
    everything = naive_sentences(text, 1, 10**9)
    for reason, dropped in (
        ("too short", [sentence for sentence in everything if len(sentence) < 3]),
        ("too long", [sentence for sentence in everything if len(sentence) > 64]),
    ):
        assert told["dropped"][reason] == {"sentences": len(dropped), "words": sum(map(len, dropped))}
    (source,) = told["sources"]
    assert source["bytes"] == len(text.encode())


def test_hashes_are_those_of_the_source_and_the_files(corpus: TokenCorpus, text: str) -> None:
    assert corpus.description["sources"][0]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    hashes = corpus.description["sha256"]
    assert set(hashes) == {"train.tokens", "dev.tokens", "test.tokens", "words.tsv"}
    for name, digest in hashes.items():
        assert hashlib.sha256((corpus.folder / name).read_bytes()).hexdigest() == digest
    assert {path.name for path in corpus.folder.iterdir()} == {*hashes, "corpus.json"}


def test_coverage_counts_running_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "COVERAGE_SIZES", (4, 5, 10_000))
    (tmp_path / "train").write_text("a a a a b b c\n")
    (tmp_path / "dev").write_text("a b z z\n")
    corpus = prepare(
        work=tmp_path / "work",
        train=[str(tmp_path / "train")],
        dev=[str(tmp_path / "dev")],
        settings=Settings(tokenized=True),
    )
    coverage = corpus.description["coverage"]
    # sizes count the three special words: 4 is a alone, 5 is a and b, 6 is all
    assert list(coverage) == ["4", "5", "6"]
    assert [coverage[size]["dev"] for size in coverage] == [0.25, 0.5, 0.5]
    assert [coverage[size]["train"] for size in coverage] == [round(4 / 7, 6), round(6 / 7, 6), 1.0]


def prepare_in(
    folder: Path, text: str, name: str, read: Callable[[Path], dict[str, bytes]], **options: Any
) -> dict[str, bytes]:
    source = folder / "text"
    source.write_text(text)
    corpus = prepare([str(source)], folder / name, dev_words=300, test_words=300, **options)
    return read(corpus.folder)


@pytest.mark.parametrize("dedup", [False, True])
def test_same_bytes_whatever_the_number_of_jobs(
    tmp_path: Path, text: str, many_blocks: None, folder_bytes: Callable[[Path], dict[str, bytes]], dedup: bool
) -> None:
    settings = Settings(dedup=dedup)
    alone = prepare_in(tmp_path, text, "alone", folder_bytes, settings=settings)
    for jobs in (2, 3):
        assert prepare_in(tmp_path, text, f"jobs{jobs}", folder_bytes, settings=settings, jobs=jobs) == alone


@pytest.mark.parametrize("dedup", [False, True])
def test_same_bytes_whatever_the_size_of_runs_and_ranges(
    tmp_path: Path,
    text: str,
    many_blocks: None,
    folder_bytes: Callable[[Path], dict[str, bytes]],
    request: pytest.FixtureRequest,
    dedup: bool,
) -> None:
    text += text[: len(text) // 3]  # repeats, for dedup
    whole = prepare_in(tmp_path, text, "whole", folder_bytes, settings=Settings(dedup=dedup))
    request.getfixturevalue("many_runs")
    assert prepare_in(tmp_path, text, "pieces", folder_bytes, settings=Settings(dedup=dedup)) == whole


def test_deduplicated_bytes_do_not_depend_on_blocks(
    tmp_path: Path,
    text: str,
    folder_bytes: Callable[[Path], dict[str, bytes]],
    request: pytest.FixtureRequest,
) -> None:
    whole = prepare_in(tmp_path, text, "whole", folder_bytes, settings=Settings(dedup=True))
    request.getfixturevalue("many_blocks")
    assert prepare_in(tmp_path, text, "pieces", folder_bytes, settings=Settings(dedup=True)) == whole


def test_blocks_lose_nothing(tmp_path: Path, text: str, many_blocks: None, many_runs: None) -> None:
    (tmp_path / "text").write_text(text)
    corpus = prepare([str(tmp_path / "text")], tmp_path / "work", dev_words=0, test_words=0)
    assert Counter(stored(corpus, "train")) == Counter(naive_sentences(text))


def test_same_seed_same_bytes_other_seed_other_order(
    tmp_path: Path, text: str, folder_bytes: Callable[[Path], dict[str, bytes]]
) -> None:
    first = prepare_in(tmp_path, text, "first", folder_bytes, settings=Settings(seed=5))
    assert prepare_in(tmp_path, text, "again", folder_bytes, settings=Settings(seed=5)) == first
    other = prepare_in(tmp_path, text, "other", folder_bytes, settings=Settings(seed=6))
    assert other["train.tokens"] != first["train.tokens"]


def test_sentences_are_shuffled_over_the_whole_corpus(tmp_path: Path, many_blocks: None) -> None:
    num = 2000
    (tmp_path / "text").write_text("".join(f"line n{number} here\n" for number in range(num)))
    settings = Settings(tokenized=True)
    corpus = prepare([str(tmp_path / "text")], tmp_path / "work", settings=settings, dev_words=0, test_words=0)
    places = [int(sentence[1][1:]) for sentence in stored(corpus, "train")]
    assert sorted(places) == list(range(num))
    # The rank correlation of a random order has a standard deviation of 1 / sqrt(n - 1); six of them never happen.
    mean = (num - 1) / 2
    covariance = sum((at - mean) * (place - mean) for at, place in enumerate(places))
    assert abs(covariance / (num * (num * num - 1) / 12)) < 6 / math.sqrt(num - 1)
    neighbours = sum(abs(after - before) == 1 for before, after in zip(places, places[1:]))
    assert neighbours < 20  # 2 are to be expected


@pytest.mark.usefixtures("many_blocks", "many_runs")
def test_dedup_keeps_exactly_one_of_each(tmp_path: Path) -> None:
    rng = random.Random(3)
    lines = sentences_at_random(rng, 1500, ["a", "b", "c"])
    (tmp_path / "text").write_text(lines)
    settings = Settings(tokenized=True, dedup=True, min_words=1)
    corpus = prepare([str(tmp_path / "text")], tmp_path / "work", settings=settings, dev_words=0, test_words=0)
    every = [tuple(line.split()) for line in lines.splitlines()]
    assert sorted(stored(corpus, "train")) == sorted(set(every))
    gone = Counter(every) - Counter(set(every))
    assert corpus.description["dropped"]["duplicate"] == {
        "sentences": gone.total(),
        "words": sum(len(sentence) * count for sentence, count in gone.items()),
    }


def ready_made(folder: Path, parts: dict[str, str], **options: Any) -> TokenCorpus:
    for part, content in parts.items():
        (folder / part).write_text(content)
    named = {part: [str(folder / part)] for part in parts}
    return prepare(work=folder / "work", **named, **{"settings": Settings(tokenized=True), **options})


@pytest.mark.usefixtures("many_blocks", "many_runs")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ready_made_splits_keep_their_order(tmp_path: Path, jobs: int) -> None:
    rng = random.Random(4)
    words = [f"w{number}" for number in range(60)] + ["<unk>"]
    parts = {part: sentences_at_random(rng, num, words) for part, num in (("train", 900), ("dev", 90), ("test", 200))}
    corpus = ready_made(tmp_path, parts, jobs=jobs)
    for part, content in parts.items():
        assert stored(corpus, part) == [tuple(line.split()) for line in content.splitlines()]
    assert corpus.description["ready_made"] is True


def test_ready_made_lines_are_taken_as_they_are(tmp_path: Path) -> None:
    long_line = " ".join(["Word"] * 300)
    corpus = ready_made(
        tmp_path,
        {
            "train": f"<s> The <unk> 7.5 N <unk> </s>\nx\n\n{long_line}\n= = Title = =\n",
            "dev": "the <unk> only-here\n",
            "test": "The x\n",
        },
    )
    assert stored(corpus, "train") == [
        ("The", "<unk>", "7.5", "N", "<unk>"),
        ("x",),
        tuple(long_line.split()),
        ("=", "=", "Title", "=", "="),
    ]
    assert stored(corpus, "dev") == [("<unk>", "<unk>", "<unk>")]
    assert list(corpus.part("train").sentence(0))[1] == 0
    vocabulary = corpus.vocabulary()
    assert vocabulary.words.count("<unk>") == 1
    assert vocabulary.counts[0] == 2
    assert "only-here" not in vocabulary
    assert list(vocabulary.counts[1:3]) == [4, 4]


def test_ready_made_running_text_is_split_and_filtered(tmp_path: Path) -> None:
    parts = {"train": "One two three. Four five six.\n", "dev": "Two three one.\n"}
    corpus = ready_made(tmp_path, parts, settings=Settings())
    assert stored(corpus, "train") == [("one", "two", "three", "."), ("four", "five", "six", ".")]
    assert corpus.part("test").num_sentences == 0


def test_several_files_make_one_part_in_the_order_given(tmp_path: Path) -> None:
    for name in ("z", "a", "d"):
        (tmp_path / name).write_text(f"{name} one\n")
    corpus = prepare(
        work=tmp_path / "work",
        train=[str(tmp_path / "z"), str(tmp_path / "a")],
        dev=[str(tmp_path / "d")],
        settings=Settings(tokenized=True),
    )
    assert [sentence[0] for sentence in stored(corpus, "train")] == ["z", "a"]


def test_tokenized_text_is_filtered_by_length_when_it_is_to_be_split(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("Too short\nJust don't-touch THIS\n" + "long " * 65 + "\n")
    settings = Settings(tokenized=True)
    corpus = prepare([str(tmp_path / "text")], tmp_path / "work", settings=settings, dev_words=0, test_words=0)
    assert stored(corpus, "train") == [("Just", "don't-touch", "THIS")]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (Settings(), "in 1987 mr. górne paid 47,379.50 at 10:30 ."),
        (Settings(lower_case=False), "In 1987 Mr. Górne paid 47,379.50 at 10:30 ."),
        (Settings(numbers="digits"), "in 0000 mr. górne paid 00,000.00 at 00:00 ."),
        (Settings(numbers="token"), "in <num> mr. górne paid <num> at <num> ."),
    ],
)
def test_case_and_numbers(tmp_path: Path, settings: Settings, expected: str) -> None:
    (tmp_path / "text").write_text("In 1987 Mr. Górne paid 47,379.50 at 10:30.\n")
    corpus = prepare([str(tmp_path / "text")], tmp_path / "work", settings=settings, dev_words=0, test_words=0)
    assert [" ".join(sentence) for sentence in stored(corpus, "train")] == [expected]


@pytest.mark.parametrize(("least", "most"), [(1, 64), (3, 3), (5, 20), (1, None)])
def test_sentences_of_the_wanted_lengths_are_kept(tmp_path: Path, text: str, least: int, most: int | None) -> None:
    (tmp_path / "text").write_text(text)
    settings = Settings(min_words=least, max_words=most)
    corpus = prepare([str(tmp_path / "text")], tmp_path / "work", settings=settings, dev_words=0, test_words=0)
    assert Counter(stored(corpus, "train")) == Counter(naive_sentences(text, least, most or 10**9))


def test_a_word_beyond_reason_makes_its_sentence_unusable(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(f"This is fine. This {'a' * 300} is not. This is fine too.\n")
    corpus = prepare([str(tmp_path / "text")], tmp_path / "work", dev_words=0, test_words=0)
    assert sorted(stored(corpus, "train")) == [("this", "is", "fine", "."), ("this", "is", "fine", "too", ".")]
    assert corpus.description["dropped"]["overlong word"]["sentences"] == 1


def test_the_corpus_opens_from_the_work_folder_and_from_its_own(corpus: TokenCorpus) -> None:
    assert TokenCorpus.open(corpus.folder).description == TokenCorpus.open(corpus.folder.parent).description


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sources": []}, "no source given"),
        ({"sources": ["text"], "train": ["text"], "dev": ["text"]}, "not both"),
        ({"train": ["text"]}, "`train` and `dev`"),
        ({"dev": ["text"]}, "`train` and `dev`"),
        ({"train": ["text"], "dev": ["text"], "settings": Settings(dedup=True)}, "`dedup`"),
        ({"sources": ["text"], "jobs": 0}, "`jobs` 0"),
        ({"sources": ["text"], "dev_words": -1}, "`dev_words` -1"),
        ({"sources": ["text"], "dev_words": 10**9}, "`dev_words` 1000000000"),
        ({"sources": ["text", "text"]}, "given twice"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text(text)
    with pytest.raises(InputError, match=message):
        prepare(**{"work": "work", **options})
    assert {path.name for path in tmp_path.iterdir()} == {"text"}


@pytest.mark.parametrize(
    "wrong", [{"min_words": 0}, {"min_words": 5, "max_words": 4}, {"numbers": "roman"}, {"seed": -1}, {"seed": 1 << 63}]
)
def test_wrong_settings_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"`{'|'.join(wrong)}`"):
        Settings(**wrong)
