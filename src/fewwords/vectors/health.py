"""A health check for vectors in training, cheap enough for every epoch.

Gensim reports no usable loss when it trains from a file. Instead: how near singular and plural are (`house`, `houses`),
compared with the same words paired wrongly. In healthy vectors the gap between the two grows from epoch to epoch.
"""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from fewwords.vocabulary import NUM_SPECIAL, Vocabulary

MOST_PAIRS = 500
SHORTEST_SINGULAR = 3


@dataclass(frozen=True)
class Health:
    """Mean cosine of singular and plural, of wrong pairs of the same words, and the mean length of all vectors."""

    num_pairs: int
    related_cosine: float
    unrelated_cosine: float
    mean_length: float

    def __str__(self) -> str:
        length = f"mean vector length {self.mean_length:.2f}"
        if self.num_pairs < 2:
            return length
        return (
            f"cosine of singular and plural {self.related_cosine:.3f}, of wrong pairs {self.unrelated_cosine:.3f} "
            f"({self.num_pairs} pairs), {length}"
        )

    def as_dict(self) -> dict[str, float]:
        """The figures, rounded for a JSON file."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def plural_pairs(vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Ranks of singular and plural [n, 2], for the most frequent plurals; none in a language without them."""
    pairs = []
    for rank in range(NUM_SPECIAL, len(vocabulary)):
        word = vocabulary.words[rank]
        singular = vocabulary.ids.get(word[:-1]) if word.endswith("s") else None
        if singular is not None and len(word) > SHORTEST_SINGULAR and word.isalpha() and not word.endswith("ss"):
            pairs.append((singular, rank))
            if len(pairs) == MOST_PAIRS:
                break
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def measure_health(values: NDArray[np.float32], pairs: NDArray[np.int64]) -> Health:
    """The health of `values` [V, E] by `pairs` [n, 2] of its rows; rows of zeros count as unrelated to all."""
    lengths = np.sqrt(np.einsum("ve,ve->v", values, values))
    related = unrelated = 0.0
    if len(pairs) >= 2:
        singular, plural = (values[rows] / np.maximum(lengths[rows, None], 1e-12) for rows in pairs.T)
        related = float(np.einsum("ne,ne->n", singular, plural).mean())
        # shifted by half the list: the same words, but not a neighbour by frequency
        unrelated = float(np.einsum("ne,ne->n", singular, np.roll(plural, len(plural) // 2, axis=0)).mean())
    return Health(len(pairs), related, unrelated, float(lengths.mean()))
