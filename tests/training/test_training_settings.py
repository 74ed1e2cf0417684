"""Settings: what they accept, their budget and rate, and the way through JSON."""

import json

import pytest

from fewwords.errors import InputError
from fewwords.models.neural.variants import VARIANTS, settings_of
from fewwords.store.typed import read_object
from fewwords.training.schedule import learning_rate
from fewwords.training.settings import TrainingSettings, preset_changes


def test_settings_survive_json():
    settings = TrainingSettings(words=5, loss="nce-per-position", patience=2, codes="nearest", final_rate=0.1)
    assert read_object(TrainingSettings, json.loads(json.dumps(settings.to_json()))) == settings
    with pytest.raises(InputError, match="momentum is not a known name"):
        read_object(TrainingSettings, {**settings.to_json(), "momentum": 0.9})


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"words": 0}, "`words` 0"),
        ({"epochs": 0.0}, "`epochs` 0"),
        ({"learning_rate": float("nan")}, "`learning_rate` nan"),
        ({"learning_rate": float("inf")}, "`learning_rate` inf"),
        ({"loss": "hinge"}, "nce-per-position"),
        ({"clip": -1.0}, "`clip` -1"),
        ({"final_rate": 1.5}, "`final_rate` 1.5"),
        ({"codes_rate": -0.1}, "`codes_rate` -0.1"),
        ({"noise_group": -1}, "`noise_group` -1"),
        ({"noise_group": 256, "loss": "nce-per-position"}, "`noise_group` 256: only the loss nce"),
        ({"divergence": 0.5}, "`divergence` 0.5"),
        ({"loss": "softmax", "num_noise": 10}, "no noise words"),
        ({"batch_words": 0}, "`batch_words` 0"),
        ({"seed": -1}, "`seed` -1"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(changes, named):
    with pytest.raises(InputError, match=named):
        TrainingSettings(**changes)


def test_noise_is_shared_by_256_words_unless_told_otherwise():
    assert TrainingSettings().noise_group_words == 256
    assert TrainingSettings(noise_group=64).noise_group_words == 64
    assert TrainingSettings(noise_group=0).noise_group_words is None  # the whole batch
    assert TrainingSettings(loss="nce-per-position").noise_group_words is None


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_papers_recipe_is_a_value_for_every_variant(variant):
    changes = preset_changes("paper", variant)
    tied = {name: changes.pop(name) for name in ("tied",) if name in changes}
    settings = TrainingSettings(**changes)
    assert (settings.num_noise_words, settings.batch_words, settings.bias_start) == (50, 256, "zero")
    # LBL5 is tied in the paper's code, the LSTMs are not
    assert settings_of(variant, **tied).tied == variant.startswith("lbl5")
    assert preset_changes("best", variant) == {}
    with pytest.raises(InputError, match="best, paper"):
        preset_changes("worst", variant)


def test_budget_and_interval():
    # a pass is over the first `words` words already; `epochs` alone says how many passes
    assert TrainingSettings().budget(1000) == 1000
    assert TrainingSettings(words=77).budget(75) == 75
    assert TrainingSettings(words=77, epochs=3).budget(75) == 225
    assert TrainingSettings(epochs=0.25).budget(1000) == 250
    assert TrainingSettings(epochs=0.001).budget(10) == 1
    assert TrainingSettings().evaluation_interval(100_000_000) == 5_000_000
    assert TrainingSettings().evaluation_interval(1_000_000) == 200_000
    assert TrainingSettings(eval_every=9).evaluation_interval(1_000_000) == 9


def test_rate_falls_in_a_straight_line():
    linear = TrainingSettings(learning_rate=0.01, final_rate=0.2)
    assert [learning_rate(linear, words, 100) for words in (0, 50, 100, 130)] == pytest.approx(
        [0.01, 0.006, 0.002, 0.002]
    )
    constant = TrainingSettings(learning_rate=0.01, schedule="constant")
    assert learning_rate(constant, 99, 100) == 0.01
