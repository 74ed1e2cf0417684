"""What a model costs in numbers (paper tables 1 and 4): parameters by part, values of the codes, against the dense twin.

Table 1: Embedding VE, Encoding 4(CE + C^2 + C), Prediction V(C + 1). Coded: BE and BC, biases V or B, and for each non-zero
of a rare word's code an index and a value; base words code themselves and cost nothing. The codes are counted once,
because embedding and output share them. PyTorch's LSTM has a second bias vector, 4C more a layer, which the paper's
formula has not: `Memory.total` counts what is there, `Memory.paper_total` as table 1 does.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from fewwords.errors import InputError
from fewwords.layers.output import CodedOutput
from fewwords.models.mixture.mixture import Mixture
from fewwords.models.model_folder import AnyModel
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.variants import ModelSettings
from fewwords.models.sealed_folder import sealed_files


@dataclass(frozen=True)
class Memory:
    """Numbers that a model stores, by part; `codes` are indices and values together, tuned or not."""

    embedding: int
    encoding: int  # the LSTM, with a learned state to start from if there is one, or the log-bilinear model's matrices
    prediction: int  # output weights; 0 where they are the embedding's
    biases: int
    normaliser: int
    codes: int
    second_biases: int  # of the LSTM, contained in `encoding`

    @property
    def parameters(self) -> int:
        """All parameters, without the codes."""
        return self.embedding + self.encoding + self.prediction + self.biases + self.normaliser

    @property
    def total(self) -> int:
        """Parameters and codes."""
        return self.parameters + self.codes

    @property
    def paper_total(self) -> int:
        """Parameters and codes with one bias vector in the LSTM, as in table 1."""
        return self.total - self.second_biases

    def reduction(self, dense: "Memory") -> float:
        """How many percent smaller than another model, as table 4 tells it."""
        return 100 * (1 - self.paper_total / dense.paper_total)

    def to_json(self) -> dict[str, int]:
        """The parts and their sums."""
        parts = {name: getattr(self, name) for name in ("embedding", "encoding", "prediction", "biases", "normaliser")}
        totals = {
            "parameters": self.parameters,
            "codes": self.codes,
            "total": self.total,
            "paper_total": self.paper_total,
        }
        return parts | totals


def model_memory(model: LanguageModel) -> Memory:
    """Count the modules of a model."""
    output_table = model.output.base if isinstance(model.output, CodedOutput) else model.output.weight
    encoder = dict(model.encoder.named_parameters())
    return Memory(
        embedding=model.embedding_table.numel(),
        encoding=sum(parameter.numel() for parameter in encoder.values()),
        prediction=0 if output_table is model.embedding_table else output_table.numel(),
        biases=model.output.bias.numel(),
        normaliser=sum(parameter.numel() for parameter in model.normaliser.parameters()),
        codes=0 if model.codes is None else 2 * model.codes.values.numel(),
        second_biases=sum(bias.numel() for name, bias in encoder.items() if name.startswith("lstm.bias_hh")),
    )


def stored_numbers(model: AnyModel) -> int:
    """All numbers that a model of any kind stores, indices included; a mixture stores its components' and its weights."""
    if isinstance(model, LanguageModel):
        return model_memory(model).total
    if isinstance(model, Mixture):
        return sum(map(stored_numbers, model.components)) + len(model.weights)
    return model.size.num_numbers


def settings_memory(settings: ModelSettings, num_words: int, num_base: int = 0, num_nonzeros: int = 0) -> Memory:
    """What a model of such settings would count, from table 1's formulae alone; coded ones need the size of the codes."""
    size, layers = settings.hidden_size, settings.num_layers
    if settings.encoder == "lstm":
        inputs = [settings.embedding_size, *[size] * (layers - 1)]
        start = 2 * layers * size if settings.boundary == "paper" else 0
        encoding, second_biases = (
            sum(4 * (size * wide + size**2 + 2 * size) for wide in inputs) + start,
            4 * size * layers,
        )
    else:
        encoding, second_biases = settings.context_size * settings.embedding_size * (size + 1), 0
    return Memory(
        embedding=(num_base if settings.embedding == "coded" else num_words) * settings.embedding_size,
        encoding=encoding,
        prediction=0 if settings.tied else (num_base if settings.output == "coded" else num_words) * size,
        biases=num_base if settings.coded_bias else num_words,
        normaliser={"one": 0, "constant": 1, "z-regression": size + 1}[settings.normaliser],
        codes=2 * num_nonzeros,
        second_biases=second_biases,
    )


def dense_twin(settings: ModelSettings, num_words: int) -> Memory:
    """What the same model without codes would count."""
    dense = replace(settings, embedding="dense", output="dense", coded_bias=False, tune_codes=False)
    return settings_memory(dense, num_words)


def memory_reduction(
    vocabulary_size: int,
    num_base: int,
    nonzeros: float,
    *,
    embedding_size: int = 200,
    hidden_size: int = 200,
    coded_bias: bool = False,
) -> float:
    """Percent by which LSTM-z,w (with `coded_bias` LSTM-z,wb) is smaller than LSTM-z, for a mean of non-zeros a rare word.

    ZRegression, the LSTM and all biases count in both. With 7.8, 6.4, 6.5 and 6.6 non-zeros this is table 4 at V = 10k, 22k, 36k
    and 50k to 0.01 points; without the LSTM the paper's figures would need 22 to 9.7, and it says 4 to 8.
    """
    if not 0 < num_base <= vocabulary_size:
        raise InputError(f"{num_base:,} base words of {vocabulary_size:,}: choose a base within the vocabulary")
    settings = ModelSettings(embedding_size=embedding_size, hidden_size=hidden_size, coded_bias=coded_bias)
    num_nonzeros = round(nonzeros * (vocabulary_size - num_base))
    coded = settings_memory(settings, vocabulary_size, num_base, num_nonzeros)
    return coded.reduction(dense_twin(settings, vocabulary_size))


def folder_bytes(folder: str | Path) -> dict[str, int]:
    """The size of each file of a model folder; what else lies there (a checkpoint, a log) is not the model."""
    folder = Path(folder)
    return {name: (folder / name).stat().st_size for name in sealed_files(folder)}
