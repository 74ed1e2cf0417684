"""`fewwords mix`: weights tuned on a text or on dev, the mix as a model folder, and bad input."""

import io
import json
import math
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.evaluation.evaluate import evaluate
from fewwords.evaluation.mix import mix as mix_models
from fewwords.models.kneser_ney import KneserNey, estimate
from fewwords.models.load import load
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.text.rules import TextRules

SIZE = 60
PAIR = ("neural", "kn2")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory, prose: Callable[..., str]) -> Path:
    """A work folder with a corpus, its dev text, and models of two kinds."""
    folder = tmp_path_factory.mktemp("mix")
    (folder / "train.txt").write_text(prose(300))
    (folder / "dev.txt").write_text(prose(60, seed=4).lower())
    settings = Settings(min_words=1, max_words=None)  # as evaluation reads, so that the part holds what the text holds
    texts = {
        part: [str(folder / f"{name}.txt")] for part, name in (("train", "train"), ("dev", "dev"), ("test", "dev"))
    }
    prepare(work=folder, settings=settings, **texts)
    corpus = TokenCorpus.open(folder)
    vocabulary, made_from = corpus.vocabulary(SIZE), {"corpus": corpus.made_from}
    for order in (1, 2):
        model = estimate(
            corpus.part("train", SIZE),
            order,
            vocabulary=vocabulary,
            discount_fallback=(0.5, 1, 1.5),
            max_words=400 * order,
        )
        KneserNey(vocabulary, model.trie, model.settings, made_from).save(folder / f"kn{order}")
    torch.manual_seed(0)
    neural = LanguageModel(settings_of("lstm-z", embedding_size=6, hidden_size=6), SIZE).eval()
    with torch.no_grad():  # as good as unigrams, in its own way
        counts = torch.from_numpy(vocabulary.counts).float() + 1
        neural.output.bias.copy_(counts.log() + 0.5 * torch.randn(SIZE))
    save_neural(folder / "neural", NeuralModel(neural, vocabulary, made_from=made_from), "a card\n")
    return folder


def models(work: Path, *names: str) -> list[Path]:
    return [work / name for name in names or PAIR]


def test_the_tuned_mix_beats_its_models_and_evaluates_to_the_same(work: Path, tmp_path: Path) -> None:
    summary = mix_models(models(work, *PAIR, "kn1"), work=work, output=tmp_path / "mix")
    alone = [evaluate(model, work=work, part="dev").total.perplexity.value for model in models(work, *PAIR, "kn1")]
    assert summary.perplexities == pytest.approx(alone)
    assert summary.perplexity < min(alone)
    assert summary.perplexity <= summary.equal_perplexity
    assert sum(summary.weights) == pytest.approx(1)
    found = evaluate(tmp_path / "mix", work=work, part="dev")
    assert found.total.perplexity.value == pytest.approx(summary.perplexity)
    assert found.total.perplexity.num_words == summary.num_words
    assert found.variant == "mix"
    saved = load(tmp_path / "mix")
    assert saved.weights == summary.weights
    assert saved.made_from["corpus"] == TokenCorpus.open(work).made_from
    assert saved.made_from["result"]["perplexity"] == summary.perplexity
    assert not (tmp_path / "mix" / ".mix.lock").exists()


def test_a_text_reads_as_the_part_does_and_nothing_is_written_unless_asked(
    work: Path, folder_bytes: Callable[[Path], dict[str, bytes]]
) -> None:
    before = folder_bytes(work)
    by_part = mix_models(models(work), work=work)
    by_text = mix_models(models(work), str(work / "dev.txt"))
    assert folder_bytes(work) == before
    assert (by_text.num_words, by_text.num_targets) == (by_part.num_words, by_part.num_targets)
    assert by_text.weights == pytest.approx(by_part.weights, rel=1e-4)
    assert mix_models(models(work), work=work, max_words=50).num_words <= 50


def test_no_other_weights_are_better(work: Path) -> None:
    tuned = mix_models(models(work), work=work)
    for step in (-0.02, 0.02):
        weights = [tuned.weights[0] + step, tuned.weights[1] - step]
        given = mix_models(models(work), work=work, weights=weights)
        assert given.weights == tuple(weights)
        assert not given.is_tuned
        assert given.perplexity > tuned.perplexity
    equal = mix_models(models(work), work=work, weights=[0.5, 0.5])
    assert equal.perplexity == equal.equal_perplexity == pytest.approx(tuned.equal_perplexity)


