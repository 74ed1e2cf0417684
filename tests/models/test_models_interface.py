"""The interface of all models: word by word, many states at once and whole sentences give the same probabilities."""

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from kneser_ney_oracle import make_part, make_vocabulary

from fewwords.codes.controls import random_codes
from fewwords.errors import InputError
from fewwords.models.kneser_ney import estimate
from fewwords.models.load import load, register
from fewwords.models.mixture.mixture import Mixture
from fewwords.models.model import Model
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import VARIANTS, settings_of
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.models.packed.model import PackedModel
from fewwords.vocabulary import END_ID
from packed_models import packed_model

SIZE = 14
VOCABULARY = make_vocabulary(SIZE)
TEXT = [[3, 4, 5, 3], [5, 4], [3, 4, 5, 6, 7, 13, 12], [8, 9, 10, 11, 3, 4], [0, 3, 4], [7]]
SENTENCES = [np.array(words, np.int64) for words in TEXT]


def neural(variant: str, **changes: object) -> NeuralModel:
    torch.manual_seed(3)
    settings = settings_of(variant, embedding_size=5, hidden_size=5, **changes)
    codes = random_codes(SIZE, 7, 2, seed=1) if settings.is_coded else None
    network = LanguageModel(settings, SIZE, codes).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.6)
    return NeuralModel(network, VOCABULARY, codes)


def packed(variant: str, bits: int, **changes: object) -> PackedModel:
    with TemporaryDirectory() as folder:
        return packed_model(neural(variant, **changes), Path(folder), bits)


def n_gram(order: int) -> Model:
    return estimate(make_part(TEXT, SIZE), order, vocabulary=VOCABULARY, discount_fallback=(0.5, 1, 1.5))


MODELS = {
    **{variant: lambda variant=variant: neural(variant) for variant in VARIANTS},
    "two layers": lambda: neural("lstm-z-w", num_layers=2, dropout=0.5),
    "more cells": lambda: neural("lstm-z-w", cell_size=24),
    "paper's boundary": lambda: neural("lstm-z", boundary="paper"),
    "paper's boundary, gru": lambda: neural("gru-z-w", boundary="paper"),
    "paper's boundary, log-bilinear": lambda: neural("lbl5", boundary="paper"),
    "packed": lambda: packed("lstm-z-w", 4),
    "packed, two layers": lambda: packed("gru-z-w", 8, num_layers=2),
    "packed, paper's boundary": lambda: packed("lbl5", 8, boundary="paper"),
    **{f"kn{order}": lambda order=order: n_gram(order) for order in (1, 2, 3, 4)},
    "mix": lambda: Mixture((neural("lstm-z-w"), n_gram(3)), (0.7, 0.3), VOCABULARY),
    "mix of a mix": lambda: Mixture(
        (n_gram(2), Mixture((neural("gru-z-w"), n_gram(1)), (0.5, 0.5), VOCABULARY)), (0.2, 0.8), VOCABULARY
    ),
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Model:
    return MODELS[request.param]()


def word_by_word(model: Model, sentence: np.ndarray) -> list[float]:
    state = model.start()
    found = []
    for word in sentence.tolist():
        found.append(float(model.log_probs(state)[word]))
        state = model.feed(state, word)
    return [*found, *([float(model.log_probs(state)[END_ID])] if model.predicts_end else [])]


def test_word_by_word_gives_the_scores_of_sentences(model: Model) -> None:
    for sentence, (_, scores) in zip(SENTENCES, model.score_sentences(SENTENCES), strict=True):
        np.testing.assert_allclose(word_by_word(model, sentence), scores, atol=2e-5)


def test_the_next_word_is_a_probability_distribution(model: Model) -> None:
    state = model.start()
    for word in TEXT[3]:
        log_probs = model.log_probs(state)
        assert log_probs.shape == (SIZE,)
        assert np.exp(log_probs.astype(np.float64)).sum() == pytest.approx(1, abs=2e-5)
        state = model.feed(state, word)


def test_many_states_at_once_are_the_same_as_one_by_one(model: Model) -> None:
    states = [model.start()]
    for word in (4, 9, 13):
        states.append(model.feed(states[-1], word))
    words = [5, 0, 12, 7]
    together = model.log_probs_all(model.feed_all(states, words))
    alone = [model.log_probs(model.feed(state, word)) for state, word in zip(states, words)]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert model.feed_all([], []) == []
    assert model.log_probs_all([]).shape == (0, SIZE)


def test_many_words_at_once_are_the_same_as_one_by_one(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("neural", "packed"):
        monkeypatch.setattr(f"fewwords.models.{kind}.model.BATCH_WORDS", 3)
    words = [3, 4, 5, 6, 7, 13, 12, 3]
    state = model.start()
    for word in words:
        state = model.feed(state, word)
    found = model.read(model.start(), words)
    np.testing.assert_allclose(model.log_probs(found), model.log_probs(state), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(model.log_probs(model.read(state, [])), model.log_probs(state))


def test_only_the_last_words_decide_the_state(model: Model) -> None:
    most = model.context_words
    if most is None:
        assert not np.allclose(*(model.log_probs(model.read(model.start(), [word, *[5] * 3])) for word in (3, 4)))
        return
    words = [3, 4, 5, 6, 7, 8][:most]
    after = (model.log_probs(model.read(model.start(), [*before, *words])) for before in ([], [9, 10], [3]))
    first, *others = after
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-6)


def test_word_vectors_are_what_the_model_reads(model: Model) -> None:
    ids = np.array([3, 13, 0, 3])
    for part in model.parts:
        rows = part.word_vectors(ids)
        if isinstance(part, (NeuralModel, PackedModel)):
            torch_model = in_pytorch(part) if isinstance(part, PackedModel) else part
            table = torch_model.network.embedding_table.detach().numpy()
            dense = table if len(table) == SIZE else part.codes.to_csr() @ table  # type: ignore[union-attr]
            np.testing.assert_allclose(rows, dense[ids], rtol=1e-5)
        else:
            assert rows is None


def test_a_state_is_a_value(model: Model) -> None:
    state = model.feed(model.start(), 5)
    before = model.log_probs(state).copy()
    twin = copy.deepcopy(state)
    for word in (3, 4):
        model.feed(state, word)
    np.testing.assert_array_equal(model.log_probs(state), before)
    np.testing.assert_array_equal(model.log_probs(twin), before)


def test_threads_share_a_model(model: Model) -> None:
    expected = [word_by_word(model, sentence) for sentence in SENTENCES]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda sentence: word_by_word(model, sentence), SENTENCES * 5))
    assert found == expected * 5


