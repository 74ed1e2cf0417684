"""Numbers to levels: a matrix with a scale for each group of columns, and values with one table for all.

Without knowledge of the inputs, a value is rounded to the nearest level, and the scale is the one with the least squared
error. Inputs x with second moments H = E[x x'] say more: what counts is the error of the product, (w - q)' H (w - q). The
columns are then rounded one after another, and each column's error is made up for in the columns that follow (Frantar et
al., GPTQ, 2023), which is the exact minimum over those columns.
"""

import math

import numpy as np
from numpy.typing import NDArray

from fewwords.models.packed.matrix import Floats
from fewwords.models.packed.parts import HIGHEST_STEP, LOWEST_STEP, STEPS_PER_OCTAVE, scales_of

Levels = NDArray[np.int64]
Moments = NDArray[np.float64]

TABLE_GROUP, ENCODER_GROUP = 40, 20  # columns with one scale, in 4 bits
_CLIPS = range(-STEPS_PER_OCTAVE, 2)  # scales that are tried, in steps from the one that reaches the largest value
_DAMPING = 0.01
_ROUNDS = 40


def num_groups(columns: int, bits: int, wanted: int = TABLE_GROUP) -> int:
    """One group in 8 bits; in 4 bits the number that makes groups nearest to `wanted` columns, of those that divide evenly."""
    divisors = [number for number in range(1, columns + 1) if columns % number == 0]
    return 1 if bits == 8 else min(divisors, key=lambda number: abs(math.log(columns / number / wanted)))


def quantise_matrix(
    values: Floats, bits: int, moments: Moments | None = None, wanted_group: int = TABLE_GROUP
) -> tuple[Levels, Levels]:
    """Levels [rows, columns], and the steps [rows, groups] of the scales (see `parts`)."""
    groups = num_groups(values.shape[1], bits, wanted_group)
    size = values.shape[1] // groups
    left = values.astype(np.float64)
    levels, steps = np.empty(values.shape, np.int64), np.empty((len(values), groups), np.int64)
    follow = None if moments is None else _inverse_factor(moments)
    for group in range(groups):
        columns = range(group * size, (group + 1) * size)
        weights = np.ones(size) if moments is None else np.diag(moments)[columns]
        steps[:, group] = _best_steps(left[:, columns], bits, weights)
        scales = scales_of(steps[:, group]).astype(np.float64)
        if follow is None:
            levels[:, columns] = _round(left[:, columns], scales[:, None], bits)
            continue
        for column in columns:
            levels[:, column] = _round(left[:, column], scales, bits)
            error = (left[:, column] - levels[:, column] * scales) / follow[column, column]
            left[:, column:] -= error[:, None] * follow[column, column:]
    return levels, steps


def dequantise(levels: Levels, steps: Levels) -> Floats:
    """The values [rows, columns] that levels and steps stand for."""
    return np.asarray(levels * np.repeat(scales_of(steps), levels.shape[1] // steps.shape[1], axis=1), np.float32)


def _inverse_factor(moments: Moments) -> Moments:
    """The upper factor U of the inverse of H = (U'U)^-1; a little is added to the diagonal, so that it has an inverse."""
    damped = moments + _DAMPING * np.diag(moments).mean() * np.eye(len(moments))
    factor: Moments = np.linalg.cholesky(np.linalg.inv(damped)).T
    return factor


def _best_steps(values: NDArray[np.float64], bits: int, weights: NDArray[np.float64]) -> Levels:
    """The step [rows] whose scale has the least weighted squared error over the values [rows, size]."""
    largest = np.abs(values).max(1)
    reach = np.log2(np.maximum(largest / _highest(bits), 2.0**-60)) * STEPS_PER_OCTAVE
    tried = np.clip(np.ceil(reach)[None] + np.array(_CLIPS)[:, None], LOWEST_STEP, HIGHEST_STEP).astype(np.int64)
    errors = []
    for steps in tried:
        scales = scales_of(steps)[:, None]
        errors.append(np.square(_round(values, scales, bits) * scales - values) @ weights)
    best: Levels = tried[np.argmin(errors, axis=0), np.arange(len(values))]
    return best


def _highest(bits: int) -> int:
    return (1 << bits - 1) - 1


def _round(values: NDArray[np.float64], scales: NDArray[np.floating], bits: int) -> Levels:
    """The nearest levels; in 4 bits there is one more below zero than above."""
    lowest = -_highest(bits) - (bits == 4)
    return np.clip(np.rint(values / scales), lowest, _highest(bits)).astype(np.int64)


def quantise_values(values: Floats, bits: int) -> tuple[Levels, Floats]:
    """Levels [values] and the table [2 ** bits] with the least squared error, nearly (Lloyd's algorithm).

    Values that were rounded before stay what they are.
    """
    size = 2**bits
    known = np.unique(values)
    if len(known) <= size:
        largest = known[-1] if len(known) else np.float32(1)
        return np.searchsorted(known, values), np.pad(known, (0, size - len(known)), constant_values=largest)
    table = np.quantile(values.astype(np.float64), (np.arange(size) + 0.5) / size)
    for _ in range(_ROUNDS):
        levels = np.searchsorted((table[1:] + table[:-1]) / 2, values)
        counts = np.bincount(levels, minlength=size)
        means = np.bincount(levels, values, size) / np.maximum(counts, 1)
        table = np.sort(np.where(counts > 0, means, table))
    levels = np.searchsorted((table[1:] + table[:-1]) / 2, values)
    return levels, np.maximum(table, np.finfo(np.float32).tiny).astype(np.float32)
