"""The model as a whole: boundaries by hand, probabilities that sum to one, coded against dense, the seed."""

import numpy as np
import pytest
import torch

from fewwords.codes import random_codes
from fewwords.errors import InputError
from fewwords.losses import NoiseContrastiveLoss, UnigramNoise
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.variants import VARIANTS, settings_of
from fewwords.vocabulary import END_ID, START_ID

NUM_WORDS, NUM_BASE, SIZE = 25, 12, 7
CODES = random_codes(NUM_WORDS, NUM_BASE, 3, seed=5)
SENTENCES = torch.tensor([[5, 9, 24, 3], [20, 4, 0, 13]])


def make(variant, seed=1, **changes):
    torch.manual_seed(seed)
    tied = VARIANTS[variant].encoder == "log-bilinear"
    defaults = {"tied": tied, "embedding_size": SIZE if tied else 6, "hidden_size": SIZE}
    settings = settings_of(variant, **{**defaults, **changes})
    model = LanguageModel(settings, NUM_WORDS, CODES if settings.is_coded else None)
    with torch.no_grad():
        model.output.bias.normal_()
    return model


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("boundary", ["end", "paper"])
def test_probabilities_sum_to_one(variant, boundary):
    model = make(variant, boundary=boundary, num_layers=2 if VARIANTS[variant].encoder == "lstm" else 1)
    contexts, targets = model.predictions(SENTENCES)
    log_probs = model.output.log_probs(contexts.detach())
    torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(len(targets)))
    picked = log_probs.gather(1, targets[:, None])[:, 0]
    torch.testing.assert_close(model.output.log_probs_of(contexts.detach(), targets), picked)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_seed_decides_the_model(variant):
    first, same, other = make(variant), make(variant), make(variant, seed=2)
    for name, parameter in first.named_parameters():
        assert torch.equal(parameter, same.state_dict()[name])
    assert torch.equal(first.predictions(SENTENCES).contexts, same.predictions(SENTENCES).contexts)
    assert not torch.equal(first.predictions(SENTENCES).contexts, other.predictions(SENTENCES).contexts)


def word_by_word(model, ids, state):
    """Contexts of one sentence by one LSTM step a word, from the equations."""
    lstm = model.encoder.lstm
    h, c = state
    contexts = []
    for word in ids:
        vector = model.embedding(torch.tensor([word]))[0]
        gates = lstm.weight_ih_l0 @ vector + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ h + lstm.bias_hh_l0
        take, forget, new, show = gates.chunk(4)
        c = torch.sigmoid(forget) * c + torch.sigmoid(take) * torch.tanh(new)
        h = torch.sigmoid(show) * torch.tanh(c)
        if model.settings.cell_size:
            h = lstm.weight_hr_l0 @ h
        contexts.append(h)
    return contexts


@pytest.mark.parametrize("cell_size", [None, 3 * SIZE])
def test_boundary_end_starts_from_the_start_word_and_predicts_the_end(cell_size):
    model = make("lstm-z-w", cell_size=cell_size)
    contexts, targets = model.predictions(SENTENCES)
    assert targets.view(5, 2).t().tolist() == [[5, 9, 24, 3, END_ID], [20, 4, 0, 13, END_ID]]
    for number, sentence in enumerate(SENTENCES.tolist()):
        start = torch.zeros(SIZE), torch.zeros(cell_size or SIZE)
        by_hand = torch.stack(word_by_word(model, [START_ID, *sentence], start))
        torch.testing.assert_close(contexts.view(5, 2, SIZE)[:, number], by_hand)


def test_boundary_paper_predicts_the_first_word_from_a_learned_state_and_no_end():
    model = make("lstm-z-w", boundary="paper")
    with torch.no_grad():
        model.encoder.start_h.normal_()
        model.encoder.start_c.normal_()
    contexts, targets = model.predictions(SENTENCES)
    assert targets.view(4, 2).t().tolist() == SENTENCES.tolist()
    start = model.encoder.start_h[0], model.encoder.start_c[0]
    for number, sentence in enumerate(SENTENCES.tolist()):
        by_hand = torch.stack([start[0], *word_by_word(model, sentence[:-1], start)])
        torch.testing.assert_close(contexts.view(4, 2, SIZE)[:, number], by_hand)
    alone = model.predictions(torch.tensor([[7]]))
    assert alone.targets.tolist() == [7]
    torch.testing.assert_close(alone.contexts, start[0][None])


def test_sentences_do_not_know_of_each_other():
    model = make("lstm-z")
    together = model.predictions(SENTENCES).contexts.view(5, 2, SIZE)
    torch.testing.assert_close(together[:, 1], model.predictions(SENTENCES[1:]).contexts)


