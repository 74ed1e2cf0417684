"""Where a model starts, what it refuses before it starts, and the count of its memory."""

import itertools
import math

import numpy as np
import pytest
import torch

from fewwords.codes import random_codes
from fewwords.corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.memory import settings_memory
from fewwords.models.neural.variants import settings_of
from fewwords.training import memory_check
from fewwords.training.objective import make_objective
from fewwords.training.settings import TrainingSettings
from fewwords.training.start import (
    NEVER_PREDICTED_BIAS,
    Materials,
    choose_start,
    codes_path,
    gather_materials,
    start_biases,
    start_model,
)
from fewwords.vectors import WordVectors
from fewwords.vocabulary import END_ID, NUM_SPECIAL, SPECIAL_WORDS, START_ID, Vocabulary

SMALL = {"embedding_size": 8, "hidden_size": 6}
TIED = {"embedding_size": 6, "hidden_size": 6}
NUM_WORDS, NUM_BASE = 40, 20


@pytest.fixture
def vocabulary():
    counts = np.maximum(0, 100 - 3 * np.arange(NUM_WORDS)).astype(np.int64)
    return Vocabulary(["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(NUM_WORDS - 3))], counts)


def materials(work, variant="lstm-z-w", vocabulary_size=23, base_size=12, settings=None, codes_file=None, **changes):
    return gather_materials(
        work,
        settings_of(variant, **{**SMALL, **changes}),
        settings or TrainingSettings(),
        vocabulary_size=vocabulary_size,
        base_size=base_size,
        codes_file=codes_file,
    )


def test_the_embedding_starts_from_vectors_that_fit_and_at_random_elsewhere(work, tmp_path):
    (tmp_path / "corpus").symlink_to(work / "corpus")
    vocabulary = TokenCorpus.open(work).vocabulary()
    values = np.ones((len(vocabulary), 8), np.float32)
    values[:NUM_SPECIAL] = 0

    def start(size=8, vocabulary_size=23, **changes):
        model = settings_of("lstm-z", embedding_size=size)
        return choose_start(tmp_path, model, TrainingSettings(**changes), vocabulary_size).embedding_start

    assert start() == "random"  # no vectors at all
    WordVectors(values, values.any(axis=1), vocabulary.fingerprint).save(tmp_path)
    assert start() == "vectors"
    assert start(size=9) == "random"
    assert start(vocabulary_size=len(vocabulary) + 1) == "random"
    assert start(embedding_start="random") == "random"
    assert start(size=9, embedding_start="vectors") == "vectors"  # asked for: refused later, with the remedy


def fitted_rows(work, folder, variant="lstm-z", size=4, **changes):
    """The unit vectors [23, 6] of a work folder, and the rows that a model of another size starts with."""
    (folder / "corpus").symlink_to(work / "corpus")
    whole = TokenCorpus.open(work).vocabulary()
    values = np.random.default_rng(5).normal(size=(len(whole), 6)).astype(np.float32)
    values[:NUM_SPECIAL] = 0
    WordVectors(values, values.any(axis=1), whole.fingerprint).save(folder)
    settings = TrainingSettings(embedding_start="fitted")
    sizes = {"embedding_size": size, "hidden_size": size}
    found = materials(folder, variant, settings=settings, **sizes, **changes)
    model = start_model(found, settings_of(variant, **sizes, **changes), settings)
    return values, model.embedding.vectors(torch.arange(len(whole))).detach()


def test_longer_vectors_are_fitted_by_their_leading_directions(work, tmp_path):
    values, rows = fitted_rows(work, tmp_path)
    left, lengths, _ = np.linalg.svd(values[NUM_SPECIAL:], full_matrices=False)
    wanted = left[:, :4] * lengths[:4]
    wanted *= 0.05 / math.sqrt(3) * 2 / np.linalg.norm(wanted, axis=1, keepdims=True)
    found = rows[NUM_SPECIAL:].numpy()
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-6)  # the same but for the signs of columns


def test_shorter_vectors_are_fitted_with_random_values_behind_them(work, tmp_path):
    values, rows = fitted_rows(work, tmp_path, size=9)
    cosines = torch.nn.functional.cosine_similarity(rows[NUM_SPECIAL:, :6], torch.from_numpy(values[NUM_SPECIAL:]))
    assert cosines.min() > 0.9999
    torch.testing.assert_close(rows[NUM_SPECIAL:].norm(dim=1), torch.full((20,), 0.05 / math.sqrt(3) * 3))


def test_a_word_table_is_fitted_to_the_vectors(work, tmp_path):
    values, rows = fitted_rows(work, tmp_path, size=6, embedding="low-rank", output="low-rank", rank=5)
    cosines = torch.nn.functional.cosine_similarity(rows[NUM_SPECIAL:], torch.from_numpy(values[NUM_SPECIAL:]))
    assert cosines.mean() > 0.85  # five of six directions


def test_unigram_biases_are_the_unigram_distribution(vocabulary):
    biases = start_biases(vocabulary, settings_of("lstm-z"), "unigram").double()
    assert biases.isfinite().all()
    counts = np.maximum(vocabulary.counts, 1).astype(float)
    counts[START_ID] = 0
    torch.testing.assert_close(biases.softmax(0), torch.from_numpy(counts / counts.sum()), rtol=1e-5, atol=1e-9)
    assert biases[START_ID] == NEVER_PREDICTED_BIAS


def test_other_starts_and_the_paper_boundary(vocabulary):
    paper = settings_of("lstm-z", boundary="paper")
    uniform = start_biases(vocabulary, paper, "uniform")
    assert uniform[[START_ID, END_ID]].tolist() == [NEVER_PREDICTED_BIAS] * 2
    assert uniform[NUM_SPECIAL:].tolist() == pytest.approx([-math.log(NUM_WORDS)] * (NUM_WORDS - 3))
    assert start_biases(vocabulary, paper, "zero")[NUM_SPECIAL:].abs().max() == 0


def test_noise_never_draws_what_is_never_predicted(vocabulary):
    for boundary, never in (("end", {START_ID}), ("paper", {START_ID, END_ID})):
        objective = make_objective(TrainingSettings(), settings_of("lstm-z", boundary=boundary), vocabulary)
        log_prob = objective.noise.log_prob
        assert set(torch.nonzero(log_prob.isinf()).view(-1).tolist()) == never


@pytest.mark.parametrize(
    ("variant", "sizes"),
    [("lstm-s", SMALL), ("lstm-z-w", SMALL), ("lstm-z-wb", SMALL), ("lbl5", TIED), ("lbl5-w", TIED)],
)
def test_a_new_model_gives_words_that_are_never_predicted_no_probability(work, variant, sizes):
    made = materials(work, variant, **sizes)
    for bias_start in ("unigram", "zero", "uniform"):
        model = start_model(made, settings_of(variant, **sizes), TrainingSettings(bias_start=bias_start))
        assert float(model.output.bias[START_ID].detach()) == NEVER_PREDICTED_BIAS
        log_probs = model.output.log_probs(torch.zeros(1, 6))
        assert float(log_probs[0, START_ID]) < -20


def test_fitted_biases_leave_the_start_word_out():
    """The least-squares fit of coded biases weighs words by probability, and would leave `<s>` near 0."""
    counts = (1e6 / np.arange(1, 401)).astype(np.int64)
    vocabulary = Vocabulary([*SPECIAL_WORDS, *(f"w{i}" for i in range(397))], counts)
    made = Materials(None, vocabulary, random_codes(400, 100, 4, seed=1), None)
    model = start_model(made, settings_of("lstm-z-wb", **SMALL), TrainingSettings())
    assert float(model.output.bias[START_ID].detach()) == NEVER_PREDICTED_BIAS
    assert float(model.output.log_probs(torch.zeros(1, 6))[0, START_ID]) < -20


def save_vectors(work, size, num_words, monkeypatch):
    vocabulary = TokenCorpus.open(work).vocabulary()
    values = np.random.default_rng(1).normal(size=(num_words, size)).astype(np.float32)
    values[: NUM_SPECIAL + 1] = 0
    fingerprint = Vocabulary(vocabulary.words[:num_words], vocabulary.counts).fingerprint
    vectors = WordVectors(values, values.any(axis=1), fingerprint)
    monkeypatch.setattr(WordVectors, "load", lambda _: vectors)
    return vectors


def test_embedding_starts_from_vectors_at_the_scale_of_random_values(work, monkeypatch):
    vectors = save_vectors(work, 8, 23, monkeypatch)
    settings = TrainingSettings(embedding_start="vectors")
    model_settings = settings_of("lstm-z", **SMALL)
    model = start_model(materials(work, "lstm-z", settings=settings), model_settings, settings)
    random = start_model(materials(work, "lstm-z"), model_settings, TrainingSettings())
    table = model.embedding.weight.detach()
    has = torch.from_numpy(vectors.has_vector)
    cosines = torch.nn.functional.cosine_similarity(table[has], torch.from_numpy(vectors.values)[has])
    torch.testing.assert_close(cosines, torch.ones(int(has.sum())))
    torch.testing.assert_close(table[has].square().mean().sqrt(), torch.tensor(0.05 / math.sqrt(3)))
    assert torch.equal(table[~has], random.embedding.weight.detach()[~has])


def test_vectors_that_do_not_fit_are_refused(work, monkeypatch):
    settings = TrainingSettings(embedding_start="vectors")
    with pytest.raises(InputError, match=r"run fewwords\.make_vectors\(work="):
        materials(work, settings=settings)
    save_vectors(work, 9, 23, monkeypatch)
    with pytest.raises(InputError, match="`embedding_size` 9"):
        materials(work, settings=settings)
    save_vectors(work, 8, 20, monkeypatch)
    with pytest.raises(InputError, match="vocabulary_size=23, force=True"):
        materials(work, settings=settings)


def test_codes_that_do_not_fit_are_refused(work, tmp_path):
    assert materials(work).codes.num_words == 23
    assert materials(work, settings=TrainingSettings(codes="random"), base_size=10).codes.num_base == 13
    with pytest.raises(InputError, match="24 words was asked for"):
        materials(work, vocabulary_size=24)
    with pytest.raises(InputError, match=r"v22-b12.*fewwords\.make_codes\(.*vocabulary_size=22, base_size=12\)"):
        materials(work, vocabulary_size=22)
    with pytest.raises(InputError, match="leaves none to code"):
        materials(work, base_size=20)
    (tmp_path / "corpus").symlink_to(work / "corpus")
    path = codes_path(tmp_path, 23, 12)
    path.parent.mkdir()
    foreign = random_codes(23, 15, 2, seed=1)
    foreign.made_from["vocabulary"] = "another"
    foreign.save(path)
    with pytest.raises(InputError, match="another vocabulary"):
        materials(tmp_path)
    random_codes(23, 16, 2, seed=1).save(path)
    with pytest.raises(InputError, match=r"over 16; run .*base_size=12, force=True\)"):
        materials(tmp_path)
    with pytest.raises(InputError, match=r"over 16; name codes of this corpus.*`codes_file`"):
        materials(tmp_path, codes_file=path)


def test_nearest_codes_come_from_the_vectors(work, monkeypatch):
    save_vectors(work, 8, 23, monkeypatch)
    codes = materials(work, settings=TrainingSettings(codes="nearest")).codes
    assert (codes.num_words, codes.num_base, codes.nonzeros_per_rare_word) == (23, 15, 1.0)


LSTM_SHAPES = [{}, {"num_layers": 2, "boundary": "paper"}, {"tied": True, "hidden_size": 8, "normaliser": "constant"}]
LOG_BILINEAR_SHAPES = [TIED, {**TIED, "boundary": "paper", "context_size": 2}, {"tied": False}]


@pytest.mark.parametrize(
    ("variant", "changes"),
    [
        *itertools.product(["lstm-s", "lstm-z-w", "lstm-z-wb"], LSTM_SHAPES),
        *itertools.product(["lbl5", "lbl5-w"], LOG_BILINEAR_SHAPES),
    ],
)
def test_parameters_are_counted_before_they_exist(variant, changes):
    settings = settings_of(variant, **{**SMALL, **changes})
    model = LanguageModel(settings, NUM_WORDS, random_codes(NUM_WORDS, NUM_BASE, 3, seed=1))
    counted = settings_memory(settings, NUM_WORDS, NUM_BASE).parameters
    assert counted == sum(parameter.numel() for parameter in model.parameters())


def test_too_little_memory_is_told_before_training(monkeypatch):
    monkeypatch.setattr(memory_check, "available_bytes", lambda: 1_000_000_000)
    dense = memory_check.needed_bytes(settings_of("lstm-z"), TrainingSettings(), 10_000_000, 8_003)
    with pytest.raises(InputError, match="lower `vocabulary_size`"):
        memory_check.check_memory(dense, "nce")
    softmax = memory_check.needed_bytes(settings_of("lstm-z"), TrainingSettings(loss="softmax"), 100_000, 8_003)
    with pytest.raises(InputError, match="`batch_words`"):
        memory_check.check_memory(softmax, "softmax")
    memory_check.check_memory(
        memory_check.needed_bytes(settings_of("lstm-z-w"), TrainingSettings(), 50_000, 8_003), "nce"
    )
