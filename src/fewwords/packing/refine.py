"""The output's levels once more, with what each word meets: the contexts in which it is the next word.

An error of a word's score matters where the word is probable. So the moments of row w are those of the contexts that
come before w, as far as the text has some, about their mean: H_w = (sum over them + k H) / (number + k), with H those of
all contexts. The levels change one column at a time, each to the best one given the others (coordinate descent), and the
biases take over the mean error.
"""

import numpy as np
from numpy.typing import NDArray

from fewwords.models.packed.codes import CodeRows
from fewwords.models.packed.matrix import Floats
from fewwords.models.packed.parts import scales_of
from fewwords.packing.inputs import Inputs, Moments
from fewwords.packing.quantise import Levels, round_to_levels

_PRIOR = 50  # contexts that all contexts together count for
_SWEEPS = 4
_ROWS_PER_BLOCK = 64


class NextWords:
    """The contexts of a text sorted by the row of the output that they speak for."""

    def __init__(self, inputs: Inputs, codes: CodeRows | None) -> None:
        rows, places = inputs.targets, np.arange(len(inputs.targets))
        if codes is not None and inputs.network.settings.output == "coded":
            # a rare word speaks for the base words of its code
            rare = np.flatnonzero(rows >= codes.num_base)
            named = codes.indices[rows[rare] - codes.num_base].astype(np.int64)
            used = codes.values[rows[rare] - codes.num_base] > 0
            base = np.flatnonzero(rows < codes.num_base)
            places = np.concatenate([base, np.repeat(rare, used.sum(1))])
            rows = np.concatenate([rows[base], named[used]])
        order = np.argsort(rows, kind="stable")
        self.inputs, self.places, self.rows = inputs, places[order], rows[order]

    def contexts(self, row: int) -> Floats:
        """The contexts [n, C] in which a row is the next word."""
        first, end = np.searchsorted(self.rows, [row, row + 1])
        return self.inputs.contexts[self.places[first:end]]

    def mean(self, row: int) -> NDArray[np.float64]:
        """Their mean [C], with the mean of all contexts."""
        found = self.contexts(row)
        total: NDArray[np.float64] = found.sum(0, dtype=np.float64) + _PRIOR * self.inputs.mean
        return total / (len(found) + _PRIOR)

    def moments(self, row: int) -> Moments:
        """Their moments [C, C] about that mean, with those of all contexts."""
        found = self.contexts(row) - self.mean(row)
        return np.asarray((found.T @ found + _PRIOR * self.inputs.context_moments) / (len(found) + _PRIOR))


def refine(values: Floats, levels: Levels, steps: Levels, bits: int, words: NextWords, first_row: int) -> None:
    """Change levels [rows, columns] in place to have a smaller error of the scores; the first row is that of `first_row`."""
    scales = np.repeat(scales_of(steps).astype(np.float64), values.shape[1] // steps.shape[1], axis=1)
    for first in range(0, len(values), _ROWS_PER_BLOCK):
        block = slice(first, min(first + _ROWS_PER_BLOCK, len(values)))
        moments = np.stack([words.moments(first_row + row) for row in range(block.start, block.stop)])
        _descend(values[block].astype(np.float64), levels[block], scales[block], bits, moments)


def _descend(
    values: NDArray[np.float64], levels: Levels, scales: NDArray[np.float64], bits: int, moments: Moments
) -> None:
    """Change levels [n, C] in place so that (w - q)' H (w - q) falls in each row, with H [n, C, C]."""
    slopes = np.einsum("nc,ncd->nd", values - levels * scales, moments)
    for _ in range(_SWEEPS):
        for column in range(values.shape[1]):
            old, scale = levels[:, column], scales[:, column]
            best = round_to_levels(old * scale + slopes[:, column] / moments[:, column, column], scale, bits)
            slopes -= ((best - old) * scale)[:, None] * moments[:, column]
            levels[:, column] = best