@pytest.mark.parametrize("variant", ["lstm-z-w", "lstm-z-wb"])
def test_a_coded_model_is_the_dense_one_with_its_tables_multiplied_out(variant):
    """W = D x and the embedding U x: the same loss, and gradients that the codes carry back to the base."""
    coded, dense = make(variant), make("lstm-z")
    matrix = torch.from_numpy(CODES.to_csr().toarray())
    with torch.no_grad():
        dense.load_state_dict(coded.encoder.state_dict(prefix="encoder."), strict=False)
        coded.normaliser.weight.normal_()
        dense.normaliser.load_state_dict(coded.normaliser.state_dict())
        dense.embedding.weight.copy_(matrix @ coded.embedding.base)
        dense.output.weight.copy_(matrix @ coded.output.base)
        dense.output.bias.copy_(matrix @ coded.output.bias if variant == "lstm-z-wb" else coded.output.bias)
    loss = NoiseContrastiveLoss(UnigramNoise(np.arange(1, NUM_WORDS + 1)), num_noise=10)
    values = []
    for model in (coded, dense):
        contexts, targets = model.predictions(SENTENCES)
        values.append(loss(contexts, targets, model.output, model.normaliser, torch.Generator().manual_seed(3)))
        values[-1].backward()
    torch.testing.assert_close(values[0], values[1])
    for ours, theirs in (
        (coded.embedding.base.grad, dense.embedding.weight.grad),
        (coded.output.base.grad, dense.output.weight.grad),
    ):
        torch.testing.assert_close(ours.to_dense(), matrix.t() @ theirs.to_dense(), rtol=1e-4, atol=1e-6)
    biases = dense.output.bias.grad.to_dense()
    wanted = matrix.t() @ biases if variant == "lstm-z-wb" else biases
    torch.testing.assert_close(coded.output.bias.grad.to_dense(), wanted, rtol=1e-4, atol=1e-6)
    for name, parameter in coded.encoder.named_parameters():
        torch.testing.assert_close(parameter.grad, dict(dense.encoder.named_parameters())[name].grad)


def test_tying_shares_one_matrix_and_dropout_is_only_for_training():
    model = make("lstm-z-w", embedding_size=SIZE, tied=True, dropout=0.5)
    assert model.embedding.base is model.output.base
    assert not torch.equal(model.predictions(SENTENCES).contexts, model.predictions(SENTENCES).contexts)
    model.eval()
    assert torch.equal(model.predictions(SENTENCES).contexts, model.predictions(SENTENCES).contexts)


def test_coded_lstms_are_tied_unless_their_sizes_differ():
    assert settings_of("lstm-z-w").tied
    assert settings_of("lstm-z-wb").tied
    assert not settings_of("lstm-z").tied
    assert not settings_of("lstm-z-w", hidden_size=300).tied
    assert not settings_of("lstm-z-w", tied=False).tied
    assert settings_of("lstm-z-w", hidden_size=300, embedding_size=300).tied


def test_tuned_codes_stay_non_negative():
    model = make("lstm-z-w", tune_codes=True)
    with torch.no_grad():
        model.codes.values.sub_(1.0)
    model.project_codes()
    assert float(model.codes.values.detach().min()) == 0.0


def test_a_new_coded_model_has_the_variants_parameters():
    names = {name for name, _ in make("lstm-z-wb").named_parameters()}
    assert {"embedding.base", "output.base", "output.bias", "normaliser.weight"} <= names
    assert len(make("lstm-z-wb").output.bias) == NUM_BASE
    assert len(make("lstm-z-w").output.bias) == NUM_WORDS
    assert not list(make("lstm-s").normaliser.parameters())
    assert float(make("lstm-s").normaliser.negative_log_z(torch.ones(1, SIZE))) == 0.0
    gate = make("lstm-z").encoder.lstm.weight_hh_l0[:SIZE].detach()
    torch.testing.assert_close(gate @ gate.t(), torch.eye(SIZE), atol=1e-5, rtol=0)
    assert not make("lstm-z").encoder.lstm.bias_ih_l0.any()


@pytest.mark.parametrize(
    ("variant", "changes", "named"),
    [
        ("lstm-x", {}, "lstm-z-wb"),
        ("lstm-z", {"dropout": 1.0}, "dropout"),
        ("lstm-z", {"hidden_size": 0}, "at least 1"),
        ("lstm-z", {"tied": True, "hidden_size": 9}, "same kind and size"),
        ("lstm-z", {"coded_bias": True}, "coded output"),
        ("lstm-z", {"tune_codes": True}, "no codes to tune"),
        ("lstm-z", {"encoder": "transformer"}, "gru, log-bilinear, lstm"),
        ("lbl5", {"context_size": 0}, "at least 1"),
        ("lbl5", {"hidden_size": 9, "tied": True}, "same kind and size"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(variant, changes, named):
    with pytest.raises(InputError, match=named):
        settings_of(variant, **changes)


def test_codes_must_be_there_and_fit():
    with pytest.raises(InputError, match="one layer"):
        make("lbl5", num_layers=2)
    for variant, cell_size in (("gru-z-w", 3 * SIZE), ("lstm-z-w", SIZE)):
        with pytest.raises(InputError, match="cell_size"):
            make(variant, cell_size=cell_size)
    with pytest.raises(InputError, match="needs sparse codes"):
        LanguageModel(settings_of("lstm-z-w"), NUM_WORDS)
    with pytest.raises(InputError, match="25 words"):
        LanguageModel(settings_of("lstm-z-w"), NUM_WORDS + 1, CODES)
