"""`fewwords vectors` as it is typed: what it writes, prints and refuses."""

import numpy as np
import pytest

from fewwords.cli import main
from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.errors import InputError
from fewwords.store.locks import lock_folder
from fewwords.vectors import WordVectors, make_vectors
from fewwords.vectors.settings import SkipGramSettings


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    random = np.random.default_rng(6)
    words = ["house", "houses", "tree", "trees", "river", "rivers", "green", "[/old]"]
    lines = [" ".join(random.choice(words, size=8)) for _ in range(300)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    return folder / "text.txt"


@pytest.fixture
def work(prepared, tmp_path):
    prepare([str(prepared)], tmp_path / "work", settings=Settings(tokenized=True), dev_words=50, test_words=0)
    return tmp_path / "work"


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return end.value.code, captured.out, captured.err


def test_train_show_and_replace(work, capsys):
    settings = ["--size", 8, "--epochs", 2, "--threads", 1]
    code, out, err = run(capsys, "vectors", "--work", work, *settings)
    assert (code, "Word vectors" in out, "Neighbours" in out) == (0, True, True)
    assert "epoch 2 of 2: cosine of singular and plural" in err
    first = WordVectors.load(work)
    first.check_fits(TokenCorpus.open(work).vocabulary())
    assert first.size == 8

    code, out, err = run(capsys, "vectors", "--work", work, *settings)
    assert (code, out) == (2, "")
    assert "use --force" in err

    assert run(capsys, "vectors", "--work", work, *settings, "--seed", 2, "--words", 1000, "--force")[0] == 0
    second = WordVectors.load(work)
    assert second.values.tobytes() != first.values.tobytes()
    assert second.made_from["words"] <= 1000

    code, out, err = run(capsys, "vectors", "--work", work, "--neighbours", "house", "--neighbours", "[/old]")
    assert (code, err) == (0, "")
    assert "houses" in out
    assert out.count("[/old]") == 2
    code, out, err = run(capsys, "vectors", "--work", work, "--neighbours", "hose")
    assert (code, out) == (2, "")
    assert "did you mean house?" in err
    assert [path.name for path in work.iterdir() if path.name.startswith(".")] == []


def test_import_and_vocabulary_size(work, tmp_path, capsys):
    (tmp_path / "glove.txt").write_text("house 1 2\nTREE 3 4\n")
    code, out, _ = run(capsys, "vectors", "--work", work, "--import", tmp_path / "glove.txt", "--vocab-size", 10)
    assert code == 0
    assert "words without a vector" in out
    vectors = WordVectors.load(work)
    ids = TokenCorpus.open(work).vocabulary().ids
    present = {word: vectors.values[ids[word]].tolist() for word in ("house", "tree") if ids[word] < 10}
    assert len(vectors) == 10
    assert present.items() <= {"house": [1, 2], "tree": [3, 4]}.items()
    assert present


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--neighbours", "house"], "no such file; run fewwords vectors"),
        (["--vocab-size", "100"], "a vocabulary of 100 words was asked for"),
        (["--epochs", "0"], "--epochs 0: choose 1 or more"),
        (["--import", "absent.txt"], "absent.txt: no such file"),
        (["--import", "absent.txt", "--epochs", "3"], "--epochs is for training"),
    ],
)
def test_refused(work, capsys, arguments, message):
    code, out, err = run(capsys, "vectors", "--work", work, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert not (work / "vectors").exists()


def test_no_corpus(tmp_path, capsys):
    code, _, err = run(capsys, "vectors", "--work", tmp_path)
    assert code == 2
    assert "run fewwords prepare" in err


def test_vectors_of_another_corpus(work, prepared, capsys):
    assert run(capsys, "vectors", "--work", work, "--size", 4, "--epochs", 1, "--threads", 1)[0] == 0
    lines = prepared.read_text().replace("[/old]", "new")
    prepared.with_name("other.txt").write_text(lines)
    prepare(
        [str(prepared.with_name("other.txt"))],
        work,
        settings=Settings(tokenized=True),
        dev_words=50,
        test_words=0,
        force=True,
    )
    code, _, err = run(capsys, "vectors", "--work", work, "--neighbours", "house")
    assert code == 2
    assert "made for another vocabulary" in err


def test_the_stage_from_python(work, tmp_path):
    made = make_vectors(work, SkipGramSettings(size=4, epochs=1, threads=1), vocabulary_size=10)
    assert WordVectors.load(work).values.tobytes() == made.values.tobytes()
    assert made.values.shape == (10, 4)
    with pytest.raises(InputError, match="there are vectors already; use `force`"):
        make_vectors(work, SkipGramSettings(size=4, epochs=1, threads=1))
    (tmp_path / "glove.txt").write_text("house 1 2\nTREE 3 4\n")
    with pytest.raises(InputError, match="for training only"):
        make_vectors(work, SkipGramSettings(), import_file=tmp_path / "glove.txt", force=True)
    assert make_vectors(work, import_file=tmp_path / "glove.txt", force=True).size == 2
    with lock_folder(work, "vectors"), pytest.raises(InputError, match="another fewwords vectors is running"):
        make_vectors(work, SkipGramSettings(size=4, epochs=1, threads=1), force=True)
    assert WordVectors.load(work).size == 2
