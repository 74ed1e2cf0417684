"""`fewwords evaluate`: texts, parts, SRILM's layout, JSON, and bad input."""

import gzip
import io
import json
import math
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from fewwords.codes.controls import random_codes
from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.evaluation.evaluate import evaluate
from fewwords.evaluation.perplexity import part_perplexity
from fewwords.models.load import load
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.text.rules import TextRules

SIZE, BASE_SIZE = 60, 20
SCORE = re.compile(r"\tp\( (\S+) \| (\S+) (?:\.\.\.)?\) \t= \[(NN|OOV)\] (\S+) \[ (\S+) \]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, prose: Callable[..., str]) -> Path:
    """A work folder with a corpus of ready-made parts, its test text, and a model."""
    work = tmp_path_factory.mktemp("work")
    train, test = work / "train.txt", work / "test.txt"
    train.write_text(prose(200) + "He (so) was.\n" * 30, encoding="utf-8")  # brackets are a matter of their own below
    text = re.sub(r"\S+ ", "Xyzzy (so) ", prose(40, seed=5), count=3)
    test.write_text(text, encoding="utf-8")
    settings = Settings(min_words=1, max_words=None)  # as evaluation reads, so that the part holds what the text holds
    prepare(work=work, train=[str(train)], dev=[str(test)], test=[str(test)], settings=settings)
    vocabulary = TokenCorpus.open(work).vocabulary(SIZE)
    codes = random_codes(SIZE, BASE_SIZE, 4, seed=0)
    torch.manual_seed(0)
    model = LanguageModel(settings_of("lstm-z-w", embedding_size=8, hidden_size=8), SIZE, codes)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    save_neural(work / "model", NeuralModel(model, vocabulary, codes), "a card\n")
    return work


def test_raw_text_tokenised_text_and_prepared_part_agree(folder: Path, tmp_path: Path) -> None:
    saved = load(folder / "model")
    corpus = TokenCorpus.open(folder)
    expected = part_perplexity(saved, corpus.part("test", SIZE))
    by_part = evaluate(folder / "model", work=folder).total
    assert by_part.perplexity == expected
    assert by_part.bits_per_character is None
    raw = evaluate(folder / "model", [str(folder / "test.txt")]).total
    assert raw.perplexity.counts == expected.counts
    assert raw.perplexity.log_probs == pytest.approx(expected.log_probs, rel=1e-6)
    words = corpus.vocabulary().words
    lines = [" ".join(words[word] for word in sentence) for sentence in corpus.part("test").sentences()]
    (tmp_path / "tokens.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    tokenized = evaluate(folder / "model", [str(tmp_path / "tokens.gz")], tokenized=True).total
    assert tokenized.perplexity.counts == expected.counts
    assert tokenized.bits_per_character == pytest.approx(
        -tokenized.perplexity.log_prob / math.log(2) / (len("\n".join(lines)) + 1)
    )


def test_texts_add_up_and_max_words_limits_each(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("So it is. Not so!\nNo\n")
    (tmp_path / "b").write_text("It was so.\n")
    both = evaluate(folder / "model", [str(tmp_path / "a"), str(tmp_path / "b")])
    assert [text.perplexity.num_words for text in both.texts] == [8, 4]
    assert both.total.perplexity.num_words == 12
    assert both.total.num_characters == len("so it is .\nnot so !\nno\n") + len("it was so .\n")
    limited = evaluate(folder / "model", [str(tmp_path / "a"), str(tmp_path / "b")], max_words=4)
    assert [text.perplexity.num_words for text in limited.texts] == [4, 4]


def test_case_and_numbers_are_those_of_the_models_corpus(folder: Path, tmp_path: Path) -> None:
    saved = load(folder / "model")
    rules = TextRules(lower_case=False, numbers="token")
    made_from = {"corpus": {"settings": {"lower_case": False, "numbers": "token"}}}
    model = NeuralModel(saved.network, saved.vocabulary, saved.codes, rules, made_from)
    save_neural(tmp_path / "model", model, "")
    (tmp_path / "text").write_text("So 12 it.\n")
    facts = json.loads((tmp_path / "model" / "model.json").read_text())
    for older in (False, True):
        if older:  # a folder without text rules has them among the settings of its corpus
            del facts["text"]
            (tmp_path / "model" / "model.json").write_text(json.dumps(facts))
        scores = io.StringIO()
        evaluate(tmp_path / "model", [str(tmp_path / "text")], word_scores=scores)
        assert scores.getvalue().splitlines()[0] == "So <num> it ."


def test_word_scores_are_srilms_and_add_up(folder: Path, command: Callable[..., object]) -> None:
    outcome = command("evaluate", folder / "model", folder / "test.txt", "--output", "word-scores", "--threads", 1)
    assert outcome.code == 0
    *blocks, last = outcome.out.split("\n\n")
    totals = {"sentences": 0, "words": 0, "oovs": 0, "log10": 0.0}
    for block in blocks:
        lines = block.split("\n")
        words = lines[0].split()
        scores = [SCORE.fullmatch(line).groups() for line in lines[1:-2]]
        assert [score[0] for score in scores][-1] == "</s>"
        assert [word if score[2] == "NN" else "<unk>" for word, score in zip(words, scores)] == [
            score[0] for score in scores[:-1]
        ]
        previous = ["<s>", *(score[0].replace(")", "-rrb-") for score in scores[:-1])]
        assert [score[1] for score in scores] == previous
        known = [score for score in scores if score[2] == "NN"]
        for score in known:
            assert math.log10(float(score[3])) == pytest.approx(float(score[4]), abs=1e-5)
        assert all(score[3:] == ("0", "-inf") for score in scores if score[2] == "OOV")
        log10 = sum(float(score[4]) for score in known)
        num_oovs = len(scores) - len(known)
        assert lines[-2] == f"1 sentences, {len(words)} words, {num_oovs} OOVs"
        _check_statistics(lines[-1], log10, len(known))
        totals = {
            "sentences": totals["sentences"] + 1,
            "words": totals["words"] + len(words),
            "oovs": totals["oovs"] + num_oovs,
            "log10": totals["log10"] + log10,
        }
    counts, statistics = last.strip().split("\n")
    name = folder / "test.txt"
    assert counts == f"file {name}: {totals['sentences']} sentences, {totals['words']} words, {totals['oovs']} OOVs"
    assert totals["oovs"] > 0
    num_targets = totals["words"] - totals["oovs"] + totals["sentences"]
    _check_statistics(statistics, totals["log10"], num_targets, totals["sentences"])


def _check_statistics(line: str, log10: float, num_targets: int, num_ends: int = 1) -> None:
    found = re.fullmatch(r"0 zeroprobs, logprob= (\S+) ppl= (\S+) ppl1= (\S+)", line).groups()
    assert float(found[0]) == pytest.approx(log10, rel=1e-5)
    assert float(found[1]) == pytest.approx(10 ** (-log10 / num_targets), rel=1e-4)
    if num_targets > num_ends:
        assert float(found[2]) == pytest.approx(10 ** (-log10 / (num_targets - num_ends)), rel=1e-4)
    else:
        assert found[2] == "undefined"


def test_best_mix_finds_the_tenth_field_of_every_score(folder: Path, command: Callable[..., object]) -> None:
    """compute-best-mix makes everything from `|` to the next `)` one word and takes the tenth field."""
    outcome = command("evaluate", folder / "model", folder / "test.txt", "--output", "word-scores")
    lines = [line for line in outcome.out.split("\n") if line.split()[:1] == ["p("]]
    assert any(" | -rrb- " in line for line in lines)
    for line in lines:
        fields = re.sub(r"[|] [^)]*\)", "| X )", line, count=1).split()
        assert fields[9] == line.split()[-2]
        assert float(fields[9]) < 0


def test_summary_and_json(folder: Path, command: Callable[..., object]) -> None:
    summary = command("evaluate", folder / "model", "--work", folder, "--part", "dev")
    assert summary.code == 0
    assert summary.out.startswith("file dev: ")
    for expected in (
        "vocabulary of 60 words",
        "without </s>",
        "out of vocabulary",
        "rare words",
        "uncompressed version",
        "codes",
    ):
        assert expected in summary.out
    assert "bits per character" not in summary.out
    outcome = command("evaluate", folder / "model", folder / "test.txt", "--output", "json")
    facts = json.loads(outcome.out)
    direct = evaluate(folder / "model", [str(folder / "test.txt")])
    assert facts == json.loads(json.dumps(direct.to_json()))
    assert facts["bytes"]["model.safetensors"] == (folder / "model" / "model.safetensors").stat().st_size


def test_standard_input(folder: Path, command: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"<s> ba de . </s>\n")))
    outcome = command("evaluate", folder / "model", "-", "--tokenized", "--output", "word-scores")
    assert outcome.out.splitlines()[0] == "ba de ."
    assert "file -: 1 sentences, 3 words" in outcome.out


def test_a_model_without_end_has_no_end_to_score(folder: Path, tmp_path: Path) -> None:
    saved = load(folder / "model")
    settings = settings_of("lstm-s", boundary="paper", embedding_size=4, hidden_size=4)
    save_neural(tmp_path / "model", NeuralModel(LanguageModel(settings, SIZE), saved.vocabulary), "")
    scores = io.StringIO()
    result = evaluate(tmp_path / "model", work=folder, word_scores=scores).total.perplexity
    assert "</s>" not in scores.getvalue()
    assert result.num_ends == 0
    ppl, ppl1 = re.search(r"file test: .*\n.* ppl= (\S+) ppl1= (\S+)", scores.getvalue()).groups()
    assert ppl == ppl1
    assert float(ppl) == pytest.approx(result.over(unknown=False, ends=True), rel=1e-6)


def test_bad_input_is_told_in_one_line(
    folder: Path, tmp_path: Path, prose: Callable[..., str], command: Callable[..., object]
) -> None:
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "text").write_text("ba de gi .\n")
    (tmp_path / "other.txt").write_text(prose(100, seed=9))
    prepare([str(tmp_path / "other.txt")], tmp_path / "other")
    changed, torn, diverged = tmp_path / "changed", tmp_path / "torn", tmp_path / "diverged"
    shutil.copytree(folder / "model", changed)
    with (changed / "words.tsv").open("a") as file:
        file.write("60\tmore\t1\n")
    shutil.copytree(folder / "model", torn)
    (torn / "model.json").unlink()
    saved = load(folder / "model")
    torch.nn.init.constant_(saved.network.output.bias, math.nan)
    save_neural(diverged, NeuralModel(saved.network, saved.vocabulary, saved.codes), "")
    model, text = folder / "model", tmp_path / "text"
    for arguments, message in (
        ([model], "name either texts"),
        ([model, text, "--work", folder], "name either texts"),
        ([model, tmp_path / "empty"], "empty: the file is empty"),
        ([model, tmp_path / "nothing"], "no such file"),
        ([model, text, "--max-words", 0], "--max-words 0"),
        ([model, text, "--threads", 0], "--threads"),
        ([model, text, "--device", "abacus"], "--device abacus"),
        ([model, "--work", tmp_path], "no prepared corpus"),
        ([model, "--work", tmp_path / "other"], "are not the model's vocabulary"),
        ([model, "--work", folder, "--part", "train"], "train"),
        ([changed, text], "words.tsv: not the file that model.json describes"),
        ([torn, text], "incomplete"),
        ([tmp_path / "none", text], "no such model"),
        ([diverged, text], "output.bias has a weight that is NaN"),
    ):
        outcome = command("evaluate", *arguments)
        assert outcome.code == 2, arguments
        assert len(outcome.errors) == 1
        assert message in outcome.errors[0], outcome.err
