"""The neural models of the paper as values (section 4.3): LSTM-s, LSTM-z, LSTM-z,wb, LSTM-z,w and LBL5 are one class.

`lbl5-w` is LBL5 with coded weights, which the paper did not try. The coded LSTMs use one base matrix for embedding and
output (tied), which costs no perplexity and halves the base; the rows of the paper's tables are untied, as in the
paper.
"""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

from fewwords.errors import InputError
from fewwords.losses.names import NormaliserName
from fewwords.models.neural.encoders import encoder_names
from fewwords.option import Option, check_choices

Storage = Literal["dense", "coded", "low-rank", "hashed", "quotient", "adaptive"]
Combination = Literal["product", "sum"]
Boundary = Literal["end", "paper"]

_PANEL = "Model"
# What each of the other word tables needs, and what it may be given.
_NEEDED: dict[str, tuple[str, ...]] = {
    "low-rank": ("rank",),
    "hashed": ("num_buckets",),
    "quotient": ("num_buckets",),
    "adaptive": ("band_words", "band_ranks"),
}
_ALLOWED = {"hashed": ("num_hashes",), "quotient": ("combination",)}
TABLE_SETTINGS = ("rank", "num_buckets", "num_hashes", "combination", "band_words", "band_ranks")
MOST_HASHES = 4


@dataclass(frozen=True)
class ModelSettings:
    """Everything that decides the shape of a model.

    `boundary` "end": a sentence starts from `<s>` and `</s>` is predicted; "paper": the first word is predicted from a
    learned state and the end is not predicted, as in the authors' code. `context_size` is the log-bilinear model's, in
    words. The fields without help make up the variants, and the word tables that codes are compared with
    (`layers/tables/`): "low-rank" of `rank` values a word, "hashed" into `num_buckets` rows by `num_hashes` (2) hashes,
    "quotient" with `num_buckets` remainders and a `combination` ("product"), "adaptive" with `band_ranks` values in bands of
    `band_words` words, the rest in one more.
    """

    variant: str = "lstm-z-w"
    embedding: Storage = "coded"
    output: Storage = "coded"
    coded_bias: bool = False
    embedding_size: Annotated[int, Option("Values of a word vector.", _PANEL)] = 200
    hidden_size: Annotated[int, Option("Values of the encoder's state.", _PANEL)] = 200
    cell_size: Annotated[
        int | None, Option("Cells of an LSTM that has more than its state's values.", _PANEL, default="as many")
    ] = None
    num_layers: Annotated[int, Option("Layers of the encoder.", _PANEL)] = 1
    dropout: Annotated[float, Option("Share of values dropped.", _PANEL)] = 0.0
    tied: Annotated[
        bool,
        Option("One matrix for embedding and output weights.", _PANEL, default="tied for coded models", off="untied"),
    ] = False
    tune_codes: Annotated[bool, Option("Train the values of the codes too.", _PANEL)] = False
    boundary: Annotated[
        Boundary, Option("end: from <s>, and </s> is predicted; paper: from a learned state, and it is not.", _PANEL)
    ] = "end"
    normaliser: Annotated[NormaliserName, Option("What stands for Z.", "Loss", default="the model's")] = "z-regression"
    encoder: str = "lstm"  # the name of a file in `encoders/`
    context_size: int = 5
    rank: int | None = None
    num_buckets: int | None = None
    num_hashes: int | None = None
    combination: Combination | None = None
    band_words: tuple[int, ...] | None = None
    band_ranks: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_choices(self)
        if min(self.embedding_size, self.hidden_size, self.num_layers, self.context_size) < 1:
            raise InputError("a model needs sizes and a number of layers of at least 1")
        if self.encoder not in encoder_names():
            raise InputError(f"encoder {self.encoder}: no such encoder; choose {', '.join(encoder_names())}")
        if self.cell_size is not None and (self.encoder != "lstm" or self.cell_size <= self.hidden_size):
            raise InputError(
                f"`cell_size` {self.cell_size}: it is for an LSTM with more cells than `hidden_size` ({self.hidden_size})"
            )
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout {self.dropout}: choose a number from 0 to less than 1")
        if self.tied and (self.embedding_size != self.hidden_size or self.embedding != self.output):
            raise InputError("tying needs embedding and output of the same kind and size; give both the same")
        if self.coded_bias and self.output != "coded":
            raise InputError("coded biases need coded output weights")
        if self.tune_codes and not self.is_coded:
            raise InputError(
                "`tune_codes`: the model has no codes to tune; choose one with coded weights, such as lstm-z-w"
            )
        self._check_tables()

    def _check_tables(self) -> None:
        """Raise InputError for settings of word tables that are missing, superfluous, or outside what is possible."""
        storages = {self.embedding, self.output}
        needed = {name for each in storages for name in _NEEDED.get(each, ())}
        allowed = needed | {name for each in storages for name in _ALLOWED.get(each, ())}
        for name in TABLE_SETTINGS:
            value = getattr(self, name)
            if value is None and name in needed:
                raise InputError(f"`{name}`: {' and '.join(sorted(storages))} word tables need it")
            if value is not None and name not in allowed:
                raise InputError(
                    f"`{name}` {value}: {' and '.join(sorted(storages))} word tables have none; leave it out"
                )
            if isinstance(value, int) and value < 1:
                raise InputError(f"`{name}` {value}: give 1 or more")
        widest = min(self.embedding_size, self.hidden_size)
        if self.rank is not None and self.rank >= widest:
            raise InputError(f"`rank` {self.rank}: choose less than the {widest} values of a row")
        if self.num_hashes is not None and self.num_hashes > MOST_HASHES:
            raise InputError(f"`num_hashes` {self.num_hashes}: choose at most {MOST_HASHES}")
        if self.band_words is not None and self.band_ranks is not None:
            if len(self.band_ranks) != len(self.band_words) + 1 or min(self.band_words, default=1) < 1:
                raise InputError(
                    "`band_words`: give the words of all bands but the last, and `band_ranks` of all bands"
                )
            if not 1 <= min(self.band_ranks) <= max(self.band_ranks) <= widest:
                raise InputError(f"`band_ranks`: choose from 1 to the {widest} values of a row")

    @property
    def num_cells(self) -> int:
        """Cells of the encoder: as many as its state h has values, unless `cell_size` says more."""
        return self.cell_size or self.hidden_size

    def state_size(self, letter: str) -> int:
        """The size of the state h, or of the cells c."""
        return self.num_cells if letter == "c" else self.hidden_size

    @property
    def layer_dropout(self) -> float:
        """Dropout between layers."""
        return self.dropout if self.num_layers > 1 else 0.0

    @property
    def is_coded(self) -> bool:
        """Whether the model needs sparse codes."""
        return "coded" in (self.embedding, self.output)

    def to_json(self) -> dict[str, Any]:
        """The settings for a JSON file; those of word tables only where they are given, as files were before there were any."""
        values = asdict(self)
        given = {name: values.pop(name) for name in TABLE_SETTINGS}
        return values | {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value is not None
        }

    @property
    def dense(self) -> "ModelSettings":
        """The settings of the same model with a row for every word."""
        without: dict[str, Any] = dict.fromkeys(TABLE_SETTINGS)
        return replace(self, embedding="dense", output="dense", coded_bias=False, tune_codes=False, **without)

    @property
    def is_plain(self) -> bool:
        """Whether embedding and output are dense or coded, which everything can run; other tables need PyTorch."""
        return {self.embedding, self.output} <= {"dense", "coded"}


