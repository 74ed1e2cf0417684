"""Models with word tables: settings, saved and loaded, counted, trained, and refused where only dense and coded words run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fewwords.errors import InputError
from fewwords.models.load import load
from fewwords.models.neural.folder import load_neural, save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.memory import network_memory, settings_memory, uncompressed_memory
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import ModelSettings, settings_of
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary

NUM_WORDS, SIZE = 30, 6
# storage, its settings, and the numbers of a table of rows of 6 values
TABLES: dict[str, tuple[str, dict[str, Any], int]] = {
    "low-rank": ("low-rank", {"rank": 2}, 30 * 2 + 2 * 6),
    "hashed": ("hashed", {"num_buckets": 7}, 7 * 6 + 30 * 2),
    "three hashes": ("hashed", {"num_buckets": 7, "num_hashes": 3}, 7 * 6 + 30 * 3),
    "product": ("quotient", {"num_buckets": 7}, 7 * 6 + 5 * 6),
    "sum": ("quotient", {"num_buckets": 7, "combination": "sum"}, 7 * 6 + 5 * 6),
    "adaptive": ("adaptive", {"band_words": (5, 10), "band_ranks": (6, 3, 1)}, 5 * 6 + 10 * 3 + 3 * 6 + 15 + 6),
}


def settings_for(kind: str, **changes: Any) -> ModelSettings:
    storage, needed, _ = TABLES[kind]
    sizes = {"embedding_size": SIZE, "hidden_size": SIZE}
    return settings_of("lstm-z", **{**sizes, "embedding": storage, "output": storage, **needed, **changes})


def make_model(settings: ModelSettings) -> NeuralModel:
    torch.manual_seed(2)
    words = [*SPECIAL_WORDS, *(f"w{rank}" for rank in range(NUM_WORDS - 3))]
    network = LanguageModel(settings, NUM_WORDS).eval()
    return NeuralModel(network, Vocabulary(words, np.arange(NUM_WORDS, 0, -1)), made_from={"result": {"words": 5}})


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", TABLES)
def test_numbers_are_counted(kind: str, tied: bool) -> None:
    settings, numbers = settings_for(kind, tied=tied), TABLES[kind][2]
    memory = network_memory(make_model(settings).network)
    assert (memory.embedding, memory.prediction, memory.biases) == (numbers, 0 if tied else numbers, NUM_WORDS)
    assert memory == settings_memory(settings, NUM_WORDS)
    assert uncompressed_memory(settings, NUM_WORDS).embedding == NUM_WORDS * SIZE


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", TABLES)
def test_saved_and_loaded_to_the_bit(kind: str, tied: bool, tmp_path: Path) -> None:
    model = make_model(settings_for(kind, tied=tied))
    save_neural(tmp_path, model, "")
    again = load_neural(tmp_path)
    assert isinstance(again, NeuralModel)
    assert again.network.settings == model.network.settings
    state = again.network.state_dict()
    assert state.keys() == model.network.state_dict().keys()
    for name, tensor in model.network.state_dict().items():
        assert torch.equal(tensor, state[name]), name
    sentences = np.array([[5, 9, 29], [3, 3, 8]])
    assert np.array_equal(again.target_log_probs(sentences), model.target_log_probs(sentences))
    states = [model.start()]
    assert np.exp(model.log_probs_all(states)).sum() == pytest.approx(1, abs=1e-5)


def test_mixed_storages_are_possible(tmp_path: Path) -> None:
    settings = settings_for("low-rank", embedding="dense")
    model = make_model(settings)
    assert network_memory(model.network) == settings_memory(settings, NUM_WORDS)
    save_neural(tmp_path, model, "")
    assert torch.equal(
        load_neural(tmp_path).network.output.table.factors,  # type: ignore[union-attr]
        model.network.output.table.factors,  # type: ignore[union-attr]
    )


def test_folders_of_other_models_say_nothing_of_tables(tmp_path: Path) -> None:
    settings = settings_of("lstm-z", embedding_size=SIZE, hidden_size=SIZE)
    save_neural(tmp_path, make_model(settings), "")
    written = json.loads((tmp_path / "model.json").read_text())["settings"]
    assert not {"rank", "num_buckets", "num_hashes", "combination", "band_words", "band_ranks"} & written.keys()


@pytest.mark.parametrize("kind", TABLES)
def test_numpy_refuses_word_tables_by_name(kind: str, tmp_path: Path) -> None:
    save_neural(tmp_path, make_model(settings_for(kind)), "")
    with pytest.raises(InputError, match="word tables run with PyTorch only"):
        load(tmp_path, "numpy")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rank": None}, "`rank`: low-rank word tables need it"),
        ({"rank": 0}, "`rank` 0: give 1 or more"),
        ({"rank": 6}, "`rank` 6: choose less than the 6"),
        ({"num_buckets": 5}, "`num_buckets` 5: low-rank word tables have none"),
        ({"embedding": "dense", "output": "dense"}, "`rank` 2: dense word tables have none"),
        ({"embedding": "dense", "tied": True}, "tying needs"),
        ({"embedding": "hashed", "output": "hashed", "rank": None}, "`num_buckets`: hashed word tables need it"),
        (
            {"embedding": "hashed", "output": "hashed", "rank": None, "num_buckets": 5, "num_hashes": 9},
            "`num_hashes` 9: choose at most 4",
        ),
        (
            {"embedding": "quotient", "output": "quotient", "rank": None, "num_buckets": 5, "combination": "xor"},
            "`combination` 'xor': choose one of product, sum",
        ),
        ({"embedding": "adaptive", "output": "adaptive", "rank": None, "band_words": (5,)}, "`band_ranks`"),
        (
            {
                "embedding": "adaptive",
                "output": "adaptive",
                "rank": None,
                "band_words": (5,),
                "band_ranks": (6, 3, 1),
            },
            "`band_words`: give the words of all bands but the last",
        ),
    ],
)
def test_settings_are_checked(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        settings_for("low-rank", **changes)


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("hashed", {"num_buckets": 30}, "choose fewer than the 30 words"),
        ("adaptive", {"band_words": (20, 10)}, "choose fewer than the 30 words"),
    ],
)
def test_tables_larger_than_the_vocabulary_are_refused(kind: str, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make_model(settings_for(kind, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"num_buckets": 1 << 60},
        {"num_buckets": 30},
        {"num_buckets": 8},
        {"embedding_size": 1 << 60, "hidden_size": 1 << 60},
        {"band_words": [1 << 60], "band_ranks": [6, 6]},
        {"num_hashes": 3},
    ],
)
def test_hostile_settings_are_refused_by_the_name_of_their_file(changes: dict[str, Any], tmp_path: Path) -> None:
    save_neural(tmp_path, make_model(settings_for("hashed", tied=True)), "")
    facts = json.loads((tmp_path / "model.json").read_text())
    facts["settings"].update(changes)
    (tmp_path / "model.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match=r"model\.(json|safetensors): "):
        load(tmp_path)
