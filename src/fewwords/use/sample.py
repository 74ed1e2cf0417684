"""Sentences drawn from a model, word by word, until `</s>`."""

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.models.model import Model, State
from fewwords.vocabulary import END_ID, START_ID, UNKNOWN_ID

MOST_WORDS = 100


def sample_words(
    model: Model,
    state: State,
    chance: np.random.Generator,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    max_words: int = MOST_WORDS,
    unknown: bool = False,
) -> list[int]:
    """Words drawn one after another from a state on, `</s>` not included; without `unknown`, `<unk>` is never drawn.

    `temperature` divides the log-probabilities: below 1 the probable words become more so, and 0 always takes the best. Only the
    `top_k` best words are drawn from, or the fewest that have a probability of `top_p` together.
    """
    check_sampling(temperature, top_k, top_p, max_words)
    words: list[int] = []
    while len(words) < max_words:
        log_probs = model.log_probs(state).astype(np.float64)
        log_probs[START_ID] = -np.inf
        if not unknown:
            log_probs[UNKNOWN_ID] = -np.inf
        if not model.predicts_end:
            log_probs[END_ID] = -np.inf
        word = draw(log_probs, chance, temperature, top_k, top_p)
        if word == END_ID:
            break
        words.append(word)
        state = model.feed(state, word)
    return words


def check_sampling(temperature: float, top_k: int | None, top_p: float | None, max_words: int) -> None:
    """Raise InputError for settings that mean nothing."""
    if not 0 <= temperature < np.inf:
        raise InputError(f"`temperature` {temperature}: choose 0 (always the best word) or more; 1 is the model's own")
    if top_k is not None and top_k < 1:
        raise InputError(f"`top_k` {top_k}: choose 1 or more, or leave it out for all words")
    if top_p is not None and not 0 < top_p <= 1:
        raise InputError(f"`top_p` {top_p}: choose a probability above 0 and up to 1")
    if max_words < 1:
        raise InputError(f"`max_words` {max_words}: choose 1 or more")


def draw(
    log_probs: NDArray[np.float64],
    chance: np.random.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> int:
    """One word from ln p of all words, [V], which need not be normalised."""
    if temperature == 0:
        return int(log_probs.argmax())
    ids = np.argsort(-log_probs, kind="stable")[:top_k]
    scaled = log_probs[ids] / temperature
    probs = np.exp(scaled - scaled[0])
    probs /= probs.sum()
    if top_p is not None:
        kept = int(np.searchsorted(np.cumsum(probs), top_p)) + 1
        ids, probs = ids[:kept], probs[:kept] / probs[:kept].sum()
    return int(chance.choice(ids, p=probs))
