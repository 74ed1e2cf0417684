"""How a model is trained: budget, optimiser, loss, starts. Everything that decides the result is here.

The defaults are the best recipe we know (docs/log.md says how they were found). `PRESETS` has other recipes as changes
to them: "paper" is the paper's own, with details from its released code. Which words are predicted (the boundary) is
not part of a preset, because perplexities over other targets could not be compared.
"""

import math
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal

from fewwords.errors import InputError
from fewwords.models.neural.variants import settings_of
from fewwords.option import Option, check_choices
from fewwords.packing.recipe import RECIPES

LossName = Literal["nce", "nce-per-position", "softmax", "sampled-softmax"]
ScheduleName = Literal["constant", "linear"]
EmbeddingStart = Literal["random", "vectors", "fitted"]
BiasStart = Literal["unigram", "zero", "uniform"]
CodesName = Literal["learned", "random", "nearest"]
PresetName = Literal["best", "paper"]
Precision = Literal["float32", "bfloat16"]

PAPER_RATES = (0.001, 0.002, 0.004, 0.006, 0.008)
DEFAULT_NUM_NOISE: dict[LossName, int] = {"nce": 256, "nce-per-position": 50, "sampled-softmax": 512, "softmax": 0}
DEFAULT_NOISE_GROUP = 256  # words that share their noise words, with the loss nce
NUM_EVALUATIONS = 20
SHORTEST_INTERVAL = 200_000

