"""How good codes are: fitting loss, non-zeros, sums, and whether a word is built on its plain form.

Checks the paper's claims of section 3.1 (4 to 8 values per word, 0.05 to 0.1 % non-zeros) and of section 4.2 (the
plural's largest weight is on its singular), the latter as shares over all rare words whose plain form is a base word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.atoms import Vectors, unit_rows
from fewwords.codes.objective import fitting_loss, l1_norm
from fewwords.codes.sparse_codes import SparseCodes
from fewwords.codes.stems import stems

NUM_BANDS = 4


@dataclass(frozen=True)
class Spread:
    """Mean and quartiles of a quantity over the rare words."""

    mean: float
    lower_quartile: float
    median: float
    upper_quartile: float

    @classmethod
    def of(cls, values: NDArray[Any]) -> "Spread":
        """The spread of values [n], n > 0."""
        return cls(float(values.mean()), *(float(value) for value in np.quantile(values, (0.25, 0.5, 0.75))))


@dataclass(frozen=True)
class Band:
    """Rare words from one rank to another, and their mean fitting loss."""

    first_rank: int
    last_rank: int
    loss: float


@dataclass(frozen=True)
class CodeQuality:
    """The quality report of one set of codes. `nonzeros_histogram` maps non-zeros to words."""

    num_rare: int
    num_base: int
    loss: Spread
    loss_by_band: list[Band]
    nonzeros: float
    nonzeros_histogram: dict[int, int]
    sums: Spread
    empty: int
    density: float
    num_with_stem: int
    stem_is_largest: float
    stem_in_code: float

    @property
    def keeps_to_the_paper(self) -> dict[str, bool]:
        """The paper's two claims about sparsity, and whether they hold here."""
        return {
            "4 to 8 values a word": 4 <= self.nonzeros <= 8,
            "0.05 to 0.1 % non-zeros": 0.0005 <= round(self.density, 5) <= 0.001,
        }

    def to_json(self) -> dict[str, Any]:
        """All figures, for a JSON file."""
        return {**asdict(self), "keeps_to_the_paper": self.keeps_to_the_paper}


def measure_quality(codes: SparseCodes, vectors: Vectors, words: Sequence[str]) -> CodeQuality:
    """Judge codes against the vectors [V, E] that they were made from, at unit length; `words` are by rank.

    A word without a vector (all zeros) counts for the non-zeros and sums, but not for the loss.
    """
    has_vector: NDArray[np.bool_] = np.asarray(vectors.any(axis=1))
    units = unit_rows(vectors)
    losses = fitting_loss(codes, units[: codes.num_base], units[codes.num_base :])
    fitted = has_vector[codes.num_base :]
    bands = [
        band for band in np.array_split(np.arange(codes.num_rare), min(NUM_BANDS, codes.num_rare)) if fitted[band].any()
    ]
    counts = np.diff(codes.offsets)
    with_stem, largest, inside = _stem_shares(codes, words)
    return CodeQuality(
        num_rare=codes.num_rare,
        num_base=codes.num_base,
        loss=Spread.of(losses[fitted]),
        loss_by_band=[
            Band(
                codes.num_base + int(band[0]),
                codes.num_base + int(band[-1]),
                float(losses[band][fitted[band]].mean()),
            )
            for band in bands
        ],
        nonzeros=codes.nonzeros_per_rare_word,
        nonzeros_histogram={int(number): int((counts == number).sum()) for number in np.unique(counts)},
        sums=Spread.of(l1_norm(codes)),
        empty=int((counts == 0).sum()),
        density=codes.nonzeros_per_rare_word / codes.num_base,
        num_with_stem=with_stem,
        stem_is_largest=largest / max(1, with_stem),
        stem_in_code=inside / max(1, with_stem),
    )


def words_with_stem(codes: SparseCodes, words: Sequence[str]) -> Iterator[tuple[int, set[int]]]:
    """The rare words whose plain form is a base word, by rank, each with the base rows of its plain forms."""
    base_rows = {word: row for row, word in enumerate(words[: codes.num_base])}
    for rank in range(codes.num_base, codes.num_words):
        rows = {base_rows[stem] for stem in stems(words[rank]) if stem in base_rows}
        if rows:
            yield rank, rows


def _stem_shares(codes: SparseCodes, words: Sequence[str]) -> tuple[int, int, int]:
    """How many rare words have a base word as plain form; for how many it has the largest weight; any weight."""
    with_stem = largest = inside = 0
    for rank, rows in words_with_stem(codes, words):
        indices, values = codes.row(rank)
        with_stem += 1
        largest += int(indices[values.argmax()]) in rows
        inside += not rows.isdisjoint(indices.tolist())
    return with_stem, largest, inside
