"""The vectors that codes are made of: checked, scaled to unit length, and the base words that may be atoms.

The special words at rows 0 to num_special - 1 are never atoms, and may have no direction (a zero vector).
A base word whose vector is zero is not an atom either; a rare word must have a direction.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError

Vectors = NDArray[np.float32]

# Rows per block where a pass over all vectors would otherwise need a copy of them.
ROWS_PER_BLOCK = 65_536


def check_vectors(vectors: NDArray[Any], num_base: int, num_special: int) -> Vectors:
    """Reject vectors [V, E] that cannot be coded, naming the row; returns them as float32, in C order."""
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise InputError(f"vectors: a table of words by dimensions is needed, not the shape {vectors.shape}")
    if num_base < 1:
        raise InputError(f"{num_base} base words: give at least 1")
    if num_special < 0 or num_base <= num_special:
        raise InputError(f"{num_base} base words: none is left after {num_special} special words; give more")
    if num_base >= len(vectors):
        raise InputError(
            f"{num_base} base words: the vocabulary has {len(vectors)} words, so none is left to code; "
            "give fewer base words or a larger vocabulary"
        )
    for start in range(0, len(vectors), ROWS_PER_BLOCK):
        block = vectors[start : start + ROWS_PER_BLOCK]
        bad = ~np.isfinite(block.astype(np.float32, copy=False)).all(axis=1)
        if bad.any():
            raise InputError(f"vectors: row {start + int(bad.argmax())} has a value that is NaN or infinite")
        # A value that float32 cannot hold counts as zero, since float32 is what is coded.
        first_rare = max(0, num_base - start)
        zero = np.flatnonzero(~block[first_rare:].astype(np.float32, copy=False).any(axis=1))
        if len(zero):
            raise InputError(
                f"vectors: row {start + first_rare + int(zero[0])} is all zeros and has no direction; "
                "give the word a vector or leave it out"
            )
    checked = np.ascontiguousarray(vectors, dtype=np.float32)
    if len(usable_atoms(checked[:num_base], num_special)) == 0:
        raise InputError("vectors: every base word has a zero vector, so there is nothing to code with")
    return checked


def usable_atoms(base_vectors: Vectors, num_special: int) -> NDArray[np.int64]:
    """The rows of the base words that may be atoms: not special, not zero."""
    return num_special + np.flatnonzero(base_vectors[num_special:].any(axis=1))


def unit_vectors(vectors: Vectors) -> tuple[Vectors, NDArray[np.float64]]:
    """Vectors [n, E], none zero, at unit length, and the lengths [n] they had."""
    lengths = np.sqrt(np.einsum("ne,ne->n", vectors, vectors, dtype=np.float64))
    return (vectors / lengths[:, None]).astype(np.float32), lengths


def unit_rows(vectors: Vectors) -> Vectors:
    """Vectors [n, E] at unit length; those that are zero stay."""
    units = np.zeros_like(vectors)
    has_vector = vectors.any(axis=1)
    units[has_vector] = unit_vectors(vectors[has_vector])[0]
    return units