_BUDGET, _OPTIMISER, _LOSS, _STARTS, _RUN = "Budget", "Optimiser", "Loss", "Starts and codes", "Run"


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of a training run; raises InputError for values that cannot be used.

    The text is the first `words` running words of the training part (default: all) after the first `skip_words`, which an
    earlier run may have read; the budget is `epochs` passes over it (default: one). `num_noise` None takes the loss's
    default, and about `noise_group` words share their noise words: 0 means the whole batch, None means 256 with the loss
    nce. `embedding_start` None starts from the word vectors where the work folder has some that fit, and at random
    elsewhere; "fitted" takes the leading directions of longer vectors, and random values after shorter ones. `eval_every`
    None is a twentieth of the budget, at least 200,000 words. `final_rate` is where the linear schedule ends, and
    `codes_rate` the rate of tuned code values, both as shares of the learning rate. `clip` bounds the norm of the whole
    gradient, and `divergence` says how many times its lowest level the loss may rise to; 0 turns either off. `patience`
    stops after that many evaluations without progress. With `quantise_aware` the weights are rounded while they are trained,
    which is for the last stretch of a model that will be packed (see `rounding`). With `precision` "bfloat16" the encoder reads
    and multiplies numbers of 16 bits while it is trained; weights, optimiser, loss and evaluations stay in float32.
    """

    words: Annotated[int | None, Option("The first running words to train on.", _BUDGET, default="all")] = None
    skip_words: Annotated[int, Option("Running words to leave out before them.", _BUDGET)] = 0
    epochs: Annotated[float | None, Option("Passes over them.", _BUDGET, default="1")] = None
    batch_words: Annotated[int, Option("Words of a batch; the paper: 256.", _OPTIMISER)] = 2048
    learning_rate: Annotated[float, Option("Adam's rate at the start.", _OPTIMISER)] = 0.008
    schedule: Annotated[ScheduleName, Option("How the rate changes over the budget.", _OPTIMISER)] = "linear"
    final_rate: Annotated[float, Option("Where the linear schedule ends, as a share of the rate.", _OPTIMISER)] = 0.0
    codes_rate: Annotated[float, Option("Rate of tuned code values, as a share of the rate.", _OPTIMISER)] = 0.1
    clip: Annotated[float, Option("Largest norm of the gradient; 0: no limit.", _OPTIMISER)] = 5.0
    divergence: Annotated[
        float, Option("Go back when the loss is this many times its lowest; 0: never.", _OPTIMISER)
    ] = 3.0
    quantise_aware: Annotated[
        int | None, Option("Compute with weights of 8 or 4 bits, as pack stores them.", _OPTIMISER, default="float32")
    ] = None
    loss: Annotated[LossName, Option("nce: noise shared by some words; nce-per-position: as in the paper.", _LOSS)] = (
        "nce"
    )
    num_noise: Annotated[int | None, Option("Noise words.", _LOSS, default="256, or 50 for each position")] = None
    noise_power: Annotated[float, Option("Power of the counts in the noise.", _LOSS)] = 1.0
    noise_group: Annotated[
        int | None,
        Option("Words of a batch that share their noise words; 0: the whole batch.", _LOSS, default="256"),
    ] = None
    embedding_start: Annotated[
        EmbeddingStart | None,
        Option("Where word vectors start.", _STARTS, default="DIR/vectors, where it has some of that size"),
    ] = None
    bias_start: Annotated[BiasStart, Option("Where biases start: log unigram, the paper's 0, or -log V.", _STARTS)] = (
        "unigram"
    )
    codes: Annotated[CodesName, Option("Learned codes, or a control: random, or the nearest base word.", _STARTS)] = (
        "learned"
    )
    seed: Annotated[int, Option("Seed of start, order, noise and dropout.", _RUN)] = 1
    eval_every: Annotated[
        int | None,
        Option("Words between evaluations.", _RUN, default="a twentieth of the budget, at least 200,000"),
    ] = None
    checkpoint_every: Annotated[int, Option("Words between checkpoints; evaluations write one too.", _RUN)] = 2_000_000
    dev_words: Annotated[int, Option("Words of dev to evaluate on while training.", _RUN)] = 20_000
    patience: Annotated[
        int | None, Option("Stop after this many evaluations without progress.", _BUDGET, default="never")
    ] = None
    precision: Annotated[
        Precision, Option("Numbers of the encoder's products; bfloat16 is for processors that compute with it.", _RUN)
    ] = "float32"
    threads: Annotated[int | None, Option("Threads.", _RUN, default="one per core")] = None

    def __post_init__(self) -> None:
        check_choices(self)
        positive = ("words", "epochs", "batch_words", "learning_rate", "num_noise", "eval_every")
        for name in (*positive, "checkpoint_every", "dev_words", "patience", "threads"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"`{name}` {value}: give a number greater than 0")
        for name in ("clip", "divergence", "noise_power", "noise_group", "skip_words", "seed"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise InputError(f"`{name}` {value}: give 0 or more")
        if 0 < self.divergence <= 1:
            raise InputError(
                f"`divergence` {self.divergence}: give a factor greater than 1, or 0 to turn the check off"
            )
        for name in ("final_rate", "codes_rate"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"`{name}` {getattr(self, name)}: give a share of the learning rate, from 0 to 1")
        if self.quantise_aware not in (None, *RECIPES):
            raise InputError(f"`quantise_aware` {self.quantise_aware}: choose {' or '.join(map(str, RECIPES))} bits")
        if self.loss != "nce" and self.noise_group is not None:
            raise InputError(
                f"`noise_group` {self.noise_group}: only the loss nce shares noise words within groups; leave it out"
            )
        if self.loss == "softmax" and self.num_noise is not None:
            raise InputError(f"`num_noise` {self.num_noise}: the full softmax draws no noise words; leave it out")

    @property
    def num_noise_words(self) -> int:
        """Noise words for the batch, or for each position."""
        return DEFAULT_NUM_NOISE[self.loss] if self.num_noise is None else self.num_noise

    @property
    def noise_group_words(self) -> int | None:
        """Words of a batch that share their noise words; None: all of them."""
        wanted = DEFAULT_NOISE_GROUP if self.noise_group is None else self.noise_group
        return (wanted or None) if self.loss == "nce" else None

    def budget(self, words_per_epoch: int) -> int:
        """Running words to train on in total, if a pass has `words_per_epoch`."""
        return max(1, round((1.0 if self.epochs is None else self.epochs) * words_per_epoch))

    def evaluation_interval(self, budget: int) -> int:
        """Running words from one evaluation to the next."""
        return self.eval_every or max(SHORTEST_INTERVAL, -(-budget // NUM_EVALUATIONS))

    def to_json(self) -> dict[str, Any]:
        """The settings for a JSON file."""
        return asdict(self)


# Recipes by name, as changes to the defaults of ModelSettings and TrainingSettings.
PRESETS: dict[PresetName, dict[str, Any]] = {
    "best": {},
    "paper": {
        "tied": False,
        "loss": "nce-per-position",
        "num_noise": 50,
        "batch_words": 256,
        "bias_start": "zero",
        "embedding_start": "random",
        "schedule": "constant",
        "clip": 0.0,
        "divergence": 0.0,
    },
}


# The last stretch of a model that will be packed in 4 bits: a share of its words again, at a share of its rate. The sampled
# softmax takes half as long again for a word, and ends 0.6 % lower than noise-contrastive estimation (docs/log.md).
LAST_STRETCH: dict[str, Any] = {"quantise_aware": 4, "loss": "sampled-softmax", "num_noise": 4096}
LAST_STRETCH_WORDS, LAST_STRETCH_RATE, LAST_STRETCH_TIME = 0.1, 0.125, 0.15


def preset_changes(name: PresetName, variant: str) -> dict[str, Any]:
    """What a preset changes in the settings of a variant and of its training; raises InputError for an unknown name."""
    if name not in PRESETS:
        raise InputError(f"`preset` {name}: choose one of {', '.join(PRESETS)}")
    changes = dict(PRESETS[name])
    if settings_of(variant).encoder == "log-bilinear":
        changes.pop("tied", None)  # the log-bilinear model is tied in the paper's code too
    return changes


def setting_names(settings: type) -> set[str]:
    """The names of the settings of a class."""
    return {field.name for field in fields(settings)}
