"""How much of the wanted work fits into a time, from speeds measured on a short stretch, and which words it reads.

Vectors may take a fourth of what is left after the text is prepared, and evaluation a fifth of what is left after the
codes are made. The rest is training, whose learning rate falls over the words that fit.
"""

from dataclasses import dataclass
from typing import Any

from fewwords.training.settings import LAST_STRETCH_WORDS
from fewwords.training.speed import Speed

SHARE_OF_VECTORS = 0.25
SHARE_OF_EVALUATION = 0.1  # of test; the evaluations on dev while training have the same together
NUM_EVALUATIONS = 10
DEV_WORDS, TEST_WORDS = 20_000, 200_000
FEWEST_DEV_WORDS, FEWEST_TEST_WORDS, FEWEST_TRAINING_WORDS = 2_000, 10_000, 20_000
FEWEST_VECTOR_WORDS = 50_000


@dataclass(frozen=True)
class TrainingTime:
    """Passes over the training part, and words to evaluate on while training and at the end."""

    epochs: float
    dev_words: int = DEV_WORDS
    test_words: int = TEST_WORDS


def vectors_within(seconds: float, num_words: int, epochs: int, words_per_second: float) -> tuple[int, int | None]:
    """Passes of skip-gram over a text of `num_words`, and over how many of its words (None: all), for a total of `seconds`."""
    fitting = SHARE_OF_VECTORS * seconds * words_per_second
    if fitting >= num_words:
        return max(1, min(epochs, int(fitting / num_words))), None
    words = max(FEWEST_VECTOR_WORDS, int(fitting))
    return 1, None if words >= num_words else words


def training_within(seconds: float, num_words: int, dev_words: int, epochs: float, speed: Speed) -> TrainingTime:
    """What fits into `seconds` of `epochs` passes over `num_words`; at the end all `dev_words` of dev are scored too."""
    for_evaluation = SHARE_OF_EVALUATION * seconds * speed.scored_per_second
    sample = int(min(DEV_WORDS, max(FEWEST_DEV_WORDS, for_evaluation / NUM_EVALUATIONS)))
    test = int(min(TEST_WORDS, max(FEWEST_TEST_WORDS, for_evaluation)))
    scored = NUM_EVALUATIONS * min(sample, dev_words) + dev_words + test
    words = (seconds - scored / speed.scored_per_second) * speed.trained_per_second
    return TrainingTime(min(epochs, max(FEWEST_TRAINING_WORDS, words) / num_words), sample, test)


def with_last_stretch(epochs: float, num_words: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a run of so many passes over `num_words` and the last stretch after it read, as settings of training.

    In one pass or less the last stretch has words of its own: they are worth a little more than the same again (docs/log.md).
    """
    if epochs > 1:
        return {"epochs": epochs}, {"epochs": LAST_STRETCH_WORDS * epochs}
    first = max(1, round(min(epochs, 1 / (1 + LAST_STRETCH_WORDS)) * num_words))
    last = max(1, round(LAST_STRETCH_WORDS * first))
    return {"words": first}, {"words": last, "skip_words": first}
