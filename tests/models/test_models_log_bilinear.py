"""The log-bilinear model: its sum written out, its boundaries, its five words, and coded against dense."""

import numpy as np
import pytest
import torch
from torch import Tensor

from fewwords.codes import random_codes
from fewwords.losses import NoiseContrastiveLoss, UnigramNoise
from fewwords.models.neural.encoders.log_bilinear import Encoder
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.vocabulary import END_ID, SPECIAL_WORDS, START_ID, Vocabulary

NUM_WORDS, NUM_BASE, SIZE = 25, 12, 7
CODES = random_codes(NUM_WORDS, NUM_BASE, 3, seed=5)
VOCABULARY = Vocabulary([*SPECIAL_WORDS, *(f"w{i}" for i in range(NUM_WORDS - 3))], np.ones(NUM_WORDS, np.int64))
SENTENCES = torch.tensor([[5, 9, 24, 3, 7, 7, 19, 4, 22], [20, 4, 0, 13, 3, 11, 6, 24, 5]])


def make_encoder(input_size: int = 3, size: int = 4, context_size: int = 5) -> Encoder:
    torch.manual_seed(1)
    encoder = Encoder(
        settings_of("lbl5", embedding_size=input_size, hidden_size=size, context_size=context_size)
    ).double()
    torch.nn.init.normal_(encoder.padding)
    return encoder


def make_model(variant: str, seed: int = 1, **changes: object) -> LanguageModel:
    torch.manual_seed(seed)
    settings = settings_of(variant, **{"embedding_size": SIZE, "hidden_size": SIZE, **changes})
    model = LanguageModel(settings, NUM_WORDS, CODES if settings.is_coded else None).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


def by_positions(encoder: Encoder, words: list[Tensor]) -> Tensor:
    """Contexts of one sentence [1 + number of words, size], before any word and after each, value by value."""
    places, input_size, size = encoder.matrices.shape
    contexts = []
    for num_known in range(len(words) + 1):
        last = [*encoder.padding, *words[:num_known]][-places:]
        sums = [
            sum(encoder.matrices[i, k, j] * last[i][k] for i in range(places) for k in range(input_size))
            for j in range(size)
        ]
        contexts.append(torch.stack(sums))
    return torch.stack(contexts)


def test_a_hand_worked_sum() -> None:
    encoder = make_encoder(input_size=2, size=1, context_size=2)
    with torch.no_grad():
        # the word before the last counts its values once and twice, the last one ten and twenty times
        encoder.matrices.copy_(torch.tensor([[[1.0], [2.0]], [[10.0], [20.0]]]))
        encoder.padding.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    vectors = torch.tensor([[3.0, 4.0], [5.0, 6.0]], dtype=torch.float64)[:, None]
    assert encoder.context(encoder.start_state(1)).tolist() == [[1 * 1 + 20 * 1]]
    contexts, (last,) = encoder(vectors)
    assert contexts.tolist() == [[[2 * 1 + 10 * 3 + 20 * 4]], [[1 * 3 + 2 * 4 + 10 * 5 + 20 * 6]]]
    assert torch.equal(last, vectors)


@pytest.mark.parametrize("context_size", [1, 2, 5])
@pytest.mark.parametrize("length", [1, 3, 5, 9])
def test_contexts_and_gradients_are_those_of_a_plain_loop(context_size: int, length: int) -> None:
    encoder = make_encoder(context_size=context_size)
    vectors = torch.randn(length, 2, 3, dtype=torch.float64, requires_grad=True)
    inputs = (encoder.matrices, encoder.padding, vectors)
    contexts, (last,) = encoder(vectors)
    start = encoder.context(encoder.start_state(2))
    ours = torch.cat([start[None], contexts])
    theirs = torch.stack([by_positions(encoder, [*vectors[:, number]]) for number in range(2)], dim=1)
    torch.testing.assert_close(ours, theirs)
    weights = torch.randn_like(ours)
    for found, wanted in zip(*(torch.autograd.grad((each * weights).sum(), inputs) for each in (ours, theirs))):
        assert wanted.any()
        torch.testing.assert_close(found, wanted)
    known = torch.cat([encoder.padding[:, None].expand(-1, 2, -1), vectors])
    assert torch.equal(last, known[-context_size:])