def test_texts_of_a_mix_are_folded_as_those_of_its_models(work: Path, tmp_path: Path) -> None:
    cased = {"sources": ["other"], "settings": {"lower_case": False, "numbers": "token"}}
    saved = load(work / "kn2")
    for name, made_from in (
        ("cased", {"corpus": cased}),
        ("more", {"corpus": {**cased, "sources": ["more"]}}),
        ("arpa", {}),
    ):
        rules = TextRules(lower_case=False, numbers="token") if made_from else TextRules()
        KneserNey(saved.vocabulary, saved.trie, saved.settings, made_from, rules).save(tmp_path / name)
    (tmp_path / "text").write_text("Ba 12 De.\n")
    folders = [tmp_path / name for name in ("arpa", "cased", "more")]
    summary = mix_models(folders, str(tmp_path / "text"), output=tmp_path / "mix")
    assert summary.perplexity != pytest.approx(mix_models(folders[:1] * 2, str(tmp_path / "text")).perplexity)
    assert load(tmp_path / "mix").made_from["corpus"] == {**cased, "sources": ["other", "more"]}
    scores = io.StringIO()
    found = evaluate(tmp_path / "mix", [str(tmp_path / "text")], word_scores=scores)
    assert scores.getvalue().splitlines()[0] == "Ba <num> De ."
    assert summary.perplexity == pytest.approx(found.total.perplexity.value)


def test_models_without_end_mix_with_their_like(work: Path, tmp_path: Path) -> None:
    settings = settings_of("lstm-s", boundary="paper", embedding_size=4, hidden_size=4)
    vocabulary = load(work / "kn2").vocabulary
    for seed in (1, 2):
        torch.manual_seed(seed)
        save_neural(tmp_path / str(seed), NeuralModel(LanguageModel(settings, SIZE), vocabulary), "")
    summary = mix_models([tmp_path / "1", tmp_path / "2"], work=work, output=tmp_path / "mix")
    assert summary.num_targets == summary.num_words
    assert evaluate(tmp_path / "mix", work=work, part="dev").total.perplexity.value == pytest.approx(summary.perplexity)
    again = mix_models([tmp_path / "mix", tmp_path / "1"], work=work)
    assert again.num_targets == again.num_words


def test_the_command_tells_perplexities_and_weights(work: Path, command: Callable[..., object], tmp_path: Path) -> None:
    outcome = command("mix", *models(work), "--work", work, "--output", tmp_path / "mix", "--threads", 1)
    assert outcome.code == 0
    summary = mix_models(models(work), work=work)
    for number in (*summary.perplexities, summary.equal_perplexity, summary.perplexity):
        assert f"{number:,.2f}" in outcome.out
    for weight in summary.weights:
        assert f"{weight:.4f}" in outcome.out
    assert outcome.err.splitlines()[-1] == f"mix: written to {tmp_path / 'mix'}"
    card = (tmp_path / "mix" / "README.md").read_text()
    assert f"| `components/2` | kn2 | {summary.weights[1]:.4f} | {summary.perplexities[1]:.2f} |" in card
    again = command("mix", tmp_path / "mix", work / "kn1", work / "dev.txt", "--json")
    facts = json.loads(again.out)
    assert facts["perplexity"] <= facts["perplexities"][0] * (1 + 1e-5)
    assert facts["folder"] is None
    assert again.err.splitlines()[-1].startswith("mix: not written")


