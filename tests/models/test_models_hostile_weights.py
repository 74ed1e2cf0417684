"""Weights and codes behind a correct hash are not trusted: no NaN, no other type, nothing that would overflow."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from fewwords.codes import random_codes
from fewwords.errors import InputError
from fewwords.models.load import load
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.store.files import sha256_of
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary

NUM_WORDS = 25
VOCABULARY = Vocabulary([*SPECIAL_WORDS, *(f"w{i}" for i in range(22))], np.arange(NUM_WORDS, 0, -1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = settings_of("lstm-z-w", embedding_size=4, hidden_size=4)
    codes = random_codes(NUM_WORDS, 12, 3, seed=5)
    save_neural(tmp_path, NeuralModel(LanguageModel(settings, NUM_WORDS, codes), VOCABULARY, codes), "")
    return tmp_path


def reseal(folder: Path) -> None:
    facts = json.loads((folder / "model.json").read_text())
    facts["sha256"] = {name: sha256_of(folder / name) for name in facts["sha256"]}
    (folder / "model.json").write_text(json.dumps(facts))


@pytest.mark.parametrize("device", ["cpu", "numpy"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e38, 1e5])
def test_a_weight_that_spoils_all_answers_is_refused(folder: Path, device: str, value: float) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors["output.bias"][7] = value
    save_file(tensors, folder / "model.safetensors")
    reseal(folder)
    with pytest.raises(InputError, match=r"model\.safetensors: .*output\.bias has a weight"):
        load(folder, device)


@pytest.mark.parametrize("device", ["cpu", "numpy"])
@pytest.mark.parametrize("kind", [torch.int32, torch.float64, torch.bfloat16])
def test_weights_of_another_type_are_refused(folder: Path, device: str, kind: torch.dtype) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file({**tensors, "embedding.base": tensors["embedding.base"].to(kind)}, folder / "model.safetensors")
    reseal(folder)
    with pytest.raises(InputError, match=r"model\.safetensors: embedding\.base is \w+, not F32"):
        load(folder, device)


@pytest.mark.parametrize("device", ["cpu", "numpy"])
def test_large_weights_that_are_accepted_give_probabilities(folder: Path, device: str) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file({name: 9e3 * tensor.sign() for name, tensor in tensors.items()}, folder / "model.safetensors")
    reseal(folder)
    model = load(folder, device)
    log_probs = model.log_probs_all([model.start()])
    assert not np.isnan(log_probs).any()
    assert log_probs.max() <= 1e-6


@pytest.mark.parametrize("device", ["cpu", "numpy"])
def test_endless_layers_are_refused_before_they_are_made(folder: Path, device: str) -> None:
    facts = json.loads((folder / "model.json").read_text())
    facts["settings"]["num_layers"] = 10**12
    (folder / "model.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match="does not fit model"):
        load(folder, device)
