"""The nearest words of a model's own vectors, against all cosines written out, and the command line."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fewwords.errors import InputError
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.model import NeuralModel
from fewwords.use import nearest
from fewwords.use.text_model import TextModel
from fewwords.vocabulary import NUM_SPECIAL


def table_of(model: NeuralModel) -> np.ndarray:
    """All rows [V, size]: for a coded embedding the codes as a matrix, times the base."""
    table = model.network.embedding_table.detach().numpy().astype(np.float64)
    return table if model.codes is None else model.codes.to_csr() @ table


@pytest.mark.parametrize("chunk", [7, 8192])
def test_nearest_are_those_of_all_cosines(model: TextModel, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    if model.model.variant == "kn3":
        with pytest.raises(InputError, match="kn3: has no word vectors"):
            model.nearest("cat")
        return
    monkeypatch.setattr(nearest, "WORDS_PER_CHUNK", chunk)
    rows = table_of(next(part for part in model.model.parts if isinstance(part, NeuralModel)))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    words = model.vocabulary.words
    for word in ("cat", words[-1], words[NUM_SPECIAL]):
        cosines = rows @ rows[model.vocabulary.ids[word]]
        order = sorted(range(NUM_SPECIAL, len(words)), key=lambda other: -cosines[other])
        expected = [(words[other], cosines[other]) for other in order if words[other] != word][:6]
        found = model.nearest(word.upper(), 6)
        assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in expected], abs=1e-5)
        assert {other for other, _ in found[:5]} <= {other for other, _ in expected}
    for one, together in zip(("cat", "dog"), model.nearest_all(["cat", "dog"], 3)):
        assert [other for other, _ in together] == [other for other, _ in model.nearest(one, 3)]
    assert len(model.nearest("cat", 10**6)) == len(words) - NUM_SPECIAL - 1


def test_words_without_neighbours(coded: TextModel) -> None:
    with pytest.raises(InputError, match=r"mari: not among .* did you mean mary"):
        coded.nearest("mari")
    with pytest.raises(InputError, match="`k` 0"):
        coded.nearest("cat", 0)


@pytest.fixture(scope="module")
def coded_folder(coded: TextModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("coded") / "lstm"
    save_neural(folder, coded.model, "a model")
    return folder


def test_the_commands(
    coded: TextModel, coded_folder: Path, folder: Path, command: Callable[..., Any], tmp_path: Path
) -> None:
    rare = coded.vocabulary.words[-1]
    shown = command("nearest", coded_folder, "cat", rare, "-k", 2)
    assert shown.code == 0, shown.err
    assert [line.split("\t")[0].split(" ")[0] for line in shown.out.splitlines()] == [
        coded.nearest("cat")[0][0],
        coded.nearest(rare)[0][0],
    ]
    facts = json.loads(command("nearest", coded_folder, "cat", "--json").out)
    assert facts["nearest"][0]["word"] == coded.nearest("cat")[0][0]
    shown = command("explain", coded_folder, rare, "cat")
    assert shown.out.splitlines() == [str(coded.explain(rare)), str(coded.explain("cat"))]
    assert json.loads(command("explain", coded_folder, rare, "--json").out)["word"] == rare
    for arguments, told in (
        (["nearest", folder, "cat"], "kn3: has no word vectors"),
        (["explain", folder, "cat"], "kn3: has no codes"),
        (["explain", "cat", "dog"], "cat: no such model; give MODEL before the words"),
        (["explain"], "no model; give MODEL before the words"),
        (["explain", coded_folder, "cat", "--base-size", 5], "give --work as well"),
        (["explain", coded_folder, "zzz"], "zzz: not among"),
        (["explain", tmp_path, "cat"], str(tmp_path)),
    ):
        failed = command(*arguments)
        assert (failed.code, len(failed.errors)) == (2, 1), arguments
        assert told in failed.errors[0]


def test_words_of_standard_input_without_an_answer_do_not_stop_the_others(
    coded_folder: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("cat\nzebra\ndog\n"))
    done = command("nearest", coded_folder, "-", "-k", 1)
    assert (done.code, len(done.out.splitlines())) == (2, 2)
    assert "zebra" in done.err
    assert "1 of its lines had no answer" in done.errors[0]
    given = command("nearest", coded_folder, "cat", "zebra")
    assert (given.code, "zebra" in given.errors[0]) == (2, True)
