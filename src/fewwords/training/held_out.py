"""What is measured on dev while training: perplexity, loss, the true Z, and how far the normaliser is from it.

These are the curves of figure 5. The gap ln Z(h) - ln Z_h, with ln Z_h from the normaliser, has mean 0 and no spread if
the model normalises itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from fewwords.corpus.token_corpus import Part
from fewwords.evaluation.perplexity import sentences_perplexity
from fewwords.losses import normalisation_gap
from fewwords.models.model import Sentence
from fewwords.models.neural.language_model import LanguageModel, Predictions
from fewwords.models.neural.model import NeuralModel
from fewwords.training.objective import Objective
from fewwords.vocabulary import Vocabulary

GAP_CONTEXTS = 2_000
_SEED = 0


@dataclass(frozen=True)
class HeldOut:
    """Perplexity and loss on some dev words, and mean and standard deviation of ln Z and of the normaliser's gap."""

    perplexity: float
    loss: float
    log_z_mean: float
    log_z_std: float
    gap_mean: float
    gap_std: float


def measure_held_out(
    model: LanguageModel, vocabulary: Vocabulary, dev: Part, max_words: int | None, objective: Objective
) -> HeldOut:
    """Measure perplexity on random sentences of dev, at most `max_words` words, and the rest on about 2,000 contexts.

    They are the same every time. The first sentences would not do: a ready-made dev part is not shuffled.
    """
    with evaluating(model):
        perplexity = sentences_perplexity(NeuralModel(model, vocabulary), _some_sentences(dev, max_words)).value
        contexts, targets = _some_predictions(model, dev)
        generator = torch.Generator(contexts.device).manual_seed(_SEED)  # the same noise every time
        loss = objective(contexts, targets, model.output, model.normaliser, generator)
        gaps = normalisation_gap(contexts, model.output, model.normaliser).double()
        log_z = gaps - model.normaliser.negative_log_z(contexts)
    spreads = [float(each) for values in (log_z, gaps) for each in (values.mean(), values.std(correction=0))]
    return HeldOut(perplexity, float(loss), *spreads)


@contextmanager
def evaluating(model: LanguageModel) -> Iterator[None]:
    """Turn off dropout and gradients within the block."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


def _some_sentences(dev: Part, max_words: int | None) -> Iterator[Sentence]:
    """The sentences of dev, or random ones with at most `max_words` words in total, but at least one."""
    if max_words is None or max_words >= dev.num_words:
        yield from dev.sentences()
        return
    order = np.random.default_rng(_SEED).permutation(dev.num_sentences)
    num_chosen = max(1, int(np.searchsorted(np.cumsum(dev.lengths[order]), max_words, side="right")))
    for index in np.sort(order[:num_chosen]).tolist():
        yield dev.sentence(index)


def _some_predictions(model: LanguageModel, dev: Part) -> Predictions:
    """The contexts [about 2,000, size] of random sentences with their targets, the same every time."""
    device = model.device
    found: list[Predictions] = []
    for batch in dev.batches(GAP_CONTEXTS // 8, seed=_SEED):
        found.append(model.predictions(torch.from_numpy(batch.ids).to(device)))
        if sum(len(each.targets) for each in found) >= GAP_CONTEXTS or batch.next.epoch:
            return Predictions(*(torch.cat(each)[:GAP_CONTEXTS] for each in zip(*found)))
    raise AssertionError("batches never end")
