"""The weights of a mixture, p(w|h) = sum_i weight_i p_i(w|h), tuned by expectation maximisation on held-out text.

A round multiplies each weight by its gain, the mean over the targets of p_i / p; the likelihood never falls. It is
concave in the weights, so there is one best value, and by Jensen's inequality the mean of ln p is below it by at most
the log of the largest gain. That bound decides when to stop.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError

TOLERANCE = 1e-6
MOST_ROUNDS = 1000
_ROUNDING = 1e-6


def check_weights(weights: Sequence[float], num_models: int, place: str) -> None:
    """Raise InputError, starting with `place`, unless there is one weight per model, none negative, with sum 1."""
    if len(weights) != num_models:
        raise InputError(f"{place}: {len(weights)} weights for {num_models} models; give one for each")
    if not np.all(np.isfinite(weights)) or min(weights, default=0) < 0:
        raise InputError(f"{place}: weights are numbers from 0 to 1")
    if abs(sum(weights) - 1) > _ROUNDING:
        raise InputError(f"{place}: the weights sum to {sum(weights):.7g}; choose weights that sum to 1")


def mix_log_probs(log_probs: NDArray[np.float64], weights: Sequence[float]) -> NDArray[np.float64]:
    """ln p of the targets, [targets], from ln p of each model, [models, targets], and the weights [models]."""
    with np.errstate(divide="ignore"):  # the log of a weight of zero is -inf, as it should be
        log_weights = np.log(weights)
    mixed: NDArray[np.float64] = np.logaddexp.reduce(log_probs + log_weights[:, None], axis=0)
    return mixed


def tune_weights(
    log_probs: NDArray[np.float64], *, tolerance: float = TOLERANCE, most_rounds: int = MOST_ROUNDS
) -> NDArray[np.float64]:
    """The weights [models] with the largest mean of ln p, from ln p of each model's targets, [models, targets].

    Starts from equal weights and stops when the mean is within `tolerance` of the largest, or after `most_rounds`.
    """
    peaks = log_probs.max(axis=0)
    # what no model can predict is lost, whatever the weights
    possible = peaks > -np.inf
    probs = np.exp(log_probs[:, possible] - peaks[possible])
    weights = np.full(len(probs), 1 / len(probs))
    for _ in range(most_rounds if probs.size else 0):
        gains = probs @ (1 / (weights @ probs)) / probs.shape[1]
        if np.log(gains.max()) <= tolerance:
            break
        weights *= gains
        weights /= weights.sum()  # the sum is 1 except for rounding
    return weights
