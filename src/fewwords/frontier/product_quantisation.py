"""Product quantisation of trained dense matrices (Jégou et al., 2011; Chen et al., 2018): 8 bits for each few columns.

The columns are cut into sub-spaces of `width` values. Each has a codebook of 256 centroids, found by k-means over the words,
which are weighted by their counts; a word stores the number of a centroid for each sub-space.
The codebooks, the encoder, biases and words are rounded and stored as the packer does.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fewwords.frontier.dense_twin import dense_weights
from fewwords.frontier.rounding import SHARED_BITS, Rounding
from fewwords.models.neural.model import NeuralModel
from fewwords.models.packed.matrix import Floats
from fewwords.packing.recipe import Recipe

NUM_CENTROIDS = 256
_ROUNDS = 20
_ROWS_PER_CHUNK = 4096

Codes = NDArray[np.uint8]


def quantise_products(
    model: NeuralModel, width: int, recipe: Recipe, inputs: Mapping[str, Floats]
) -> tuple[dict[str, Floats], int]:
    """The dense weights of a dense model after product quantisation, and the bytes of its file; `width` divides its sizes."""
    weights = dense_weights(model)
    rounding = Rounding()
    found = rounding.rest(model, weights, recipe, inputs)
    importance = np.maximum(model.vocabulary.counts, 1).astype(np.float64)
    for name in ("embedding", "output"):
        if f"{name}.weight" not in weights:
            continue
        table = weights[f"{name}.weight"]
        codes, codebooks = fit_codebooks(table, width, importance)
        rounding.parts[f"{name}.codes"] = ({"codes": codes}, {"width": width})
        flat = codebooks.transpose(1, 0, 2).reshape(codebooks.shape[1], -1)  # [256, columns]
        rounded = rounding.matrix(name, flat, SHARED_BITS)
        books = rounded.reshape(len(rounded), -1, width).transpose(1, 0, 2)
        found[f"{name}.weight"] = decode(codes, books)
    return found, rounding.num_bytes(model)


def fit_codebooks(table: Floats, width: int, importance: NDArray[np.float64]) -> tuple[Codes, Floats]:
    """Codes [rows, spaces] and codebooks [spaces, centroids, width] of a table [rows, columns]."""
    spaces = [k_means(table[:, first : first + width], importance) for first in range(0, table.shape[1], width)]
    return np.stack([codes for codes, _ in spaces], axis=1), np.stack([book for _, book in spaces])


def decode(codes: Codes, codebooks: Floats) -> Floats:
    """The table [rows, columns] that the codes stand for."""
    return np.concatenate([book[code] for code, book in zip(codes.T, codebooks)], axis=1)


def k_means(points: Floats, importance: NDArray[np.float64], seed: int = 1) -> tuple[Codes, Floats]:
    """The nearest centroid of each point [rows, width], and at most 256 centroids, each the weighted mean of its points.

    A centroid without points is moved to one of the points that are farthest from theirs.
    """
    random = np.random.default_rng(seed)
    count = min(NUM_CENTROIDS, len(points))
    book = points[random.choice(len(points), count, replace=False)].astype(np.float32)
    for _ in range(_ROUNDS):
        codes, distances = nearest(points, book)
        totals = np.bincount(codes, importance, count)
        for column in range(points.shape[1]):
            sums = np.bincount(codes, importance * points[:, column], count)
            np.divide(sums, totals, out=sums, where=totals > 0)
            book[:, column] = np.where(totals > 0, sums, book[:, column])
        empty = np.flatnonzero(totals == 0)
        book[empty] = points[np.argsort(-distances * importance, kind="stable")[: len(empty)]]
    return nearest(points, book)[0], book


def nearest(points: Floats, book: Floats) -> tuple[Codes, NDArray[np.float64]]:
    """The nearest centroid [rows] of each point, and its squared distance [rows]."""
    codes, distances = np.empty(len(points), np.uint8), np.empty(len(points))
    squares = np.square(book).sum(1)
    for first in range(0, len(points), _ROWS_PER_CHUNK):
        some = points[first : first + _ROWS_PER_CHUNK]
        scores = squares - 2 * some @ book.T
        best = scores.argmin(1)
        codes[first : first + len(some)] = best
        distances[first : first + len(some)] = scores[np.arange(len(some)), best] + np.square(some).sum(1)
    return codes, distances
