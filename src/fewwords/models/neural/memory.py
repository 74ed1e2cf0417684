"""The numbers that a neural model stores (tables 1 and 4): parameters by part, and codes; with and without codes.

Table 1: Embedding VE, Encoding 4(CE + C^2 + C), Prediction V(C + 1). Coded: BE and BC, biases V or B, and for each
non-zero of a rare word's code an index and a value; base words code themselves and cost nothing. The codes are counted
once, because embedding and output share them. PyTorch's LSTM has a second bias vector, 4C more per layer, which is not
in the paper's formula: `Memory.total` counts what is there, `Memory.paper_total` as table 1 does.
"""

from torch import nn

from fewwords.errors import InputError
from fewwords.models.memory import Memory
from fewwords.models.neural.encoders import encoder_of
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.variants import ModelSettings, Storage
from fewwords.models.neural.word_tables import num_table_numbers


def network_memory(network: LanguageModel) -> Memory:
    """Count the modules of a network."""
    embedding, output = (_weights(layer) for layer in (network.embedding, network.output))
    shared = {id(parameter) for parameter in embedding}
    return Memory(
        embedding=sum(parameter.numel() for parameter in embedding),
        encoding=sum(parameter.numel() for parameter in network.encoder.parameters()),
        prediction=sum(parameter.numel() for parameter in output if id(parameter) not in shared),
        biases=network.output.bias.numel(),
        normaliser=sum(parameter.numel() for parameter in network.normaliser.parameters()),
        codes=0 if network.codes is None else 2 * network.codes.values.numel(),
        second_biases=encoder_of(network.settings.encoder).num_second_biases(network.settings),
    )


def _weights(layer: nn.Module) -> list[nn.Parameter]:
    """The parameters of a layer without biases and tuned codes."""
    named = layer.named_parameters()
    return [parameter for name, parameter in named if name != "bias" and not name.startswith("codes.")]


def settings_memory(settings: ModelSettings, num_words: int, num_base: int = 0, num_nonzeros: int = 0) -> Memory:
    """The memory of a model with these settings, from the formulae alone; coded ones need the size of the codes."""
    encoder, size = encoder_of(settings.encoder), settings.hidden_size
    return Memory(
        embedding=_num_weights(settings, settings.embedding, num_words, num_base, settings.embedding_size),
        encoding=encoder.num_numbers(settings),
        prediction=0 if settings.tied else _num_weights(settings, settings.output, num_words, num_base, size),
        biases=num_base if settings.coded_bias else num_words,
        normaliser={"one": 0, "constant": 1, "z-regression": size + 1}[settings.normaliser],
        codes=2 * num_nonzeros,
        second_biases=encoder.num_second_biases(settings),
    )


def _num_weights(settings: ModelSettings, storage: Storage, num_words: int, num_base: int, size: int) -> int:
    if storage in ("dense", "coded"):
        return (num_base if storage == "coded" else num_words) * size
    return num_table_numbers(settings, storage, num_words, size)


def uncompressed_memory(settings: ModelSettings, num_words: int) -> Memory:
    """The memory of the same model without codes."""
    return settings_memory(settings.dense, num_words)


def memory_reduction(
    vocabulary_size: int,
    num_base: int,
    nonzeros: float,
    *,
    embedding_size: int = 200,
    hidden_size: int = 200,
    coded_bias: bool = False,
) -> float:
    """Percent by which LSTM-z,w (with `coded_bias` LSTM-z,wb) is smaller than LSTM-z, by mean non-zeros per rare word.

    ZRegression, the LSTM and all biases count in both. With 7.8, 6.4, 6.5 and 6.6 non-zeros this is table 4 at V = 10k,
    22k, 36k and 50k to 0.01 points; without the LSTM the paper's figures would need 22 to 9.7, and it says 4 to 8.
    """
    if not 0 < num_base <= vocabulary_size:
        raise InputError(f"{num_base:,} base words of {vocabulary_size:,}: choose a base within the vocabulary")
    settings = ModelSettings(embedding_size=embedding_size, hidden_size=hidden_size, coded_bias=coded_bias)
    num_nonzeros = round(nonzeros * (vocabulary_size - num_base))
    coded = settings_memory(settings, vocabulary_size, num_base, num_nonzeros)
    return coded.reduction(uncompressed_memory(settings, vocabulary_size))
