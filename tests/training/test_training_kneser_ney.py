"""Kneser-Ney models from the command line: trained, evaluated, written as ARPA and read back."""

import random

import pytest

from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.evaluation.perplexity import part_perplexity
from fewwords.models.kneser_ney import estimate
from fewwords.models.load import load


@pytest.fixture(scope="module")
def text_work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kn")
    chance = random.Random(7)
    lines = (" ".join(f"w{int(900 * chance.random() ** 4)}" for _ in range(6)) for _ in range(900))
    (folder / "text.txt").write_text("\n".join(lines))
    prepare([str(folder / "text.txt")], folder, settings=Settings(tokenized=True), dev_words=300, test_words=300)
    return folder


def test_train_evaluate_and_arpa_there_and_back(text_work, tmp_path, command):
    model, again = tmp_path / "kn", tmp_path / "again"
    done = command(
        "train", "--work", text_work, "--model", "kn3", "--vocab-size", 50, "--words", 3000, "--output", model
    )
    assert done.code == 0, done.err
    assert "Training of kn3" in done.out
    corpus = TokenCorpus.open(text_work)
    ours = estimate(corpus.part("train", 50), 3, vocabulary=corpus.vocabulary(50), max_words=3000)
    wanted = part_perplexity(ours, corpus.part("test", 50))
    saved = load(model)
    assert saved.made_from["result"]["words"] == corpus.part("train", 50).head(3000).num_words
    assert f"{saved.made_from['result']['dev_perplexity']:.2f}" in (model / "README.md").read_text()
    shown = command("evaluate", model, "--work", text_work)
    assert shown.code == 0
    assert f"{wanted.value:,.2f}" in shown.out
    assert f"{wanted.over(unknown=True, ends=False):,.2f}" in shown.out
    assert f"{saved.size.num_numbers:,}" in shown.out

    assert command("arpa", model, tmp_path / "m.arpa.gz").code == 0
    assert command("arpa", tmp_path / "m.arpa.gz", again, "--words-of", model).code == 0
    back = part_perplexity(load(again), corpus.part("test", 50))
    assert back.value == pytest.approx(wanted.value, rel=1e-6)


def test_order_and_pruning_arrive(text_work, tmp_path, command):
    options = ["--model", "kn", "--order", 2, "--prune", "0,1", "--no-interpolate", "--vocab-size", 50]
    assert command("train", "--work", text_work, *options, "--output", tmp_path / "m").code == 0
    model = load(tmp_path / "m")
    assert (model.order, model.settings["prune"], model.settings["interpolate"]) == (2, [0, 1], False)
    assert command("train", "--work", text_work, *options, "--output", tmp_path / "m").code == 2
    assert command("train", "--work", text_work, *options, "--output", tmp_path / "m", "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--model", "kn"], "--order 3"),
        (["--model", "kn3", "--order", 4], "contradict each other"),
        (["--model", "kn3", "--dropout", 0.1], "--dropout means nothing to kn3"),
        (["--model", "lbl5", "--prune", 0], "--prune means nothing to lbl5"),
        (["--model", "kn3", "--prune", "0,x"], "--prune 0,x"),
        (["--model", "kn3", "--words", 12], "too little text for the discounts"),
    ],
)
def test_bad_input_is_told_in_a_line(text_work, tmp_path, command, arguments, told):
    failed = command("train", "--work", text_work, "--vocab-size", 50, "--output", tmp_path / "m", *arguments)
    assert failed.code == 2
    assert told in failed.errors[-1]
    assert not (tmp_path / "m").exists()


def test_arpa_refuses_what_it_cannot_do(text_work, tmp_path, command):
    broken = tmp_path / "broken.arpa"
    broken.write_text("\\data\\\nngram 1=1\n\n\\1-grams:\n-1 a\n")
    failed = command("arpa", broken, tmp_path / "m")
    assert (failed.code, (tmp_path / "m").exists()) == (2, False)
    assert str(broken) in failed.errors[-1]
    failed = command("arpa", broken, broken)
    assert "is there already" in failed.errors[-1]
    neural = tmp_path / "neural"
    options = ["--embedding-size", 4, "--hidden-size", 4, "--words", 600, "--threads", 1, "--output", neural]
    assert command("train", "--work", text_work, "--model", "lbl5", "--vocab-size", 50, *options).code == 0
    failed = command("arpa", neural, tmp_path / "n.arpa")
    assert "only Kneser-Ney models have an ARPA file" in failed.errors[-1]
