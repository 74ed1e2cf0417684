"""A corpus whose entropy is known, and what the training tests share."""

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from fewwords.codes import random_codes
from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.corpus.batches import Batch
from fewwords.training.settings import TrainingSettings
from fewwords.training.trainer import Trainer

# A sentence chooses one of four first words, then four times one of two next words, then ends: 6 ln 2 nats for six
# predictions, so its perplexity under the true distribution is exactly 2.
NUM_LAYERS, WIDTH = 5, 4


def _sentence(chance: random.Random) -> str:
    place = chance.randrange(WIDTH)
    words = [f"a{place}"]
    for layer in "bcde"[: NUM_LAYERS - 1]:
        place = (place + chance.choice((1, 2))) % WIDTH
        words.append(f"{layer}{place}")
    return " ".join(words)


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with the corpus, V = 23, and codes over 12 base words; read only."""
    folder = tmp_path_factory.mktemp("training")
    chance = random.Random(3)
    (folder / "text.txt").write_text("".join(f"{_sentence(chance)}\n" for _ in range(1500)))
    prepare([str(folder / "text.txt")], folder / "work", settings=Settings(tokenized=True), dev_words=500, test_words=0)
    vocabulary = TokenCorpus.open(folder / "work").vocabulary()
    codes = random_codes(len(vocabulary), 15, 2, seed=1)
    codes.made_from["vocabulary"] = vocabulary.fingerprint
    (folder / "work" / "codes").mkdir()
    codes.save(folder / "work" / "codes" / f"v{len(vocabulary)}-b12.safetensors")
    return folder / "work"


@pytest.fixture(scope="session")
def quick() -> Callable[..., TrainingSettings]:
    """Settings for runs of a second or so, with changes."""

    def make(**changes: Any) -> TrainingSettings:
        defaults = {
            "words": 6_000,
            "batch_words": 128,
            "num_noise": 20,
            "eval_every": 2_000,
            "dev_words": 200,
            "threads": 1,
        }
        return TrainingSettings(**{**defaults, "learning_rate": 0.01, **changes})

    return make


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], bool]], None]:
    """Make the loss of the steps that `when(words)` chooses NaN."""

    def make(when: Callable[[int], bool]) -> None:
        real = Trainer._loss

        def loss(self: Trainer, batch: Batch) -> Tensor:
            value = real(self, batch)
            return value * math.nan if when(self.state.words) else value

        monkeypatch.setattr(Trainer, "_loss", loss)

    return make
