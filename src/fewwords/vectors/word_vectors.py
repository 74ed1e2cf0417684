"""The vectors of a vocabulary by rank: row r is the vector of the word with rank r.

Words without a vector have a row of zeros and `has_vector` False. The three special words never have one: they are base
words, code themselves, and need none. Any other word without one is missing from an imported file, or was never trained;
the stage that makes codes has to refuse or replace it, and sees from `has_vector` which these are.
On disk: `vectors/vectors.safetensors` with both arrays, and `vectors/vectors.json` with what they were made from, the
fingerprint of the vocabulary, and the hash of the first file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError, Stage
from fewwords.store.files import atomic_write, read_json, sha256_of, write_json
from fewwords.vocabulary import NUM_SPECIAL, Vocabulary

FORMAT = "fewwords vectors 1"


def vectors_path(work: str | Path) -> Path:
    """Where the vectors of a work folder are; their description lies beside them."""
    return Path(work) / "vectors" / "vectors.safetensors"


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
            raise InputError("vectors: has_vector is not one bool a word")
        finite = np.isfinite(self.values)
        if not finite.all():
            raise InputError(f"vectors: {_first(~np.all(finite, axis=1))} has a NaN or infinite value")
        if self.has_vector[:NUM_SPECIAL].any():
            raise InputError("vectors: a special word has a vector")
        wrong = np.any(self.values, axis=1) != self.has_vector
        if wrong.any():
            raise InputError(f"vectors: has_vector of {_first(wrong)} does not tell whether its row is zero")

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
        """The nearest words by cosine: ranks [n, k] and cosines [n, k], falling, for the n given ranks.

        Neither the word itself nor words without a vector are neighbours; where there are fewer than k, k is smaller.
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
        """Raise InputError unless the first words of `vocabulary`, which may have more, are those of the vectors."""
        if len(vocabulary) < len(self):
            raise InputError(
                f"the vectors are of {len(self):,} words, but the vocabulary has only {len(vocabulary):,}",
                remedy=Stage("vectors", force=True),
            )
        if Vocabulary(vocabulary.words[: len(self)], vocabulary.counts).fingerprint != self.vocabulary_fingerprint:
            raise InputError(
                f"the vectors were made for another vocabulary of {len(self):,} words (the corpus has changed since)",
                remedy=Stage("vectors", force=True),
            )

    def save(self, work: str | Path) -> None:
        """Write `vectors/` of a work folder; vectors that are there already are replaced."""
        from safetensors.numpy import save

        path = vectors_path(work)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(save({"values": self.values, "has_vector": self.has_vector}, metadata={"format": FORMAT}))
        write_json(
            path.with_suffix(".json"),
            {
                "format": FORMAT,
                "words": len(self),
                "dimensions": self.size,
                "words_without_vector": self.num_without_vector,
                "vocabulary": self.vocabulary_fingerprint,
                "sha256": sha256_of(path),
                "made_from": self.made_from,
            },
        )

    @classmethod
    def load(cls, work: str | Path) -> "WordVectors":
        """Read what `save` wrote; raises InputError naming the file when it is missing, damaged or changed."""
        from safetensors import SafetensorError, safe_open

        path = vectors_path(work)
        again = Stage("vectors", work=work, force=True)
        for needed in (path, path.with_suffix(".json")):
            if not needed.is_file():
                raise InputError(f"{needed}: no such file", remedy=Stage("vectors", work=work))
        facts = read_json(path.with_suffix(".json"))
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise InputError(f"{path.with_suffix('.json')}: does not describe word vectors", remedy=again)
        if sha256_of(path) != facts.get("sha256"):
            raise InputError(f"{path}: not the file its .json describes (truncated or changed)", remedy=again)
        try:
            with safe_open(path, framework="numpy") as file:
                arrays = {name: file.get_tensor(name) for name in ("values", "has_vector")}
            vectors = cls(**arrays, vocabulary_fingerprint=facts["vocabulary"], made_from=facts["made_from"])
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: not usable as word vectors ({error})", remedy=again) from None
        if (facts.get("words"), facts.get("dimensions")) != (len(vectors), vectors.size):
            raise InputError(f"{path}: the sizes in its .json are not those of the vectors", remedy=again)
        return vectors


def _first(wrong: NDArray[np.bool_]) -> str:
    return f"the word of rank {int(wrong.argmax())}"