def test_standard_input_and_given_weights(
    work: Path, command: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ba de .\nba\n")))
    outcome = command("mix", *models(work), "-", "--tokenized", "--weights", "0.3,0.7", "--json")
    facts = json.loads(outcome.out)
    assert (facts["num_words"], facts["num_targets"], facts["weights"], facts["is_tuned"]) == (4, 6, [0.3, 0.7], False)
    ids = load(work / "kn2").vocabulary.encode(["ba", "de", "."])
    log_probs = load(work / "kn2").all_log_probs([np.array(ids), np.array(ids[:1])])
    assert facts["perplexities"][1] == pytest.approx(math.exp(-log_probs.mean()))


def test_force_replaces_a_mix(work: Path, command: Callable[..., object], tmp_path: Path) -> None:
    three = ["mix", *models(work, "neural", "kn2", "kn1"), "--work", work, "--output", tmp_path / "mix"]
    assert command(*three).code == 0
    two = ["mix", *models(work), "--work", work, "--output", tmp_path / "mix"]
    assert command(*two).code == 2
    assert command(*two, "--force").code == 0
    assert len(load(tmp_path / "mix").components) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mix"]


def test_bad_input_is_told_in_one_line(
    work: Path, tmp_path: Path, prose: Callable[..., str], command: Callable[..., object]
) -> None:
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "marks").write_text("\u200b\n")
    (tmp_path / "text").write_text("ba de gi .\n")
    (tmp_path / "other.txt").write_text(prose(100, seed=9))
    prepare([str(tmp_path / "other.txt")], tmp_path / "other")
    saved = load(work / "kn2")
    vocabulary = saved.vocabulary
    small = TokenCorpus.open(work).vocabulary(SIZE - 10)
    part = TokenCorpus.open(work).part("train", SIZE - 10)
    estimate(part, 1, vocabulary=small, discount_fallback=(0.5, 1, 1.5)).save(tmp_path / "small")
    settings = settings_of("lstm-s", boundary="paper", embedding_size=4, hidden_size=4)
    save_neural(tmp_path / "endless", NeuralModel(LanguageModel(settings, SIZE), vocabulary), "")
    diverged = load(work / "neural")
    torch.nn.init.constant_(diverged.network.output.bias, math.nan)
    save_neural(tmp_path / "diverged", NeuralModel(diverged.network, vocabulary), "")
    cased = {"corpus": {"settings": {"lower_case": False}}}
    KneserNey(vocabulary, saved.trie, saved.settings, cased, TextRules(lower_case=False)).save(tmp_path / "cased")
    shutil.copytree(work / "kn2", tmp_path / "torn")
    (tmp_path / "torn" / "model.json").unlink()
    pair, text = models(work), tmp_path / "text"
    for arguments, message in (
        ([], "MODEL"),
        ([work / "kn2", text], "1 model to mix; name two"),
        ([work / "kn2", "--work", work], "1 model to mix; name two"),
        (pair, "a model, where the text should be"),
        ([*pair, text, "--work", work], "text: no model folder; with --work"),
        ([*pair, tmp_path / "small", text], "neural and .*small: different vocabularies .60 and 50 words."),
        ([*pair, tmp_path / "endless", text], "endless: does not predict </s>, and .*neural does; train it with"),
        ([tmp_path / "endless", *pair, text], "endless: does not predict </s>, and .*neural does; train it with"),
        ([*pair, tmp_path / "diverged", text], "diverged.*output.bias has a weight that is NaN"),
        ([*pair, tmp_path / "cased", text], "neural and .*cased: trained on text with case or numbers"),
        ([*pair, tmp_path / "torn", text], "torn: the model is incomplete"),
        ([*pair, tmp_path / "none", text], "none: no such model"),
        ([*pair, work, text], "incomplete"),
        ([*pair, tmp_path / "empty"], "empty: the file is empty"),
        ([*pair, tmp_path / "marks"], "marks: no words at all"),
        ([*pair, text, "--max-words", "0"], "--max-words 0"),
        ([*pair, tmp_path / "nothing"], "nothing: no such file"),
        ([*pair, "--work", tmp_path], "no prepared corpus"),
        ([*pair, "--work", tmp_path / "other"], "are not the model's vocabulary"),
        ([*pair, text, "--weights", "0.5,0.6"], "--weights 0.5,0.6: the weights sum to 1.1"),
        ([*pair, text, "--weights", "1.5,-0.5"], "--weights 1.5,-0.5: weights are numbers from 0 to 1"),
        ([*pair, text, "--weights", "nan,1"], "--weights nan,1: weights are numbers from 0 to 1"),
        ([*pair, text, "--weights", "1"], "--weights 1: 1 weights for 2 models"),
        ([*pair, text, "--weights", "half"], "--weights half: give numbers"),
        ([*pair, text, "--weights", "0.7,,0.3"], "--weights 0.7,,0.3: give numbers"),
        ([*pair, text, "--output", work / "kn2", "--force"], "kn2: one of the models to mix"),
        ([*pair, text, "--output", work / "kn1"], "kn1: there is a model already; use --force"),
        ([*pair, text, "--output", text], "text: a file"),
        ([*pair, text, "--device", "abacus"], "--device abacus"),
    ):
        outcome = command("mix", *arguments)
        assert outcome.code == 2, arguments
        assert outcome.out == ""
        assert len(outcome.errors) == 1
        assert re.search(message, outcome.errors[0]), outcome.err


def test_evaluate_names_the_file_of_a_broken_component(
    work: Path, tmp_path: Path, command: Callable[..., object]
) -> None:
    mix_models(models(work), work=work, output=tmp_path / "mix")
    (tmp_path / "mix" / "components" / "2" / "model.safetensors").unlink()
    outcome = command("evaluate", tmp_path / "mix", "--work", work)
    assert outcome.code == 2
    assert "mix/components/2/model.safetensors: missing" in outcome.errors[0]
