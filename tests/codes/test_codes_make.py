"""The stage from vectors to codes, its quality report, explanations and plot, through Python and the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

from fewwords.cli import main
from fewwords.codes.explain import Explanation, _labels, explain, plot_codes
from fewwords.codes.make import load_codes, make_codes
from fewwords.codes.quality import measure_quality
from fewwords.codes.settings import CodingSettings
from fewwords.codes.sparse_codes import SparseCodes
from fewwords.codes.stems import stems
from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.errors import InputError
from fewwords.store.locks import lock_folder
from fewwords.vectors import WordVectors
from fewwords.vocabulary import NUM_SPECIAL, Vocabulary
from fewwords.work_folder import codes_path

NUM_BASE = 20
SIZE = 12


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A corpus of 43 words with falling counts, and vectors in which rare word i is a mixture of base words."""
    words = [f"word{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(40)]
    lines = [f"{word} {word} {word}" for rank, word in enumerate(words) for _ in range(60 - rank)]
    source = tmp_path / "text"
    source.write_text("\n".join(lines))
    prepare([str(source)], tmp_path / "work", settings=Settings(tokenized=True), dev_words=0, test_words=0)
    vocabulary = TokenCorpus.open(tmp_path / "work").vocabulary()
    random = np.random.default_rng(0)
    values = random.normal(size=(len(vocabulary), SIZE)).astype(np.float32)
    values[:NUM_SPECIAL] = 0
    first = NUM_SPECIAL + NUM_BASE
    for row in range(first, len(vocabulary)):
        values[row] = 0.7 * _unit(values[NUM_SPECIAL + row % 7]) + 0.3 * _unit(values[NUM_SPECIAL + 8 + row % 5])
    has_vector = np.ones(len(vocabulary), np.bool_)
    has_vector[:NUM_SPECIAL] = False
    WordVectors(values, has_vector, vocabulary.fingerprint).save(tmp_path / "work")
    return tmp_path / "work"


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_codes_recover_the_mixtures(work: Path) -> None:
    coded = make_codes(work, None, NUM_BASE)
    for rank in range(NUM_SPECIAL + NUM_BASE, coded.codes.num_words):
        indices, values = coded.codes.row(rank)
        wanted = {NUM_SPECIAL + rank % 7: 0.7, NUM_SPECIAL + 8 + rank % 5: 0.3}
        assert set(indices.tolist()) == set(wanted)
        shares = {index: value / values.sum() for index, value in zip(indices.tolist(), values.tolist())}
        assert shares == pytest.approx(wanted, abs=1e-4)
    assert coded.quality.loss.mean == pytest.approx(0.0, abs=1e-6)
    assert coded.quality.nonzeros == pytest.approx(2.0)
    assert coded.quality.nonzeros_histogram == {2: coded.codes.num_rare}
    assert coded.quality.empty == 0
    assert sorted(path.name for path in (work / "codes").iterdir()) == [
        "v43-b20.quality.json",
        "v43-b20.safetensors",
    ]


def test_codes_are_found_again_and_belong_to_the_corpus(work: Path) -> None:
    made = make_codes(work, 40, NUM_BASE).codes
    larger = make_codes(work, 43, NUM_BASE).codes
    assert load_codes(work, 40).num_words == made.num_words
    assert load_codes(work).num_words == larger.num_words
    with pytest.raises(InputError, match=r"no such codes; run fewwords\.make_codes"):
        load_codes(work, 41)
    (work / "corpus" / "words.tsv").write_text((work / "corpus" / "words.tsv").read_text().replace("wordaa", "other"))
    with pytest.raises(InputError, match="another vocabulary"):
        load_codes(work)


def test_one_run_at_a_time_and_no_overwriting(work: Path) -> None:
    made = make_codes(work, 43, NUM_BASE)
    with pytest.raises(InputError, match="there are codes already; use `force`"):
        make_codes(work, 43, NUM_BASE)
    with lock_folder(work, "codes"), pytest.raises(InputError, match="another fewwords codes is running"):
        make_codes(work, 43, NUM_BASE, force=True)
    content = made.path.read_bytes()
    make_codes(work, 43, NUM_BASE, force=True)
    assert made.path.read_bytes() == content


def test_codes_of_other_settings_are_not_taken_for_the_usual_ones(work: Path) -> None:
    made = make_codes(work, 43, NUM_BASE).codes
    make_codes(work, 43, NUM_BASE, CodingSettings(max_nonzeros=1), path=codes_path(work, 43, NUM_BASE, "-n1"))
    assert (work / "codes" / "v43-b20-n1.safetensors").is_file()
    assert load_codes(work).values.tobytes() == made.values.tobytes()


def test_a_word_without_a_vector_is_coded_as_unknown(work: Path) -> None:
    vectors = WordVectors.load(work)
    missing = NUM_SPECIAL + NUM_BASE + 4
    vectors.values[missing] = 0
    vectors.has_vector[missing] = False
    vectors.save(work)
    codes = make_codes(work, None, NUM_BASE).codes
    indices, values = codes.row(missing)
    assert (indices.tolist(), values.tolist()) == ([0], [1.0])
    assert codes.num_words == 43
    assert codes.made_from["words_without_vector"] == 1
    assert codes.row(missing + 1)[0].tolist() != [0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vocab-size", "1000"], "the corpus has 43 words"),
        (["--base-size", "40"], "at least one must be left to code"),
        (["--base-size", "0"], "at least one must be left to code"),
        (["--base-size", "20", "--max-nonzeros", "-1"], "--max-nonzeros -1"),
        (["--base-size", "20", "--solver", "adam", "--sum-to-one"], "exact solver"),
    ],
)
def test_sizes_that_do_not_fit(
    work: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["codes", "--work", str(work), *arguments])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
    assert not (work / "codes").exists()


