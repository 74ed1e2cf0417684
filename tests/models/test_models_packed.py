"""A model without PyTorch gives the answers of PyTorch's model with the same numbers."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from fewwords.errors import InputError
from fewwords.models.load import load
from fewwords.models.model import Model
from fewwords.models.neural.folder import save_neural
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.models.packed.model import PackedModel
from fewwords.runtime import load as load_runtime
from packed_models import DIGITS, make_neural, packed_model

VARIANTS = {
    "lstm-z-w": {},
    "lstm-z-w untied": {"tied": False},
    "lstm-z-w sizes": {"hidden_size": 7, "embedding_size": 12},
    "lstm-z-wb": {"num_layers": 2},
    "lstm-z-w cells": {"cell_size": 17, "num_layers": 2, "boundary": "paper"},
    "lstm-z": {"boundary": "paper"},
    "lstm-z tied": {"tied": True},
    "lstm-s coded output": {"output": "coded"},
    "gru-z-w": {"num_layers": 2},
    "gru-z-w start": {"boundary": "paper"},
    "lbl5": {},
    "lbl5-w": {"context_size": 3, "boundary": "paper"},
}
TEXT = [[5, 40, 9, 59], [3], [20, 21, 22, 23, 24, 3, 4], [0, 41, 41], []]
SENTENCES = [np.array(words, np.int64) for words in TEXT]


def assert_same_answers(model: Model, torch_model: Model, tolerance: float) -> None:
    for words in TEXT:
        state, expected_state = model.start(), torch_model.start()
        for word in words:
            state, expected_state = model.feed(state, word), torch_model.feed(expected_state, word)
        found, expected = model.log_probs(state), torch_model.log_probs(expected_state)
        np.testing.assert_allclose(found, expected, atol=tolerance)
        assert np.argsort(-found)[:5].tolist() == np.argsort(-expected)[:5].tolist()
    for (_, found), (_, expected) in zip(model.score_sentences(SENTENCES), torch_model.score_sentences(SENTENCES)):
        np.testing.assert_allclose(found, expected, atol=tolerance)


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("bits", [8, 4])
def test_a_packed_model_is_pytorchs_of_the_same_numbers(name: str, bits: int, tmp_path: Path) -> None:
    packed = packed_model(make_neural(name.split()[0], **VARIANTS[name]), tmp_path, bits)
    assert_same_answers(packed, in_pytorch(packed), 2e-5)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_folder_without_pytorch_is_the_same_model(name: str, tmp_path: Path) -> None:
    model = make_neural(name.split()[0], **VARIANTS[name])
    save_neural(tmp_path, model, "")
    found = load(tmp_path, "numpy")
    assert isinstance(found, PackedModel)
    assert_same_answers(found, model, 2e-5)
    assert (found.memory, found.uncompressed_memory) == (model.memory, model.uncompressed_memory)
    assert found.vocabulary.counts.tolist() == model.vocabulary.counts.tolist()
    assert found.made_from == model.made_from


@pytest.mark.parametrize(("bits", "most"), [(8, 0.02), (4, 0.35)])
def test_packing_changes_little(bits: int, most: float, tmp_path: Path) -> None:
    model = make_neural("lstm-z-w", size=40)
    packed = packed_model(model, tmp_path, bits)
    before, after = (found.log_probs(found.feed(found.start(), 41)) for found in (model, packed))
    assert 0 < np.abs(before - after).mean() < most


def test_a_packed_file_has_all_that_a_model_needs(tmp_path: Path) -> None:
    model = make_neural("lstm-z-w")
    packed = packed_model(model, tmp_path, 8)
    assert packed.vocabulary.words == model.vocabulary.words
    assert packed.vocabulary.fingerprint == model.vocabulary.fingerprint
    assert packed.vocabulary.alphabetical.tolist() == model.vocabulary.alphabetical.tolist()
    assert packed.rules == model.rules
    assert (packed.variant, packed.predicts_end) == ("lstm-z-w", True)
    assert packed.facts["card"] == "# A card\n"
    assert packed.facts["size"] == (tmp_path / "model.few").stat().st_size
    assert packed.made_from["result"] == {"words": 5}
    assert packed.memory.parameters == model.memory.parameters - model.memory.normaliser
    assert packed.codes is not None
    assert model.codes is not None
    assert packed.codes.indices.tolist() == model.codes.indices.tolist()
    assert packed.codes.offsets.tolist() == model.codes.offsets.tolist()
    np.testing.assert_allclose(packed.codes.values, model.codes.values, rtol=0.1)
    assert isinstance(load(tmp_path / "model.few", "cpu"), PackedModel)


def test_codes_of_different_lengths(tmp_path: Path) -> None:
    model = make_neural("lstm-z-w", tune_codes=True)
    assert model.network.codes is not None
    model.network.codes.values.data.abs_()
    model.network.codes.values.data[[0, 2, 5, 6, 7]] = 0
    packed = packed_model(model, tmp_path, 8)
    assert packed.codes is not None
    assert np.unique(np.diff(packed.codes.offsets)).tolist() == [1, 2, 3]
    assert_same_answers(packed, in_pytorch(packed), 2e-5)


def test_other_readers_open_a_packed_file(tmp_path: Path) -> None:
    packed_model(make_neural("lstm-z-w"), tmp_path, 4)
    with safe_open(tmp_path / "model.few", framework="numpy") as file:
        metadata = file.metadata()
        assert metadata["format"] == "fewwords packed 1"
        assert json.loads(metadata["layout"])["num_words"] == 60
        assert file.get_tensor("embedding.levels").shape == (11, 10)  # two rows in each
        assert (tmp_path / "model.few").read_bytes()[DIGITS].decode() == metadata["sha256"]


def test_an_array_as_the_document_tells_it(tmp_path: Path) -> None:
    """The embedding of a 4-bit file and the first codes, worked out from the bytes by the words of docs/format.md."""
    packed = packed_model(make_neural("lstm-z-w", size=80), tmp_path, 4)
    with safe_open(tmp_path / "model.few", framework="numpy") as file:
        parts = json.loads(file.metadata()["layout"])["parts"]
        facts, levels = parts["embedding"], file.get_tensor("embedding.levels")
        bits = "".join(f"{byte:08b}"[::-1] for byte in file.get_tensor("embedding.scales").tolist())
        low = "".join(f"{byte:08b}"[::-1] for byte in file.get_tensor("codes.low").tolist())
        high = "".join(f"{byte:08b}"[::-1] for byte in file.get_tensor("codes.high").tolist())
    assert facts["groups"] == 2
    half = len(levels)
    for row, column in ((0, 0), (10, 79), (11, 3), (20, 40), (5, 39)):
        nibble = int(levels[row % half, column]) >> (4 if row >= half else 0) & 15
        place = (row * 2 + column // 40) * facts["scale_bits"]
        step = int(bits[place : place + facts["scale_bits"]][::-1], 2)
        value = (nibble - 8) * 2 ** ((facts["lowest"] + step) / 8)
        assert packed.network.embedding.rows(np.array([row]))[0, column] == pytest.approx(value, rel=1e-6)
    width, unary = parts["codes"]["low_bits"], high.split("1")
    gaps = [(len(unary[i]) << width) + int(low[i * width : (i + 1) * width][::-1], 2) for i in range(6)]
    assert packed.codes is not None
    for word in range(2):
        first, second, third = gaps[3 * word : 3 * word + 3]
        expected = [first, first + 1 + second, first + 2 + second + third]
        assert packed.codes.row(21 + word)[0].tolist() == expected


def test_the_runtime_is_for_neural_models(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such model"):
        load_runtime(tmp_path / "nothing")
    (tmp_path / "text.few").write_text("This is not a model.\n" * 40)
    with pytest.raises(InputError, match=r"text\.few: not a packed model"):
        load_runtime(tmp_path / "text.few")
