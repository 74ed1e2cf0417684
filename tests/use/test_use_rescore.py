"""Rescoring: word errors by hand, orders by hand, three forms there and back, and broken lines named."""

import io
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fewwords.errors import InputError
from fewwords.use.nbest import Hypothesis, NBest, read_lists, write_lists
from fewwords.use.rescore import (
    Weights,
    count_errors,
    is_at_the_end,
    read_reference,
    reorder,
    score_lists,
    tune,
    word_errors,
)
from fewwords.use.text_model import TextModel

SRILM = "-10 -3 3 cat the saw\n-11 -2 3 the cat saw\n\n-5 0 2 a dog\n"
KALDI = "u1-1 cat the saw\nu1-2 the cat saw\nu-2-1 a dog\nu-2-2\n"
JSON = (
    '{"utterance": "u1", "text": "cat the saw", "score": -10, "n": 1}\n'
    '{"utterance": "u1", "text": "the cat saw", "score": -11}\n'
)


@pytest.mark.parametrize(
    ("said", "heard", "errors"),
    [
        ("the cat sat", "the cat sat", 0),
        ("the cat sat", "the cat", 1),
        ("the cat sat", "a cat sat down", 2),
        ("", "two words", 2),
        ("the cat", "", 2),
        ("a b c d", "b c d a", 2),
    ],
)
def test_word_errors_by_hand(said: str, heard: str, errors: int) -> None:
    assert word_errors(said.split(), heard.split()) == errors
    assert word_errors(heard.split(), said.split()) == errors


def test_forms_there_and_back() -> None:
    form, lists = read_lists(io.StringIO(SRILM), "a list")
    assert (form, [len(each.hypotheses) for each in lists]) == ("srilm", [2, 1])
    assert lists[0].hypotheses[1] == Hypothesis("the cat saw", -11.0)
    assert list(write_lists(lists, [[-1, -2], [-3]], form)) == [
        "-10 -1.0000 3 cat the saw",
        "-11 -2.0000 3 the cat saw",
        "",
        "-5 -3.0000 2 a dog",
    ]
    form, lists = read_lists(io.StringIO(KALDI), "a list")
    assert (form, [each.utterance for each in lists]) == ("kaldi", ["u1", "u-2"])
    assert "\n".join(write_lists(lists, [[0, 0]] * 2, form)).replace("u-2-2 ", "u-2-2") + "\n" == KALDI
    form, lists = read_lists(io.StringIO(JSON), "a list")
    assert (form, lists[0].hypotheses[0].acoustic) == ("json", -10.0)
    again = [json.loads(line) for line in write_lists(lists, [[-1, -2]], form)]
    assert again[0] == {"utterance": "u1", "text": "cat the saw", "score": -10, "n": 1, "lm_score": -1}


def test_the_order_is_that_of_the_sum(n_gram: TextModel) -> None:
    _, lists = read_lists(io.StringIO(JSON), "a list")
    scores = score_lists(n_gram, lists)
    assert scores == [[n_gram.score("cat the saw"), n_gram.score("the cat saw")]]
    marked = score_lists(n_gram, lists, end_mark=".")
    assert marked == [[n_gram.score("cat the saw."), n_gram.score("the cat saw.")]]
    assert marked != scores
    for weights in (Weights(), Weights(lm=0), Weights(0, 1, 0), Weights(1, 0.1, 5)):
        (found,), (ordered,) = reorder(lists, scores, weights)
        totals = {
            hypothesis.text: weights.acoustic * hypothesis.acoustic
            + weights.lm * score
            + weights.word_bonus * len(hypothesis.text.split())
            for hypothesis, score in zip(lists[0].hypotheses, scores[0])
        }
        assert found.hypotheses[0].text == max(totals, key=lambda text: totals[text])
        assert ordered == [scores[0][lists[0].hypotheses.index(each)] for each in found.hypotheses]


