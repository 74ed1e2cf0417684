"""The vectors of a vocabulary by rank: row r is the vector of the word with rank r.

Words without a vector have a row of zeros and `has_vector` False. The three special words never have one: they are base
words, code themselves, and need none. Any other word without one is missing from an imported file, or was never
trained; the stage that makes codes finds these by `has_vector` and handles them.
On disk: `vectors/vectors.safetensors` with both arrays, what they were made from, and the fingerprint of the
vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError, Stage
from fewwords.store.arrays import ArrayFile, array_shapes
from fewwords.vocabulary import NUM_SPECIAL, Vocabulary
from fewwords.work_folder import vectors_path

_FILE = ArrayFile("vectors", ("values", "has_vector"), {"vocabulary": str, "made_from": dict[str, Any]})

LARGEST_VALUE = 1e8  # lengths and products must stay finite


@dataclass(frozen=True, eq=False)
class WordVectors:
    """`values` [V, E] and `has_vector` [V] by rank, and the fingerprint of the V words that they belong to.

    `made_from` holds settings and hashes, for the record. Raises InputError when the arrays do not fit together.
    """

    values: NDArray[np.float32]
    has_vector: NDArray[np.bool_]
    vocabulary_fingerprint: str
    made_from: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.values.dtype != np.float32 or self.values.ndim != 2 or self.values.shape[1] < 1:
            raise InputError("vectors: the values are not a float32 matrix of words by dimensions")
        if self.has_vector.dtype != np.bool_ or self.has_vector.shape != self.values.shape[:1]:
            raise InputError("vectors: has_vector is not one bool per word")
        usable = np.abs(self.values) <= LARGEST_VALUE  # NaN is not
        if not usable.all():
            raise InputError(f"vectors: {_first(~np.all(usable, axis=1))} has a NaN, infinite or absurdly large value")
        if self.has_vector[:NUM_SPECIAL].any():
            raise InputError("vectors: a special word has a vector")
        wrong = np.any(self.values, axis=1) != self.has_vector
        if wrong.any():
            raise InputError(f"vectors: has_vector of {_first(wrong)} does not match its row")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def size(self) -> int:
        """Dimensions."""
        return int(self.values.shape[1])

    @property
    def num_without_vector(self) -> int:
        """Words without a vector, special words not counted."""
        return int((~self.has_vector[NUM_SPECIAL:]).sum())

    def neighbours(self, words: Sequence[int], k: int = 10) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The nearest words by cosine: ranks [n, k] and cosines [n, k], descending, for the n given ranks.

        Neither the word itself nor words without a vector are neighbours; if there are fewer than k, k is smaller.
        """
        chosen = np.asarray(words, dtype=np.int64)
        k = max(0, min(k, int(self.has_vector.sum()) - 1))
        lengths = np.sqrt(np.einsum("ve,ve->v", self.values, self.values))
        lengths[~self.has_vector] = 1
        cosines = (self.values[chosen] / lengths[chosen, None]) @ self.values.T / lengths
        cosines[:, ~self.has_vector] = -np.inf
        cosines[np.arange(len(chosen)), chosen] = -np.inf
        nearest = np.argpartition(-cosines, max(0, k - 1), axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(cosines, nearest, axis=1), axis=1, kind="stable")
        nearest = np.take_along_axis(nearest, order, axis=1)
        return nearest, np.take_along_axis(cosines, nearest, axis=1)

    def check_fits(self, vocabulary: Vocabulary) -> None:
        """Raise InputError unless `vocabulary` starts with the words of the vectors; it may have more."""
        if len(vocabulary) < len(self):
            raise InputError(
                f"the vectors are for {len(self):,} words, but the vocabulary has only {len(vocabulary):,}",
                remedy=Stage("vectors", force=True),
            )
        if Vocabulary(vocabulary.words[: len(self)], vocabulary.counts).fingerprint != self.vocabulary_fingerprint:
            raise InputError(
                f"the vectors were made for another vocabulary of {len(self):,} words (the corpus has changed since)",
                remedy=Stage("vectors", force=True),
            )

    def save(self, work: str | Path) -> None:
        """Write `vectors/` of a work folder, replacing any vectors there."""
        arrays = {"values": self.values, "has_vector": self.has_vector}
        facts = {"vocabulary": self.vocabulary_fingerprint, "made_from": self.made_from}
        _FILE.save(vectors_path(work), arrays, facts)

    @classmethod
    def load(cls, work: str | Path) -> "WordVectors":
        """Read what `save` wrote; raises InputError naming the file when it is missing, damaged or changed."""
        return _FILE.load(
            vectors_path(work),
            lambda arrays, facts: cls(
                **arrays, vocabulary_fingerprint=facts["vocabulary"], made_from=facts["made_from"]
            ),
            _remedy(work),
        )

    @staticmethod
    def stored_shape(work: str | Path) -> tuple[int, ...] | None:
        """Words and dimensions of the vectors of a work folder, without reading them; None if there are none."""
        path = vectors_path(work)
        return array_shapes(path, _remedy(work)).get("values") if path.exists() else None


def _remedy(work: str | Path) -> Stage:
    return Stage("vectors", work=work, force=True)


def _first(wrong: NDArray[np.bool_]) -> str:
    return f"the word of rank {int(wrong.argmax())}"