@pytest.mark.parametrize("piece", [1, 2, 4, 6, 12])
def test_pieces_with_the_state_carried_on_equal_the_whole(piece: int) -> None:
    encoder = make_encoder()
    vectors = torch.randn(13, 2, 3, dtype=torch.float64)
    whole, whole_state = encoder(vectors)
    state = encoder.start_state(2)
    parts = []
    for first in range(0, len(vectors), piece):
        contexts, state = encoder(vectors[first : first + piece], state)
        parts.append(contexts)
    torch.testing.assert_close(torch.cat(parts), whole)
    assert torch.equal(state[0], whole_state[0])


@pytest.mark.parametrize("variant", ["lbl5", "lbl5-w"])
def test_boundary_end_starts_from_the_start_word_and_predicts_the_end(variant: str) -> None:
    model = make_model(variant)
    contexts, targets = model.predictions(SENTENCES)
    length = SENTENCES.shape[1]
    assert targets.view(length + 1, 2).t().tolist() == [[*sentence, END_ID] for sentence in SENTENCES.tolist()]
    for number, sentence in enumerate(SENTENCES.tolist()):
        words = model.embedding(torch.tensor([START_ID, *sentence]))
        by_hand = by_positions(model.encoder, [*words])[1:]
        torch.testing.assert_close(contexts.view(length + 1, 2, SIZE)[:, number], by_hand)


@pytest.mark.parametrize("variant", ["lbl5", "lbl5-w"])
def test_boundary_paper_predicts_the_first_word_from_padding_alone_and_no_end(variant: str) -> None:
    model = make_model(variant, boundary="paper")
    contexts, targets = model.predictions(SENTENCES)
    length = SENTENCES.shape[1]
    assert targets.view(length, 2).t().tolist() == SENTENCES.tolist()
    contexts = contexts.view(length, 2, SIZE)
    padding_alone = torch.einsum("pe,pec->c", model.encoder.padding, model.encoder.matrices)
    torch.testing.assert_close(contexts[0], padding_alone.expand(2, -1))
    for number, sentence in enumerate(SENTENCES.tolist()):
        by_hand = by_positions(model.encoder, [*model.embedding(torch.tensor(sentence[:-1]))])
        torch.testing.assert_close(contexts[:, number], by_hand)
    alone = model.predictions(torch.tensor([[7]]))
    assert alone.targets.tolist() == [7]
    torch.testing.assert_close(alone.contexts, padding_alone[None])


@pytest.mark.parametrize(("boundary", "num_used"), [("paper", 5), ("end", 4)])
def test_training_reaches_the_matrices_and_the_padding(boundary: str, num_used: int) -> None:
    """With `<s>` before the first word, no context reaches back to the oldest padding vector."""
    model = make_model("lbl5", boundary=boundary)
    contexts, targets = model.predictions(SENTENCES)
    torch.nn.functional.cross_entropy(model.output.logits(contexts), targets).backward()
    assert all(gradient.any() for gradient in model.encoder.matrices.grad)
    assert [bool(gradient.any()) for gradient in model.encoder.padding.grad] == [
        place >= 5 - num_used for place in range(5)
    ]


@pytest.mark.parametrize("variant", ["lbl5", "lbl5-w"])
@pytest.mark.parametrize("boundary", ["end", "paper"])
def test_exactly_the_last_five_words_matter(variant: str, boundary: str) -> None:
    model = make_model(variant, boundary=boundary)
    sentence = SENTENCES[:1]
    before = model.predictions(sentence).contexts
    for changed in range(sentence.shape[1]):
        other = sentence.clone()
        other[0, changed] = 16
        after = model.predictions(other).contexts
        differ = [not torch.equal(*pair) for pair in zip(before, after)]
        # the context at place t is of the words before t
        assert differ == [changed < place <= changed + 5 for place in range(len(before))]