def test_vectors_of_fewer_words(work: Path) -> None:
    vectors = WordVectors.load(work)
    words = TokenCorpus.open(work).vocabulary().words[:30]
    fingerprint = Vocabulary(words, np.zeros(30, np.int64)).fingerprint
    WordVectors(vectors.values[:30], vectors.has_vector[:30], fingerprint).save(work)
    with pytest.raises(InputError, match="there are vectors for 30 words only"):
        make_codes(work, 40, NUM_BASE)


def test_existing_codes_are_kept(work: Path) -> None:
    path = make_codes(work, None, NUM_BASE).path
    before = path.read_bytes()
    with pytest.raises(InputError, match="`force`"):
        make_codes(work, None, NUM_BASE, settings=CodingSettings(sum_to_one=True))
    assert path.read_bytes() == before
    make_codes(work, None, NUM_BASE, settings=CodingSettings(sum_to_one=True), force=True)
    assert path.read_bytes() != before


def test_command_line(work: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["codes", "--work", str(work), "--base-size", str(NUM_BASE)])
    assert stopped.value.code == 0
    output = capsys.readouterr().out
    assert "fitting loss" in output
    assert "paper: 4 to 8 values a word; here 2.0: does not hold" in output
    words = TokenCorpus.open(work).vocabulary().words
    picture = tmp_path / "codes.png"
    with pytest.raises(SystemExit) as stopped:
        main(["explain", words[NUM_SPECIAL], words[-1], "--work", str(work), "--plot", str(picture)])
    assert stopped.value.code == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"{words[NUM_SPECIAL]} = 1.00 {words[NUM_SPECIAL]}"
    assert said[1].count(" + ") == 1
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit):
        main(["explain", words[-1], "--work", str(work), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["weights"] == sorted(facts["weights"], reverse=True)
    assert not facts["is_base"]


def test_unknown_word_gets_a_hint(work: Path) -> None:
    codes = make_codes(work, None, NUM_BASE).codes
    vocabulary = TokenCorpus.open(work).vocabulary()
    with pytest.raises(InputError, match=r"did you mean worda[a-z]\?"):
        explain("wordaaa", codes, vocabulary)


def test_labels_of_a_plot_stand_apart_and_clear_of_other_stems() -> None:
    ranks, weights = [7980, 7990, 7000, 500, 520, 700, 4000, 4100], [0.5, 0.3, 0.3, 0.3, 0.3, 0.29, 0.2, 0.19]
    labels = _labels(Explanation("plural", 9000, False, [f"word-{rank}" for rank in ranks], ranks, weights), 8000, 1.2)
    assert [(label.rank, label.weight) for label in labels] == list(zip(ranks, weights))
    for number, label in enumerate(labels):
        assert label.weight <= label.y < 1.2
        for other in labels[:number]:
            assert other.right <= label.left or label.right <= other.left or abs(label.y - other.y) > 0.05
        for rank, weight in zip(ranks, weights):
            assert rank == label.rank or not label.left <= rank <= label.right or weight < label.y


def test_plot_of_an_unknown_kind(work: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    coded = make_codes(work, None, NUM_BASE)
    said = [explain(coded.vocabulary.words[-1], coded.codes, coded.vocabulary)]
    with pytest.raises(InputError, match=r"ends in \.png"):
        plot_codes(said, coded.codes.num_base, tmp_path / "codes.xyz")


def test_share_of_plain_forms_by_hand() -> None:
    """Rare words tests, runs, stopped, cats; base test, run, stop, dog: the first two are right, one has it second."""
    words = ["<unk>", "<s>", "</s>", "test", "run", "stop", "dog", "tests", "runs", "stopped", "cats"]
    indices = np.array([3, 4, 4, 5, 6], np.uint16)
    values = np.array([1.0, 0.9, 0.6, 0.4, 1.0], np.float32)
    codes = SparseCodes(np.array([0, 1, 2, 4, 5]), indices, values, 7)
    quality = measure_quality(codes, np.eye(11, dtype=np.float32), words)
    assert quality.num_with_stem == 3
    assert quality.stem_is_largest == pytest.approx(2 / 3)
    assert quality.stem_in_code == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("algorithms", "algorithm"),
        ("studies", "study"),
        ("boxes", "box"),
        ("stopped", "stop"),
        ("making", "make"),
        ("quickly", "quick"),
        ("happily", "happy"),
        ("larger", "large"),
        ("carried", "carry"),
    ],
)
def test_stems(word: str, stem: str) -> None:
    assert stem in list(stems(word))


def test_short_words_have_no_stem() -> None:
    assert list(stems("gas")) == []
    assert list(stems("red")) == []
