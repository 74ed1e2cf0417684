"""Weights that were read from a file can be computed with: none is NaN, infinite, or so large that products overflow."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from fewwords.errors import InputError

LARGEST = 1e4  # of trained models they are below 100; six factors of this size still fit into float32


def check_weights(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise InputError naming the first array with a number that no trained model has."""
    for name, values in arrays.items():
        if values.size and not (values.min() >= -LARGEST and values.max() <= LARGEST):  # NaN is not
            raise InputError(f"{name} has a weight that is NaN or outside -{LARGEST:,.0f} to {LARGEST:,.0f}")