@pytest.mark.parametrize("variant", ["lbl5", "lbl5-w"])
def test_one_table_is_embedding_and_output(variant: str) -> None:
    """Its gradient is the sum of those that two tables of the same values have."""
    tied, untied = make_model(variant), make_model(variant, tied=False)
    matrix = torch.eye(NUM_WORDS, dtype=torch.float64)
    if variant == "lbl5-w":
        matrix = torch.from_numpy(CODES.to_csr().toarray()).double()
    output_table = tied.output.base if variant == "lbl5-w" else tied.output.weight
    assert output_table is tied.embedding_table
    table_name = "base" if variant == "lbl5-w" else "weight"
    untied.load_state_dict({**tied.state_dict(), f"output.{table_name}": tied.embedding_table})
    gradients = []
    for model in (tied, untied):
        contexts, targets = model.predictions(SENTENCES)
        wanted = contexts @ (matrix @ model.embedding_table).t() + model.output.bias
        torch.testing.assert_close(model.output.logits(contexts), wanted)
        torch.nn.functional.cross_entropy(model.output.logits(contexts), targets).backward()
        tables = {id(table): table for table in (model.embedding_table, getattr(model.output, table_name))}
        gradients.append(sum(table.grad.to_dense() for table in tables.values()))
        assert len(tables) == (1 if model is tied else 2)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("boundary", ["end", "paper"])
def test_a_coded_model_is_the_dense_one_with_its_table_multiplied_out(boundary: str) -> None:
    coded, dense = (make_model(variant, boundary=boundary) for variant in ("lbl5-w", "lbl5"))
    matrix = torch.from_numpy(CODES.to_csr().toarray()).double()
    with torch.no_grad():
        dense.encoder.load_state_dict(coded.encoder.state_dict())
        dense.normaliser.load_state_dict(coded.normaliser.state_dict())
        dense.embedding_table.copy_(matrix @ coded.embedding_table)
        dense.output.bias.copy_(coded.output.bias)
    loss = NoiseContrastiveLoss(UnigramNoise(np.arange(1, NUM_WORDS + 1)), num_noise=10).double()
    values = []
    for model in (coded, dense):
        contexts, targets = model.predictions(SENTENCES)
        values.append(loss(contexts, targets, model.output, model.normaliser, torch.Generator().manual_seed(3)))
        values[-1].backward()
    torch.testing.assert_close(values[0], values[1])
    carried_back = matrix.t() @ dense.embedding_table.grad.to_dense()
    torch.testing.assert_close(coded.embedding_table.grad.to_dense(), carried_back)
    for name, parameter in coded.encoder.named_parameters():
        torch.testing.assert_close(parameter.grad, dict(dense.encoder.named_parameters())[name].grad)
    ours, theirs = (NeuralModel(model, VOCABULARY).target_log_probs(SENTENCES.numpy()) for model in (coded, dense))
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("variant", ["lbl5", "lbl5-w"])
@pytest.mark.parametrize("boundary", ["end", "paper"])
def test_scores_piece_by_piece_are_those_of_a_plain_softmax(variant: str, boundary: str) -> None:
    model = make_model(variant, boundary=boundary)
    with torch.no_grad():
        contexts, targets = model.predictions(SENTENCES)
        log_probs = model.output.logits(contexts).log_softmax(1)
        expected = log_probs.gather(1, targets[:, None]).view(-1, 2).t().numpy()
    for most_contexts in (1, 2, 4, 6, 14, 1000):
        found = NeuralModel(model, VOCABULARY).target_log_probs(SENTENCES.numpy(), most_contexts)
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    one_word = NeuralModel(model, VOCABULARY).target_log_probs(SENTENCES[:, :1].numpy())
    np.testing.assert_allclose(one_word[:, 0], expected[:, 0], rtol=1e-10)