def test_tuned_weights_are_the_best_of_the_grid(n_gram: TextModel) -> None:
    words = ["the", "cat", "saw", "mary"]
    lists = [
        NBest(f"u{number}", tuple(Hypothesis(" ".join(order), -0.1 * place) for place, order in enumerate(orders)))
        for number, orders in enumerate([list(itertools.permutations(words))[::-1], [["a", "dog"], ["dog", "a"]]])
    ]
    scores = score_lists(n_gram, lists)
    likeliest = lists[0].hypotheses[scores[0].index(max(scores[0]))].text
    assert likeliest != lists[0].hypotheses[0].text
    reference = {"u0": likeliest, "u1": "a dog"}
    best, _ = reorder(lists, scores, tune(lists, scores, reference))
    assert count_errors(best, reference).num_errors < count_errors(lists, reference).num_errors
    for lm, bonus in itertools.product((0.0, 1.0, 40.0), (-8.0, 0.0, 8.0)):
        other, _ = reorder(lists, scores, Weights(1.0, lm, bonus))
        assert count_errors(best, reference).num_errors <= count_errors(other, reference).num_errors
    assert tune(lists, scores, reference, 0.5).acoustic == 0.5
    assert is_at_the_end(Weights(1, 40, 0))
    assert is_at_the_end(Weights(1, 1, -32))
    assert not is_at_the_end(Weights(1, 1, 4))


def test_scores_keep_their_digits() -> None:
    _, lists = read_lists(io.StringIO("-1234567.89 0 1 a\n-12345.6789 0 1 b\n"), "a list")
    lines = list(write_lists(lists, [[-1, -2]], "srilm"))
    assert [line.split()[0] for line in lines] == ["-1234567.89", "-12345.6789"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no hypotheses"),
        ("just words\n", "line 1 is no hypothesis"),
        ("-1 -2 3 a b c\n-1 x 3 a b c\n", "line 2: expected 'ascore"),
        ("-1 -2 3 a\n-1 -2\n", "line 2: expected 'ascore"),
        ("-1 -2 3 a\nnan -2 3 a\n", "line 2: expected 'ascore"),
        ("u-1 a\nno number\n", "line 2: expected 'utterance-1"),
        ("u-1 a\nv-1 a\nu-2 a\n", "line 3: u was there before; give the hypotheses of an utterance one after another"),
        ('{"text": "a"}\n{"text": 1}\n', 'line 2: has no "text"'),
        ('{"text": "a", "score": NaN}\n', "not finite"),
        ('{"text": "a"\n', "not valid JSON"),
    ],
)
def test_broken_lists_are_named(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as failure:
        read_lists(io.StringIO(text), "lists.txt")
    assert str(failure.value).startswith("lists.txt: ")


@pytest.mark.parametrize("lists", [SRILM, KALDI])
def test_lists_come_one_by_one(
    folder: Path,
    command: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    lists: str,
) -> None:
    seen: list[int] = []

    class Lines(io.StringIO):
        def __next__(self) -> str:
            seen.append(len(capsys.readouterr().out.split("\n")) - 1)
            return super().__next__()

    monkeypatch.setattr("sys.stdin", Lines(lists))
    command("rescore", folder, "-")
    assert sum(seen[:3]) == 0  # the first list is complete when the next begins
    assert sum(seen) == 2  # before the end of the input
    (tmp_path / "lists").write_text(lists)
    written = command("rescore", folder, tmp_path / "lists").out
    before, after = (read_lists(io.StringIO(text), "a list")[1] for text in (lists, written))
    assert [len(each.hypotheses) for each in after] == [len(each.hypotheses) for each in before]


def test_the_command(folder: Path, command: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "nbest").write_text(KALDI)
    (tmp_path / "ref").write_text("u1 the cat saw\nu-2 a dog\n")
    done = command("rescore", folder, tmp_path / "nbest", "--tune", tmp_path / "ref")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == "u1-2 the cat saw"
    assert "word errors 40.00% before, 0.00% after" in done.err
    again = command("rescore", folder, tmp_path / "nbest", "--tune", tmp_path / "ref", "--end-mark", ".")
    assert (again.code, again.out.splitlines()[0]) == (0, "u1-2 the cat saw")
    failed = command("rescore", folder, tmp_path / "nbest", "--reference", tmp_path / "nothing")
    assert (failed.code, len(failed.errors)) == (2, 1)
    (tmp_path / "twice").write_text("u1 a\nu1 b\n")
    with pytest.raises(InputError, match="line 2: u1 is there already"):
        read_reference(["u1 a", "u1 b"], "twice")
    missing = command("rescore", folder, tmp_path / "nbest", "--reference", tmp_path / "twice")
    assert "give each utterance once" in missing.errors[0]
