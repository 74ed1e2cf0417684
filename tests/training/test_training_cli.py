"""`fewwords train` as it is typed."""

import inspect
import subprocess
import sys

import pytest
import typer

from fewwords.cli.train import train
from fewwords.errors import InputError
from fewwords.models.load import load
from fewwords.models.neural.variants import settings_of
from fewwords.training.settings import TrainingSettings

SMALL = "--embedding-size 8 --hidden-size 8 --batch-words 128 --words 800 --num-noise 10 --dev-words 100 --threads 1".split()


@pytest.fixture
def command(work, tmp_path):
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command("train")(train)

    def run(*arguments):
        return app([str(a) for a in ("--work", work, "--output", tmp_path / "m", *arguments)], standalone_mode=False)

    return run


def test_train_prints_a_summary_and_every_option_arrives(command, tmp_path, capsys):
    options = (
        "--model lstm-z --tied --layers 2 --dropout 0.1 --boundary paper --normaliser constant --schedule constant"
    )
    more = "--loss nce-per-position --noise-power 0.75 --bias-start zero --clip 1 --seed 4 --patience 3 --eval-every 400 --epochs 2"
    command("--vocab-size", 23, *SMALL, *options.split(), *more.split())
    out = capsys.readouterr().out
    assert "Training of lstm-z" in out
    assert "dev perplexity" in out
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


def test_a_preset_says_what_it_stands_for_and_options_win_over_it(command, tmp_path, capsys):
    small = " ".join(SMALL).replace("--batch-words 128", "").replace("--num-noise 10", "").split()
    command("--vocab-size", 23, *small, "--model", "lstm-z", "--preset", "paper", "--batch-words", 64)
    told = capsys.readouterr().err
    assert "preset paper: tied false, loss nce-per-position, num-noise 50, bias-start zero" in told
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
def test_bad_input_is_told_before_anything_is_written(command, tmp_path, arguments, remedy):
    with pytest.raises(InputError, match=remedy) as error:
        command(*arguments, *SMALL)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "m").exists()


def test_defaults_are_those_of_the_settings():
    """The option list repeats the defaults of two classes; they must not drift apart."""
    settings = {**settings_of("lstm-z-w").to_json(), **TrainingSettings().to_json()}
    for name in ("variant", "embedding", "output", "coded_bias", "normaliser", "tied", "encoder", "context_size"):
        del settings[name]  # what --model decides
    renamed = {"layers": "num_layers"}
    compared = 0
    for name, parameter in inspect.signature(train).parameters.items():
        key = renamed.get(name, name)
        if key in settings:
            assert getattr(parameter.default, "value", parameter.default) == settings[key], name
            compared += 1
    assert compared == len(settings)


def test_help_needs_no_torch():
    code = "import sys, fewwords.cli.train; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