def test_ids_outside_the_vocabulary_are_refused(model: Model) -> None:
    for word in (SIZE, -1):
        with pytest.raises(InputError, match="14 words"):
            model.feed(model.start(), word)


def test_every_model_says_what_it_is(model: Model) -> None:
    assert model.num_words == SIZE
    assert model.num_numbers > 0
    assert model.variant
    if model.memory is not None and model.uncompressed_memory is not None:
        assert model.memory.total == model.num_numbers
        assert (model.memory.total < model.uncompressed_memory.total) or model.codes is None or SIZE < 20


def test_a_gru_step_is_that_of_its_equations() -> None:
    model = neural("gru-z-w")
    gru = model.network.encoder.gru
    h = torch.zeros(5)
    for word in (1, 5, 9):  # <s> comes first
        x = model.network.embedding(torch.tensor([word]))[0]
        from_x = gru.weight_ih_l0 @ x + gru.bias_ih_l0
        from_h = gru.weight_hh_l0 @ h + gru.bias_hh_l0
        reset = torch.sigmoid(from_x[:5] + from_h[:5])
        update = torch.sigmoid(from_x[5:10] + from_h[5:10])
        new = torch.tanh(from_x[10:] + reset * from_h[10:])
        h = (1 - update) * new + update * h
    state = model.feed(model.feed(model.start(), 5), 9)
    torch.testing.assert_close(state[0][-1, 0], h.detach())


def test_a_new_kind_of_model_registers_itself(tmp_path: Path) -> None:
    save_neural(tmp_path, neural("lstm-s"), "")
    facts = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps({**facts, "format": "of a test"}))
    with pytest.raises(InputError, match="this version can read"):
        load(tmp_path)
    register("of a test")(lambda folder, device: n_gram(2))
    assert load(tmp_path).variant == "kn2"
