"""The settings that a text is given when nobody chooses them: vocabulary, base, passes, batches, rate.

The number of running words decides. A small text is read many times, in small batches at a low rate, because it has few
steps in it; a large one once or twice. The vocabulary has the words that occur often enough to be learned, up to 50,000,
and a third of them are the base, up to the paper's 8,000.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.settings import DEFAULT_BASE_SIZE, CodingSettings
from fewwords.errors import InputError
from fewwords.making.size import MAX_NONZEROS, Shape, choose_shape
from fewwords.training.settings import EmbeddingStart
from fewwords.vectors.settings import SkipGramSettings
from fewwords.vocabulary import NUM_SPECIAL

LEAST_WORDS = 2_000
LARGEST_VOCABULARY = 50_000
WORDS_PER_BASE_WORD = 3


@dataclass(frozen=True)
class Recipe:
    """How texts of up to `most_words` running words are used; a word of the vocabulary occurs `least_count` times.

    `vector_epochs` None: as many passes as `SkipGramSettings` takes by default.
    """

    most_words: float
    least_count: int
    vector_epochs: int | None
    epochs: int
    batch_words: int
    learning_rate: float


RECIPES = (
    Recipe(50_000, least_count=2, vector_epochs=20, epochs=10, batch_words=256, learning_rate=0.002),
    Recipe(150_000, least_count=2, vector_epochs=10, epochs=10, batch_words=256, learning_rate=0.004),
    Recipe(500_000, least_count=2, vector_epochs=10, epochs=6, batch_words=512, learning_rate=0.004),
    Recipe(1_500_000, least_count=2, vector_epochs=10, epochs=4, batch_words=1024, learning_rate=0.006),
    Recipe(5_000_000, least_count=2, vector_epochs=10, epochs=2, batch_words=2048, learning_rate=0.006),
    Recipe(30_000_000, least_count=3, vector_epochs=None, epochs=2, batch_words=2048, learning_rate=0.008),
    Recipe(math.inf, least_count=5, vector_epochs=None, epochs=1, batch_words=2048, learning_rate=0.008),
)


@dataclass(frozen=True)
class Choice:
    """Sizes, special words included in the vocabulary and not in the base, and the recipe for the stages.

    `shape` is that of a model for a size in megabytes.
    """

    vocabulary_size: int
    base_size: int
    recipe: Recipe
    shape: Shape | None = None

    @property
    def coding(self) -> CodingSettings:
        """How rare words are coded."""
        if self.shape is None:
            return CodingSettings()
        most = min(MAX_NONZEROS, self.base_size)
        return CodingSettings(max_nonzeros=most, mean_nonzeros=min(self.shape.mean_nonzeros, most))

    @property
    def vector_size(self) -> int:
        """Dimensions of the word vectors: no fewer than usual, because codes of longer vectors are better."""
        return max(SkipGramSettings.size, 0 if self.shape is None else self.shape.size)

    @property
    def model_changes(self) -> dict[str, Any]:
        """What a shape changes in the settings of the model."""
        if self.shape is None:
            return {}
        size = self.shape.size
        return {"embedding_size": size, "hidden_size": size, "cell_size": self.shape.cell_size, "tune_codes": True}

    @property
    def embedding_start(self) -> EmbeddingStart | None:
        """Vectors that are longer than the model's rows are fitted to them."""
        is_shorter = self.shape is not None and self.shape.size < self.vector_size
        return "fitted" if is_shorter else None


def check_text(name: str, train_words: int, dev_words: int, test_words: int) -> None:
    """Raise InputError for a text that is too small to train, or to split."""
    if train_words < LEAST_WORDS or not dev_words or not test_words:
        raise InputError(
            f"{name}: {train_words:,} words to train on; a model needs {LEAST_WORDS:,} at the very least (about 12 kB of "
            "text), and a good one a million: give more text"
        )


def choose(
    num_words: int,
    counts: NDArray[np.int64],
    *,
    vocabulary_size: int | None = None,
    base_size: int | None = None,
    size_mb: float | None = None,
) -> Choice:
    """The settings for a text of `num_words` running words whose words, by rank, occur `counts` [types] times.

    With `size_mb`, those of a model that can be packed into so many megabytes. Sizes that are given stay; raises
    InputError for those that the text does not allow.
    """
    recipe = next(each for each in RECIPES if num_words <= each.most_words)
    often_enough = int((counts[NUM_SPECIAL:] >= recipe.least_count).sum())
    most_words = NUM_SPECIAL + min(often_enough, LARGEST_VOCABULARY - NUM_SPECIAL)
    shape = None
    if size_mb is not None:
        shape = choose_shape(size_mb, most_words, vocabulary_size, base_size)
        vocabulary_size, base_size = shape.vocabulary_size, shape.base_size
    if vocabulary_size is None:
        vocabulary_size = most_words
    if not NUM_SPECIAL + 2 <= vocabulary_size <= len(counts):
        raise InputError(
            f"`vocabulary_size` {vocabulary_size}: the text has {len(counts):,} different words, "
            f"the {NUM_SPECIAL} special ones included; choose {NUM_SPECIAL + 2} to {len(counts):,}, or give more text"
        )
    num_plain = vocabulary_size - NUM_SPECIAL
    if base_size is None:
        base_size = max(1, min(DEFAULT_BASE_SIZE, num_plain // WORDS_PER_BASE_WORD))
    if not 1 <= base_size < num_plain:
        raise InputError(
            f"`base_size` {base_size}: of {num_plain:,} words at least one must be left to code; "
            f"choose 1 to {num_plain - 1:,}"
        )
    return Choice(vocabulary_size, base_size, recipe, shape)
