"""Tables 1 and 4 of the paper against the modules."""

from pathlib import Path

import pytest

from fewwords.codes.controls import random_codes
from fewwords.errors import InputError
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.memory import memory_reduction, network_memory, settings_memory, uncompressed_memory
from fewwords.models.neural.variants import VARIANTS, settings_of

NUM_WORDS, BASE_SIZE, NONZEROS = 50, 12, 5
SHAPES = [
    {},
    {"num_layers": 2},
    {"boundary": "paper"},
    {"embedding_size": 6, "tied": True},
    {"normaliser": "constant"},
]
LOG_BILINEAR_SHAPES = [{}, {"boundary": "paper"}, {"embedding_size": 4, "tied": False}, {"context_size": 3}]
VARIANTS_AND_SHAPES = [
    (variant, changes)
    for variant, settings in VARIANTS.items()
    for changes in (LOG_BILINEAR_SHAPES if settings.encoder == "log-bilinear" else SHAPES)
] + [("lstm-z", {"cell_size": 9}), ("lstm-z-w", {"cell_size": 9, "num_layers": 2, "boundary": "paper"})]


def make_model(variant: str, **changes: object) -> LanguageModel:
    """A small model; LSTMs untied, as in the paper's tables, unless told otherwise."""
    tied = VARIANTS[variant].encoder == "log-bilinear"
    settings = settings_of(variant, **{"tied": tied, "embedding_size": 6 if tied else 4, "hidden_size": 6, **changes})
    codes = random_codes(NUM_WORDS, BASE_SIZE, NONZEROS, seed=0) if settings.is_coded else None
    return LanguageModel(settings, NUM_WORDS, codes)


@pytest.mark.parametrize(("variant", "changes"), VARIANTS_AND_SHAPES)
def test_counts_are_those_of_the_modules_and_of_table_1(variant: str, changes: dict[str, object]) -> None:
    model = make_model(variant, **changes)
    counted = network_memory(model)
    assert counted.parameters == sum(parameter.numel() for parameter in model.parameters())
    is_coded = model.settings.is_coded
    num_nonzeros = NONZEROS * (NUM_WORDS - BASE_SIZE) if is_coded else 0
    assert counted == settings_memory(model.settings, NUM_WORDS, BASE_SIZE, num_nonzeros)
    assert counted.codes == 2 * num_nonzeros
    dense = {"lstm-s": "lstm-s", "lbl5": "lbl5", "lbl5-w": "lbl5"}.get(variant, "lstm-z")
    same_encoder = {"encoder": model.settings.encoder, **changes}
    assert uncompressed_memory(model.settings, NUM_WORDS) == network_memory(make_model(dense, **same_encoder))


def test_table_1_to_the_letter() -> None:
    size, embedding_size = 6, 4
    memory = network_memory(make_model("lstm-z"))
    assert memory.embedding == NUM_WORDS * embedding_size
    assert memory.encoding - memory.second_biases == 4 * (size * embedding_size + size**2 + size)
    assert memory.prediction + memory.biases == NUM_WORDS * (size + 1)
    assert memory.total - memory.paper_total == memory.second_biases == 4 * size


def test_a_log_bilinear_model_has_a_matrix_and_a_padding_vector_for_each_context_word() -> None:
    size = 6
    dense, coded = (network_memory(make_model(variant)) for variant in ("lbl5", "lbl5-w"))
    assert (dense.embedding, coded.embedding) == (NUM_WORDS * size, BASE_SIZE * size)
    for memory in (dense, coded):
        assert memory.encoding == 5 * size * size + 5 * size
        assert (memory.prediction, memory.biases, memory.normaliser) == (0, NUM_WORDS, size + 1)
        assert memory.paper_total == memory.total


def test_tuned_codes_count_once() -> None:
    fixed, tuned = network_memory(make_model("lstm-z-w")), network_memory(make_model("lstm-z-w", tune_codes=True))
    assert tuned == fixed


# Table 4, with the non-zeros per rare word that its figures imply.
TABLE_4 = {
    10_000: (7.8, 17.76, 17.80),
    22_000: (6.4, 59.28, 59.44),
    36_000: (6.5, 73.42, 73.61),
    50_000: (6.6, 79.75, 79.95),
}


@pytest.mark.parametrize("vocabulary_size", TABLE_4)
def test_table_4(vocabulary_size: int) -> None:
    nonzeros, one_bias_a_word, coded_bias = TABLE_4[vocabulary_size]
    assert memory_reduction(vocabulary_size, 8_000, nonzeros) == pytest.approx(one_bias_a_word, abs=0.011)
    assert memory_reduction(vocabulary_size, 8_000, nonzeros, coded_bias=True) == pytest.approx(coded_bias, abs=0.011)


def test_reduction_of_a_model_is_that_of_the_arithmetic(tmp_path: Path) -> None:
    for variant, coded_bias in (("lstm-z-w", False), ("lstm-z-wb", True)):
        model = make_model(variant)
        expected = memory_reduction(
            NUM_WORDS, BASE_SIZE, NONZEROS, embedding_size=4, hidden_size=6, coded_bias=coded_bias
        )
        assert network_memory(model).reduction(uncompressed_memory(model.settings, NUM_WORDS)) == pytest.approx(
            expected
        )
    with pytest.raises(InputError, match="base within the vocabulary"):
        memory_reduction(100, 200, 5)
