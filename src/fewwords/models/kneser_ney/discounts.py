"""The three discounts of an order, from its counts of counts (Chen and Goodman 1999, equation 26).

With n_i the number of n-grams that have count i, and Y = n1 / (n1 + 2 n2):
    D1 = 1 - 2 Y n2 / n1,  D2 = 2 - 3 Y n3 / n2,  D3+ = 3 - 4 Y n4 / n3.
Over a closed vocabulary few or no words have the counts 1 to 4, and the formulae break down; over all words of the
text they hold, so the counts of counts are taken there.
"""

from collections.abc import Sequence

import numpy as np

from fewwords.errors import InputError
from fewwords.models.kneser_ney.counts import NgramCounts

Discounts = tuple[float, float, float]
CountsOfCounts = tuple[int, int, int, int]


def counts_of_counts(ngrams: NgramCounts) -> CountsOfCounts:
    """How many n-grams of an order have the counts 1, 2, 3 and 4."""
    n1, n2, n3, n4 = (
        sum(int(np.count_nonzero(ngrams.counts[rows] == count)) for rows in ngrams.stretches) for count in range(1, 5)
    )
    return n1, n2, n3, n4


def estimate_discounts(order: int, found: CountsOfCounts, fallback: Sequence[float] | None = None) -> Discounts:
    """The discounts of an order; `fallback` where the formulae give none; raises InputError without it."""
    n1, n2, n3, n4 = found
    if min(found) > 0:
        ratio = n1 / (n1 + 2 * n2)
        discounts = (1 - 2 * ratio * n2 / n1, 2 - 3 * ratio * n3 / n2, 3 - 4 * ratio * n4 / n3)
        if are_usable(discounts):
            return discounts
    if fallback is None:
        raise InputError(
            f"too little text for the discounts: {n1:,}, {n2:,}, {n3:,} and {n4:,} {order}-grams have the counts 1 to 4; "
            "train on more words, or give discounts to fall back on (`discount_fallback` 0.5 1 1.5)"
        )
    return check_fallback(fallback)


def check_fallback(fallback: Sequence[float]) -> Discounts:
    """Discounts given by the user; raises InputError if they cannot be used."""
    discounts = tuple(float(discount) for discount in fallback)
    if len(discounts) != 3 or not are_usable((discounts[0], discounts[1], discounts[2])):
        raise InputError(
            f"`discount_fallback` {' '.join(f'{discount:g}' for discount in discounts)}: give three numbers above 0 and "
            "below 1, 2 and 3, such as 0.5 1 1.5"
        )
    return discounts[0], discounts[1], discounts[2]


def are_usable(discounts: Discounts) -> bool:
    """Whether every discount takes something from its counts and leaves something."""
    return all(0 < discount < count for count, discount in enumerate(discounts, start=1))
