"""The settings of skip-gram training; all of them, and the corpus, decide the vectors (with one thread)."""

import math
from dataclasses import dataclass
from typing import Annotated

from fewwords.cores import available_cores
from fewwords.errors import InputError
from fewwords.option import Option

DEFAULT_VOCABULARY_SIZE = 100_000
# Three passes over 93 million words were no better than one (docs/log.md), so a long text is read once.
ENOUGH_WORDS, MOST_EPOCHS = 100_000_000, 5


@dataclass(frozen=True)
class SkipGramSettings:
    """Settings of `train_skip_gram`; raises InputError for values that cannot be used.

    The text is the first `words` running words in whole sentences (default: all), read `epochs` times: None takes as many
    passes as come closest to 100 million words in all, from one to five. The result is the same every time only with one
    thread. The learning rate falls linearly from the first to the last one.
    """

    size: Annotated[int, Option("Dimensions.")] = 200
    epochs: Annotated[
        int | None, Option("Passes over the text.", default=f"1 to {MOST_EPOCHS}, for about 100 million words in all")
    ] = None
    window: Annotated[int, Option("Words on either side that count as context.")] = 5
    negative: Annotated[int, Option("Noise words for each word of the context.")] = 5
    sample: Annotated[
        float, Option("Words above this share of the text are thinned out; smaller is faster; 0: off.")
    ] = 1e-3
    seed: Annotated[int, Option("Seed; only with `threads` 1 is the result the same every time.")] = 1
    threads: Annotated[int | None, Option("Threads.", default="one per core")] = None
    words: Annotated[int | None, Option("Train on the first so many running words.", default="all")] = None
    learning_rate: float = 0.025
    last_learning_rate: float = 1e-4

    def __post_init__(self) -> None:
        for name in ("size", "epochs", "window", "negative", "threads", "words"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"`{name}` {value}: choose 1 or more")
        if not 0 <= self.seed < 1 << 32:
            raise InputError(f"`seed` {self.seed}: choose a number from 0 to {(1 << 32) - 1}")
        if not 0 <= self.sample < 1:
            raise InputError(f"`sample` {self.sample}: choose a share from 0 (off) to below 1")
        if not 0 < self.last_learning_rate <= self.learning_rate < math.inf:
            raise InputError(
                f"`learning_rate` {self.learning_rate:g} falls to `last_learning_rate` {self.last_learning_rate:g}; "
                "choose both above 0, the last not above the first"
            )

    def passes(self, num_words: float) -> int:
        """Passes over a text of so many running words."""
        return self.epochs or max(1, min(MOST_EPOCHS, round(ENOUGH_WORDS / max(1, num_words))))

    @property
    def num_threads(self) -> int:
        """Threads to train with."""
        return self.threads or available_cores()
