"""Sentences drawn from a model, word by word, until `</s>`."""

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.models.model import Model, State
from fewwords.use.suggest import top_words
from fewwords.vocabulary import END_ID, START_ID, UNKNOWN_ID

MOST_WORDS = 100
_OFTEN_ENOUGH = 1_024  # words for most values of `top_p`; sorting all takes longer than the model


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
    weights = np.exp((log_probs - log_probs.max()) / temperature)
    ids = np.arange(len(weights))
    if top_k is not None:
        ids = top_words(weights, ids, top_k)
    if top_p is not None:
        ids = _fewest(weights, ids, top_p)
    sums = np.cumsum(weights[ids])
    place = np.searchsorted(sums, chance.random() * sums[-1], side="right")
    return int(ids[min(place, np.searchsorted(sums, sums[-1]))])  # a product that is rounded up lies past the last


def _fewest(weights: NDArray[np.float64], ids: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """The best of some ids, as few as have a share of their weights."""
    wanted = share * weights[ids].sum()
    best = top_words(weights, ids, _OFTEN_ENOUGH)
    if weights[best].sum() < wanted:
        best = top_words(weights, ids, len(ids))
    return best[: int(np.searchsorted(np.cumsum(weights[best]), wanted)) + 1]
