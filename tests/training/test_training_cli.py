"""`fewwords train` as it is typed."""

import subprocess
import sys

import pytest

from fewwords.codes.make import load_codes
from fewwords.models.load import load

SMALL = "--embedding-size 8 --hidden-size 8 --batch-words 128 --words 800 --num-noise 10 --dev-words 100 --threads 1".split()


@pytest.fixture
def train(command, work, tmp_path):
    """Run `fewwords train` on the work folder, into tmp_path/m."""
    return lambda *arguments: command("train", "--work", work, "--output", tmp_path / "m", *arguments)


def test_train_prints_a_summary_and_every_option_arrives(train, tmp_path):
    options = (
        "--model lstm-z --tied --layers 2 --dropout 0.1 --boundary paper --normaliser constant --schedule constant"
    )
    more = "--loss nce-per-position --noise-power 0.75 --bias-start zero --clip 1 --seed 4 --patience 3 --eval-every 400 --epochs 2"
    outcome = train("--vocab-size", 23, *SMALL, *options.split(), *more.split())
    assert outcome.code == 0
    assert "Training of lstm-z" in outcome.out
    assert "dev perplexity" in outcome.out
    saved = load(tmp_path / "m")
    model, training = saved.network.settings, saved.made_from["training"]
    assert (model.variant, model.tied, model.num_layers, model.dropout) == ("lstm-z", True, 2, 0.1)
    assert (model.boundary, model.normaliser, model.hidden_size) == ("paper", "constant", 8)
    told = {
        name: training[name] for name in ("loss", "noise_power", "bias_start", "clip", "seed", "patience", "schedule")
    }
    assert told == {
        "loss": "nce-per-position",
        "noise_power": 0.75,
        "bias_start": "zero",
        "clip": 1.0,
        "seed": 4,
        "patience": 3,
        "schedule": "constant",
    }
    assert (training["words"], training["num_noise"], training["eval_every"]) == (800, 10, 400)
    assert (training["epochs"], saved.made_from["result"]["words"]) == (2.0, 1600)


def test_a_model_goes_on_with_rounded_weights_from_its_own_codes(command, train, work, tmp_path):
    sizes = ["--vocab-size", 23, "--base-size", 12, "--tune-codes", *SMALL]
    assert train(*sizes).code == 0
    more = ["--start", tmp_path / "m", "--quantise-aware", 4, "--learning-rate", 0.001, "--output", tmp_path / "four"]
    assert command("train", "--work", work, *sizes, *more).code == 0
    first, second = (load(tmp_path / name) for name in ("m", "four"))
    assert second.made_from["training"]["quantise_aware"] == 4
    tuned = load_codes(work, 23, 12)
    moved = [abs(first.codes.values - other.values).max() for other in (tuned, second.codes)]
    assert moved[1] < moved[0]  # nearer to the codes that the first run has tuned
    wrong = command("train", "--work", work, *sizes[:4], *SMALL, *more, "--force")
    assert wrong.code == 2
    assert "has `tune_codes` True".replace("`tune_codes`", "--tune-codes") in wrong.err
    assert "no such model" in train(*sizes, "--force", "--start", tmp_path / "none").err


def test_a_preset_says_what_it_stands_for_and_options_win_over_it(train, tmp_path):
    small = " ".join(SMALL).replace("--batch-words 128", "").replace("--num-noise 10", "").split()
    outcome = train("--vocab-size", 23, *small, "--model", "lstm-z", "--preset", "paper", "--batch-words", 64)
    assert "preset paper: --tied false, --loss nce-per-position, --num-noise 50, --bias-start zero" in outcome.err
    training = load(tmp_path / "m").made_from["training"]
    names = ("loss", "num_noise", "batch_words", "bias_start", "embedding_start", "schedule", "clip", "divergence")
    assert [training[name] for name in names] == ["nce-per-position", 50, 64, "zero", "random", "constant", 0, 0]


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("--vocab-size", 5000), "smaller --vocab-size"),
        (("--vocab-size", 23, "--base-size", 5), "fewwords codes"),
        (("--vocab-size", 23, "--model", "lstm-z", "--embedding-start", "vectors"), "fewwords vectors"),
        (("--vocab-size", 23, "--model", "lstm-z", "--tune-codes"), "lstm-z-w"),
        (("--vocab-size", 23, "--codes-rate", 0.5), "--tune-codes"),
    ],
)
def test_bad_input_is_told_before_anything_is_written(train, tmp_path, arguments, remedy):
    outcome = train(*arguments, *SMALL)
    assert outcome.code == 2
    assert remedy in outcome.err
    assert outcome.err.splitlines() == outcome.errors
    assert len(outcome.errors) == 1
    assert not (tmp_path / "m").exists()


def test_help_needs_no_torch():
    code = "import sys, fewwords.cli.train; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
