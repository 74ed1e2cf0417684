"""Whatever may be given to a model of any kind: an answer, or one line that says what is wrong."""

import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewwords.errors import InputError
from fewwords.use.nbest import read_lists
from fewwords.use.rescore import Weights
from fewwords.use.text_model import TextModel

Command = Callable[..., Any]
ODD_TEXTS = [
    "",
    " \t ",
    "\0\x01\x7f",
    "\ufeffThe cat",
    "日本語のテキスト",
    "नमस्ते दुनिया ",
    "e\u0301te\u0301 cafe\u0301",
    "\u202eright to left\u202c مرحبا",
    "🙂👩‍👩‍👧 ",
    "\ud800 half a pair \udfff",
    "a\u2028b\u2029c\x85d",
    "ﬁ ﬀ Ⅷ ½ ",
    "zebra xylophone quux",
    "<s> </s> <unk>",
    "'''''' \"\"\"\" ((((",
    "-" * 5000,
    "x" * 50_000,
]


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_text_is_read(model: TextModel, text: str) -> None:
    assert len(model.suggest(text, 3)) <= 3
    assert all(each.take(text) for each in model.suggest(text, 3))
    assert all(each.log10_prob <= 0 for each in model.full_scores(text))
    assert all(each.log10_prob <= 0 for each in model.scores_so_far(text))
    assert model.suggest_all([text, text], 2)[0] == model.suggest_all([text], 2)[0]
    assert isinstance(model.sample(text, seed=1, max_words=3), str)
    assert isinstance(text in model, bool)


@settings(max_examples=30)
@given(st.text(max_size=40))
def test_a_text_that_nobody_thought_of(n_gram: TextModel, text: str) -> None:
    for found in n_gram.suggest(text, 3):
        assert 0 <= found.replaces <= len(text)
        assert found.probability > 0
    n_gram.scores_so_far(text)
    n_gram.score(text)


def test_unknown_words_only(model: TextModel) -> None:
    assert all(each.is_unknown for each in model.full_scores("zebra quux", end=False))
    assert model.perplexity("zebra quux") > 1
    assert len(model.suggest("zebra quux ", 5)) == 5
    assert model.suggest("the zzzzz") == []
    assert model.suggest_all(["the zzzzz"]) == [[]]


@pytest.mark.parametrize("wrong", [["the", "cat"], b"the cat", None, 5])
def test_what_is_no_text(model: TextModel, wrong: Any) -> None:
    for call in (model.score, model.suggest, model.perplexity, model.scores_so_far, model.full_scores):
        with pytest.raises(InputError, match="a text was expected"):
            call(wrong)


def test_one_text_where_several_were_expected(model: TextModel) -> None:
    for call in (model.score_all, model.suggest_all, model.full_scores_all, model.nearest_all):
        with pytest.raises(InputError, match="give a list of texts"):
            call("the cat")


@pytest.mark.parametrize("name", ["suggest", "score", "sample"])
@pytest.mark.parametrize("given_bytes", [b"", b"\n\n", b"\xff\xfe\x00\x80 \xc3", "日本\r\nThe ca".encode()])
def test_any_bytes_on_standard_input(
    model_folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch, name: str, given_bytes: bytes
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given_bytes), encoding="utf-8"))
    done = command(name, model_folder, "-", "--json")
    assert (done.code, done.err) == (0, "")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert len(lines) == len(given_bytes.decode(errors="replace").splitlines())


