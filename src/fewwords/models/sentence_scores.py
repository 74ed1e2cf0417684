"""ln p of every word of some sentences, explicitly normalised over the whole vocabulary (equation 1).

Sentences of one length go through the model together, which changes no sentence's score, because the state starts anew
with each. A sentence longer than a batch is read piece by piece with its state carried on, so that memory depends neither
on the vocabulary nor on the length of a sentence.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fewwords.errors import InputError
from fewwords.models.kneser_ney import KneserNey
from fewwords.models.neural.language_model import LanguageModel
from fewwords.vocabulary import END_ID, START_ID

if TYPE_CHECKING:  # a mixture needs this file, and the model folder needs the mixture
    from fewwords.models.model_folder import AnyModel

BATCH_WORDS = 4096
_WINDOW_WORDS = 1 << 18

Sentence = NDArray[np.int64]
# A sentence's words, and ln p of each target: of each word, and then of `</s>` where the model predicts it.
Scored = tuple[Sentence, NDArray[np.float64]]


def score_sentences(
    model: "AnyModel",
    sentences: Iterable[Sentence],
    *,
    batch_words: int = BATCH_WORDS,
    advance: Callable[[int], None] | None = None,
) -> Iterator[Scored]:
    """The sentences in their order, each ids [length] without boundaries, with the scores of its targets.

    `advance` is told how many words were done. The model is in evaluation mode while it works, and then as it was.
    """
    if batch_words < 1:
        raise InputError(f"a batch of {batch_words} words: choose 1 or more")
    for window in _windows(sentences):
        if isinstance(model, LanguageModel):
            yield from zip(window, _score_window(model, window, batch_words, advance))
        elif isinstance(model, KneserNey):
            yield from model.score_sentences(window)
            if advance is not None:
                advance(sum(map(len, window)))
        else:
            yield from model.score_sentences(window, batch_words=batch_words, advance=advance)


def _windows(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    window: list[Sentence] = []
    num_words = 0
    for sentence in sentences:
        window.append(sentence)
        num_words += len(sentence)
        if num_words >= _WINDOW_WORDS:
            yield window
            window, num_words = [], 0
    if window:
        yield window


def _score_window(
    model: LanguageModel, window: Sequence[Sentence], batch_words: int, advance: Callable[[int], None] | None
) -> list[NDArray[np.float64]]:
    scores: list[NDArray[np.float64]] = [np.empty(0)] * len(window)
    was_training = model.training
    model.eval()
    try:
        for group in _equal_lengths([len(sentence) for sentence in window], batch_words):
            ids = np.stack([window[index] for index in group])
            for index, row in zip(group, batch_log_probs(model, ids, batch_words)):
                scores[index] = row
            if advance is not None:
                advance(ids.size)
    finally:
        model.train(was_training)
    return scores


def _equal_lengths(lengths: list[int], batch_words: int) -> Iterator[list[int]]:
    """The places of sentences of one length, at most `batch_words` words together."""
    by_length: dict[int, list[int]] = {}
    for index, length in enumerate(lengths):
        by_length.setdefault(length, []).append(index)
    for length, places in sorted(by_length.items()):
        step = max(1, batch_words // max(1, length))
        yield from (places[first : first + step] for first in range(0, len(places), step))


@torch.no_grad()
def batch_log_probs(
    model: LanguageModel, sentences: NDArray[np.int64], most_contexts: int = BATCH_WORDS
) -> NDArray[np.float64]:
    """ln p of the targets [num_sentences, length (+ 1 with `</s>`)] of sentences [num_sentences, length].

    At most `most_contexts` contexts (but one time step) are held at once.
    """
    device = model.embedding_table.device
    words = torch.from_numpy(sentences).to(device).t()
    num_sentences = words.shape[1]
    state = model.encoder.start_state(num_sentences)
    parts: list[Tensor] = []
    if model.settings.boundary == "paper":
        if not len(words):
            return np.empty((num_sentences, 0))
        inputs, targets = words[:-1], words
        # the first word is predicted before any input
        parts.append(model.output.log_probs_of(model.encoder.start_context(state), words[0])[None])
    else:
        inputs = torch.cat([words.new_full((1, num_sentences), START_ID), words])
        targets = torch.cat([words, words.new_full((1, num_sentences), END_ID)])
    step = max(1, most_contexts // num_sentences)
    done = len(targets) - len(inputs)
    for first in range(0, len(inputs), step):
        contexts, state = model.encoder(model.embedding(inputs[first : first + step]), state)
        wanted = targets[done + first : done + first + step].reshape(-1)
        log_probs = model.output.log_probs_of(contexts.reshape(len(wanted), -1), wanted)
        parts.append(log_probs.view(-1, num_sentences))
    result: NDArray[np.float64] = torch.cat(parts).t().double().cpu().numpy()
    return result
