"""A run that diverges says so, keeps the last good weights, and writes nothing but valid JSON."""

import itertools
import json

import pytest
import torch

from fewwords.corpus import TokenCorpus
from fewwords.errors import DivergedError
from fewwords.evaluation.perplexity import part_perplexity
from fewwords.models.load import load
from fewwords.models.neural.variants import settings_of
from fewwords.training import run as run_file
from fewwords.training.checkpoint import find_checkpoint, read_best, read_checkpoint
from fewwords.training.held_out import HeldOut
from fewwords.training.loop import train_neural
from fewwords.training.run import MOST_RESTORES

WILD = {"learning_rate": 50.0, "clip": 0.0, "divergence": 0.0, "schedule": "constant"}


@pytest.fixture
def run(work, tmp_path, quick):
    """Train a small LSTM-z into tmp_path/m."""
    settings = settings_of("lstm-z", embedding_size=8, hidden_size=8)

    def do(force=False, **changes):
        output = tmp_path / "m"
        return train_neural(work, settings, quick(**changes), vocabulary_size=23, output=output, force=force)

    return do


def assert_valid_json(folder):
    """By Python's own reader, which can refuse what JSON does not have."""
    texts = [path.read_text() for path in folder.rglob("*.json")]
    texts += [line for path in folder.rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(texts) >= 2
    for text in texts:
        json.loads(text, parse_constant=pytest.fail)


def assert_weights(folder, expected):
    found = load(folder).network.state_dict()
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())


def test_a_run_that_cannot_go_on_keeps_its_best_weights(run, work, tmp_path, poison):
    hits = itertools.count()
    poison(lambda words: words > 2_500 and next(hits) >= 0)
    with pytest.raises(
        DivergedError, match=r"the loss is nan, though .* has the weights after 2,.*`learning_rate`"
    ) as error:
        run()
    assert next(hits) == MOST_RESTORES + 1
    summary = error.value.summary
    dev = TokenCorpus.open(work).part("dev", 23)
    assert summary.dev_perplexity == pytest.approx(part_perplexity(load(tmp_path / "m"), dev).value, rel=1e-5)
    assert summary.dev_perplexity < 20
    assert_weights(tmp_path / "m", read_best(tmp_path / "m"))
    assert "nan" in json.loads((tmp_path / "m" / "model.json").read_text())["made_from"]["result"]["diverged"]
    assert "The training diverged" in (tmp_path / "m" / "README.md").read_text()
    assert_valid_json(tmp_path / "m")


def test_before_the_first_evaluation_the_last_checkpoint_is_kept(run, tmp_path, poison):
    poison(lambda words: words > 500)
    with pytest.raises(DivergedError):
        run()
    assert_weights(tmp_path / "m", read_checkpoint(find_checkpoint(tmp_path / "m")).weights)
    assert_valid_json(tmp_path / "m")


def test_a_perplexity_worse_than_a_uniform_guess_is_no_success(run, tmp_path):
    with pytest.raises(DivergedError, match="worse than a uniform guess") as error:
        run(**WILD)
    assert error.value.summary.is_useless
    assert_valid_json(tmp_path / "m")


def test_weights_from_before_the_rise_are_kept(run, tmp_path, monkeypatch):
    told = iter([3.0, 5.0, 1e6, 3.0])
    monkeypatch.setattr(run_file, "measure_held_out", lambda *_: HeldOut(next(told), *[0.0] * 5))
    with pytest.raises(DivergedError, match=r"at the end .* 1,000,000") as error:
        run()
    assert not error.value.summary.is_useless
    assert error.value.summary.best_words < 2_200
    assert_weights(tmp_path / "m", read_best(tmp_path / "m"))


def test_figures_that_are_not_finite_are_null(run, tmp_path, monkeypatch):
    told = iter([HeldOut(3.0, *[float("inf")] * 5)] * 3 + [HeldOut(float("inf"), *[float("nan")] * 5)])
    monkeypatch.setattr(run_file, "measure_held_out", lambda *_: next(told))
    with pytest.raises(DivergedError, match="the dev perplexity is inf"):
        run()
    assert json.loads((tmp_path / "m" / "model.json").read_text())["made_from"]["result"]["dev_perplexity"] is None
    assert_valid_json(tmp_path / "m")


def test_a_good_model_is_not_replaced_by_a_useless_one(run, tmp_path):
    run()
    before = (tmp_path / "m" / "model.safetensors").read_bytes()
    with pytest.raises(DivergedError, match="still has the model from before"):
        run(force=True, **WILD)
    load(tmp_path / "m")
    assert (tmp_path / "m" / "model.safetensors").read_bytes() == before


def test_the_command_line_exits_with_1(command, work, tmp_path):
    small = (
        "--embedding-size 8 --hidden-size 8 --batch-words 128 --words 2000 --num-noise 10 --dev-words 100 --threads 1"
    )
    wild = "--learning-rate 50 --clip 0 --divergence 0 --schedule constant --model lstm-z --vocab-size 23"
    outcome = command("train", "--work", work, "--output", tmp_path / "m", *small.split(), *wild.split())
    assert outcome.code == 1
    assert "dev perplexity" in outcome.out
    assert len(outcome.errors) == 1
    assert "training lstm-z diverged" in outcome.errors[0]
    assert "a lower --learning-rate" in outcome.errors[0]
    outcome = command("evaluate", tmp_path / "m", "--work", work, "--part", "dev", "--output", "json")
    assert outcome.code == 0
    json.loads(outcome.out, parse_constant=pytest.fail)


def test_rates_that_all_diverge(command, work, tmp_path, poison):
    poison(lambda words: True)
    outcome = command(
        "train", "--work", work, "--output", tmp_path / "m", "--vocab-size", 23, "--model", "lstm-z", "--tune-lr"
    )
    assert (outcome.code, len(outcome.errors)) == (1, 1)
    assert "diverged at every learning rate" in outcome.errors[0]