@pytest.mark.parametrize("name", ["suggest", "score", "sample"])
def test_answers_come_line_by_line(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    seen: list[str] = []

    class Lines(io.StringIO):
        def __next__(self) -> str:
            seen.append(capsys.readouterr().out)
            return super().__next__()

    monkeypatch.setattr("sys.stdin", Lines("The cat\nA dog\n"))
    command(name, folder, "-")
    assert [len(out.splitlines()) for out in seen] == [0, 1, 1]


def test_a_word_list_is_scored_word_by_word(model: TextModel, model_folder: Path, command: Command) -> None:
    lines = command("score", model_folder, "cat", "dog", "zebra").out.splitlines()
    scores = [float(line.split("\t")[0]) for line in lines]
    assert scores == pytest.approx(model.score_all(["cat", "dog", "zebra"]), abs=1e-3)


@pytest.mark.parametrize("name", ["suggest", "score", "sample", "rescore", "explain", "nearest", "info"])
@pytest.mark.parametrize("damage", ["missing", "empty", "no model", "a file", "cut", "binary"])
def test_a_model_that_is_none(model_folder: Path, command: Command, tmp_path: Path, name: str, damage: str) -> None:
    folder = tmp_path / "model"
    if damage == "a file":
        folder.write_text("the cat\n")
    elif damage in ("empty", "no model"):
        folder.mkdir()
        (folder / "words.txt").write_text("cat\n" if damage == "no model" else "")
    elif damage != "missing":
        shutil.copytree(model_folder, folder)
        largest = max(folder.rglob("*"), key=lambda path: path.stat().st_size if path.is_file() else 0)
        content = largest.read_bytes()
        largest.write_bytes(content[: len(content) // 2] if damage == "cut" else bytes(len(content)))
    (tmp_path / "nbest").write_text("u-1 the cat\n")
    arguments = {"rescore": [tmp_path / "nbest"], "info": []}.get(name, ["cat"])
    failed = command(name, folder, *arguments)
    assert (failed.code, failed.out) == (2, "")
    assert len(failed.errors) == len(failed.err.splitlines()) == 1
    assert str(folder) in failed.errors[0]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no hypotheses at all"),
        (b"\x7fELF\x00\xff\xfe", "line 1 is no hypothesis"),
        (b"cat\ndog\n", "line 1 is no hypothesis"),
        (b"u-1 the cat\nu-2 a dog\njust words\n", "line 3: expected 'utterance-1 words'"),
        (b"-1 -2 2 the cat\n-1 -2 nan the cat\n", "line 2: expected 'ascore lscore nwords words'"),
        (b"-1 -2 2 the cat\n-inf -2 2 the cat\n", "line 2: expected"),
        (b"-1 -2 2 the cat\n-1\n", "line 2: expected"),
        (b'{"text": "a", "score": null}\n', 'line 1: its "score" is no finite number'),
        (b'{"text": "a", "score": "-1"}\n', 'line 1: its "score" is no finite number'),
        (b'{"text": "a", "score": 1e999}\n', "line 1: not valid JSON (the number 1e999 is not finite)"),
        (b'{"text": "a", "score": 1' + b"0" * 400 + b"}\n", "line 1: not valid JSON (the number 1000000000"),
        (b'{"text": "a", "score": -1}\n{"text": "b"}\n', 'line 2: has no "score"'),
        (b'{"text": "a"}\n{"text": "b", "score": -1}\n', 'line 2: has a "score"'),
        (b'{"text": "a"}\n{"text": "b', "line 2: not valid JSON"),
        (b'{"text": "a"}\n' + b"[" * 100_000 + b"\n", "line 2: not valid JSON"),
        (b'{"text": "a"}\n[]\n', 'line 2: has no "text"'),
    ],
)
def test_broken_lists(model_folder: Path, command: Command, tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "lists"
    path.write_bytes(content)
    failed = command("rescore", model_folder, path)
    assert (failed.code, failed.out) == (2, "")
    assert len(failed.errors) == 1
    assert f"{path}: {told}" in failed.errors[0]


def test_no_file_and_no_reference(folder: Path, command: Command, tmp_path: Path) -> None:
    (tmp_path / "lists").write_text("u-1 the cat\n")
    (tmp_path / "other").write_text("v the cat\n")
    (tmp_path / "silent").write_text("u\n")
    for arguments, told in (
        ([tmp_path / "nothing"], "no such file"),
        ([tmp_path], "a folder, not a file"),
        (["/dev/zero"], "/dev/zero: not a file"),
        ([tmp_path / "lists", "--tune", tmp_path / "other"], "other: has no utterance u"),
        ([tmp_path / "lists", "--reference", tmp_path / "other"], "other: has no utterance u"),
        ([tmp_path / "lists", "--reference", tmp_path / "silent"], "silent: has no words"),
        ([tmp_path / "lists", "--lm-weight", "nan"], "--lm-weight nan"),
        ([tmp_path / "lists", "--word-bonus", "inf"], "--word-bonus inf"),
    ):
        failed = command("rescore", folder, *arguments)
        assert (failed.code, failed.out) == (2, "")
        assert told in failed.errors[0]


def test_weights_are_numbers() -> None:
    with pytest.raises(InputError, match="acoustic_weight"):
        Weights(acoustic=float("nan"))


def test_lists_as_json(folder: Path, command: Command, tmp_path: Path) -> None:
    (tmp_path / "lists").write_text("-10 -3 2 cat the\n-11 -2 2 the cat\n")
    done = command("rescore", folder, tmp_path / "lists", "--json", "--lm-weight", 5)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [(line["text"], line["score"]) for line in lines] == [("the cat", -11), ("cat the", -10)]
    form, lists = read_lists(io.StringIO(done.out), "again")
    assert (form, lists[0].hypotheses[0].acoustic) == ("json", -11)
    (tmp_path / "lists").write_text("-10 -3 2 cat the\n0 -2 2 the cat\n")  # 0 is a score too
    done = command("rescore", folder, tmp_path / "lists", "--json")
    assert [each.acoustic for each in read_lists(io.StringIO(done.out), "again")[1][0].hypotheses] == [0, -10]


@pytest.mark.skipif(sys.platform == "win32", reason="bytes in arguments")
def test_arguments_that_are_no_text(folder: Path, command: Command) -> None:
    for name in ("suggest", "score", "sample"):
        assert command(name, folder, "\udcff\udcfe cat ").code == 0


def test_samples_as_json(folder: Path, command: Command) -> None:
    plain = command("sample", folder, "The cat", "-n", 2, "--seed", 5).out.splitlines()
    lines = [
        json.loads(line)
        for line in command("sample", folder, "The cat", "-n", 2, "--seed", 5, "--json").out.splitlines()
    ]
    assert [line["sentence"] for line in lines] == plain
    assert [(line["text"], line["seed"]) for line in lines] == [("The cat", 5), ("The cat", 6)]