VARIANTS: dict[str, ModelSettings] = {
    "lstm-s": ModelSettings("lstm-s", embedding="dense", output="dense", normaliser="one"),
    "lstm-z": ModelSettings("lstm-z", embedding="dense", output="dense"),
    "lstm-z-wb": ModelSettings("lstm-z-wb", coded_bias=True, tied=True),
    "lstm-z-w": ModelSettings("lstm-z-w", tied=True),
    "gru-z-w": ModelSettings("gru-z-w", encoder="gru", tied=True),
    "lbl5": ModelSettings("lbl5", embedding="dense", output="dense", encoder="log-bilinear", tied=True),
    "lbl5-w": ModelSettings("lbl5-w", encoder="log-bilinear", tied=True),
}


def settings_of(variant: str, **changes: Any) -> ModelSettings:
    """The settings of a variant by its name, with changes; raises InputError for an unknown name.

    A variant tied by default is untied if the changes give embedding and output different sizes.
    """
    if variant not in VARIANTS:
        raise InputError(f"{variant}: no such model; there are {', '.join(VARIANTS)}")
    settings = VARIANTS[variant]
    sizes = [changes.get(name, getattr(settings, name)) for name in ("embedding_size", "hidden_size")]
    if sizes[0] != sizes[1]:
        changes = {"tied": False, **changes}
    return replace(settings, **changes)
