"""What is measured on dev while training: perplexity, and how far the normaliser is from the truth (figure 5).

The gap ln Z(h) - ln Z_h, with ln Z_h as the normaliser has it, has mean 0 and no spread where the model normalises itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from fewwords.corpus.token_corpus import Part
from fewwords.evaluation.perplexity import part_perplexity
from fewwords.losses.normaliser import normalisation_gap
from fewwords.models.language_model import LanguageModel

GAP_CONTEXTS = 2_000
_SENTENCE_SEED = 0


@dataclass(frozen=True)
class HeldOut:
    """Perplexity on some dev words, and mean and standard deviation of the normaliser's gap."""

    perplexity: float
    gap_mean: float
    gap_std: float


def measure_held_out(model: LanguageModel, dev: Part, max_words: int | None) -> HeldOut:
    """Measure on the first `max_words` words of dev, and on some 2,000 contexts of random sentences of it."""
    with evaluating(model):
        perplexity = part_perplexity(model, dev, max_words=max_words).value
        contexts = _some_contexts(model, dev)
        gaps = normalisation_gap(contexts, model.output, model.normaliser).double()
    return HeldOut(perplexity, float(gaps.mean()), float(gaps.std(correction=0)))


@contextmanager
def evaluating(model: LanguageModel) -> Iterator[None]:
    """Turn dropout and gradients off for a while."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


def _some_contexts(model: LanguageModel, dev: Part) -> Tensor:
    """The contexts [about 2,000, size] of random sentences, the same ones every time."""
    device = model.embedding_table.device
    found: list[Tensor] = []
    for batch in dev.batches(GAP_CONTEXTS // 8, seed=_SENTENCE_SEED):
        found.append(model.predictions(torch.from_numpy(batch.ids).to(device)).contexts)
        if sum(map(len, found)) >= GAP_CONTEXTS or batch.next.epoch:
            return torch.cat(found)[:GAP_CONTEXTS]
    raise AssertionError("batches never end")
