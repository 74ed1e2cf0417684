"""Non-zeros where they pay: of codes of several lengths, each rare word takes the one that is worth its base words.

Given a mean number of non-zeros, sum_w count(w) L_w is to be small, where L_w is the fitting loss of word w. At a price for
a non-zero, each word takes the length n that minimises count(w) L_w(n) + price * n; the price is the lowest that keeps to the
mean, found by bisection. No other choice with as few non-zeros has a smaller sum.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.sparse_codes import SparseCodes

_HALVINGS = 100


def lengths_up_to(most: int) -> list[int]:
    """The lengths that are tried, each up to a third above the one before: 1, 2, 3, 4, 5, 6, 8, …, and the longest."""
    found = [1]
    while found[-1] < most:
        found.append(min(most, found[-1] + max(1, found[-1] // 3)))
    return found


def choose_codes(
    candidates: Sequence[SparseCodes], losses: NDArray[np.float64], counts: NDArray[np.float64], mean: float
) -> SparseCodes:
    """Of candidates with `losses` [candidates, num_rare], the code of each word that the price lets it have.

    `counts` [num_rare] weigh the words. Raises ValueError if even the shortest codes exceed the mean.
    """
    lengths = np.stack([np.diff(codes.offsets) for codes in candidates]).astype(np.float64)
    weighted = losses * counts
    most = mean * lengths.shape[1]
    if lengths.min(0).sum() > most:
        raise ValueError(f"a mean of {mean} non-zeros is less than the shortest codes have")
    # at the highest price only the shortest codes are taken, which keep to the mean
    low, high = 0.0, float(np.ptp(weighted, axis=0).max(initial=0.0)) + 1.0
    if _num_nonzeros(low, weighted, lengths) <= most:
        high = low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _num_nonzeros(middle, weighted, lengths) <= most:
            high = middle
        else:
            low = middle
    return _join(candidates, _chosen(high, weighted, lengths))


def _chosen(price: float, weighted: NDArray[np.float64], lengths: NDArray[np.float64]) -> NDArray[np.int64]:
    chosen: NDArray[np.int64] = (weighted + price * lengths).argmin(0)
    return chosen


def _num_nonzeros(price: float, weighted: NDArray[np.float64], lengths: NDArray[np.float64]) -> float:
    return float(np.take_along_axis(lengths, _chosen(price, weighted, lengths)[None], 0).sum())


def _join(candidates: Sequence[SparseCodes], chosen: NDArray[np.int64]) -> SparseCodes:
    """The code of each rare word from the candidate [num_rare] that is chosen for it."""
    counts = np.choose(chosen, [np.diff(codes.offsets) for codes in candidates])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    indices = np.empty(offsets[-1], candidates[0].indices.dtype)
    values = np.empty(offsets[-1], np.float32)
    owners = np.repeat(chosen, counts)
    for number, codes in enumerate(candidates):
        taken = np.repeat(chosen == number, np.diff(codes.offsets))
        indices[owners == number] = codes.indices[taken]
        values[owners == number] = codes.values[taken]
    return SparseCodes(offsets, indices, values, candidates[0].num_base)
