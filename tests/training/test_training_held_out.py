"""What is measured on dev: loss, ln Z and the normaliser's gap, against plain sums over every prediction of dev."""

import math
from dataclasses import astuple

import numpy as np
import pytest
import torch

from fewwords.codes import random_codes
from fewwords.corpus import TokenCorpus
from fewwords.evaluation.perplexity import sentences_perplexity
from fewwords.losses import FullSoftmaxLoss
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.training import held_out
from fewwords.training.held_out import measure_held_out
from fewwords.training.objective import make_objective
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary

VARIANTS = ["lstm-z", "lstm-z-w", "lbl5", "lbl5-w"]
VOCABULARY = Vocabulary([*SPECIAL_WORDS, *(f"w{i}" for i in range(20))], np.ones(23, np.int64))


@pytest.fixture
def dev(work):
    return TokenCorpus.open(work).part("dev", 23)


def make_model(variant="lstm-z", **changes):
    torch.manual_seed(4)
    settings = settings_of(variant, embedding_size=6, hidden_size=6, **changes)
    model = LanguageModel(settings, 23, random_codes(23, 15, 2, seed=1)).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


@torch.no_grad()
def all_predictions(model, part):
    """Contexts and targets of every sentence, one sentence at a time, without dropout."""
    model.eval()
    found = [model.predictions(torch.from_numpy(sentence)[None]) for sentence in part.sentences()]
    model.train()
    return tuple(torch.cat(each) for each in zip(*found))


class Recorder:
    """An objective that notes what it was asked."""

    def __init__(self, objective):
        self.objective = objective

    def __call__(self, contexts, targets, output, normaliser, generator):
        self.contexts, self.targets, self.random_state = contexts, targets, generator.get_state()
        self.value = self.objective(contexts, targets, output, normaliser, generator)
        return self.value


def pairs(contexts, targets):
    """Each context with its target as numbers, in an order of their own; the last digits depend on how sentences are batched."""
    return sorted(map(tuple, torch.cat([contexts, targets[:, None]], 1).round(decimals=6).tolist()))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("boundary", ["end", "paper"])
def test_all_numbers_are_plain_sums_over_dev(dev, variant, boundary):
    model = make_model(variant, boundary=boundary)
    contexts, targets = all_predictions(model, dev)
    with torch.no_grad():
        scores = model.output.logits(contexts)
        log_z = torch.logsumexp(scores, 1)
        gaps = log_z + contexts @ model.normaliser.weight + model.normaliser.bias
    loss = (log_z - scores.gather(1, targets[:, None])[:, 0]).mean()
    measured = measure_held_out(model, VOCABULARY, dev, None, FullSoftmaxLoss())
    spreads = [value for each in (log_z, gaps) for value in (each.mean(), each.std(correction=0))]
    assert astuple(measured)[1:] == pytest.approx([float(loss), *map(float, spreads)], rel=1e-9)
    # dev is so small that the loss is over all of it, and then perplexity is its exponential
    assert len(targets) < held_out.GAP_CONTEXTS
    assert measured.perplexity == pytest.approx(math.exp(loss), rel=1e-9)


@pytest.mark.parametrize("loss", ["nce", "nce-per-position", "sampled-softmax"])
@pytest.mark.parametrize("variant", ["lstm-z-w", "lbl5"])
def test_the_loss_is_the_objective_on_those_predictions(work, dev, quick, loss, variant):
    model = make_model(variant)
    vocabulary = TokenCorpus.open(work).vocabulary(23)
    objective = make_objective(
        quick(loss=loss, **({"noise_group": 0} if loss == "nce" else {})), model.settings, vocabulary
    ).double()
    recorder = Recorder(objective)
    measured = measure_held_out(model, VOCABULARY, dev, None, recorder)
    assert pairs(recorder.contexts, recorder.targets) == pairs(*all_predictions(model, dev))
    generator = torch.Generator()
    generator.set_state(recorder.random_state)
    asked = (recorder.contexts, recorder.targets, model.output)
    shape = (len(recorder.targets), 20) if loss == "nce-per-position" else (20,)
    noise_ids = objective.noise.sample(shape, generator)
    normaliser = () if loss == "sampled-softmax" else (model.normaliser,)
    with torch.no_grad():
        assert measured.loss == pytest.approx(float(objective.with_noise(*asked, *normaliser, noise_ids)), rel=1e-12)
    assert not recorder.value.requires_grad


@pytest.mark.parametrize(("normaliser", "constant"), [("one", 0.0), ("constant", 1.5)])
def test_the_gap_is_log_z_plus_what_the_normaliser_says(dev, normaliser, constant):
    model = make_model(normaliser=normaliser)
    if normaliser == "constant":
        torch.nn.init.constant_(model.normaliser.bias, constant)
    measured = measure_held_out(model, VOCABULARY, dev, None, FullSoftmaxLoss())
    assert measured.gap_mean == pytest.approx(measured.log_z_mean + constant, rel=1e-12)
    assert measured.gap_std == pytest.approx(measured.log_z_std, rel=1e-12)
    assert measured.log_z_std > 0.01


def test_watched_perplexity_is_of_random_sentences_the_same_ones_every_time(dev):
    model = make_model()
    some, whole = (measure_held_out(model, VOCABULARY, dev, max_words, FullSoftmaxLoss()) for max_words in (103, None))
    chosen = list(held_out._some_sentences(dev, 103))
    assert sum(map(len, chosen)) <= 103 < sum(map(len, chosen)) + max(dev.lengths)
    assert [ids.tolist() for ids in chosen] == [ids.tolist() for ids in held_out._some_sentences(dev, 103)]
    # not the first ones, which in a dev part that came ready-made are all from one document
    assert [ids.tolist() for ids in chosen] != [ids.tolist() for ids in dev.head(103).sentences()]
    expected = sentences_perplexity(NeuralModel(model.eval(), VOCABULARY), chosen).value
    assert some.perplexity == expected != whole.perplexity
    assert astuple(some)[1:] == astuple(whole)[1:]


def test_measuring_changes_nothing_and_repeats_itself(work, dev, quick):
    model = make_model(dropout=0.5).train()
    objective = make_objective(quick(), model.settings, TokenCorpus.open(work).vocabulary(23)).double()
    before = torch.get_rng_state()
    first, second = (measure_held_out(model, VOCABULARY, dev, 200, objective) for _ in range(2))
    assert first == second
    assert model.training
    assert torch.equal(torch.get_rng_state(), before)


def test_large_dev_parts_give_so_many_predictions_and_no_more(dev, monkeypatch):
    monkeypatch.setattr(held_out, "GAP_CONTEXTS", 50)
    model = make_model()
    recorder = Recorder(FullSoftmaxLoss())
    measured = measure_held_out(model, VOCABULARY, dev, None, recorder)
    assert len(recorder.targets) == len(recorder.contexts) == 50
    assert {*pairs(recorder.contexts, recorder.targets)} <= {*pairs(*all_predictions(model, dev))}
    with torch.no_grad():
        log_z = model.output.logits(recorder.contexts).logsumexp(1)
    assert (measured.log_z_mean, measured.log_z_std) == pytest.approx(
        (float(log_z.mean()), float(log_z.std(correction=0)))
    )
