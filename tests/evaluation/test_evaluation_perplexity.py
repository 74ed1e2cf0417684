"""Perplexity against a softmax over all words, sentence by sentence, in double precision."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from fewwords.codes.controls import random_codes
from fewwords.corpus.token_corpus import Part
from fewwords.corpus.token_file import TokenFile, TokenWriter
from fewwords.errors import InputError
from fewwords.evaluation.accounts import Perplexity, band_edges
from fewwords.evaluation.perplexity import part_perplexity, sentences_perplexity
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import VARIANTS, settings_of
from fewwords.vocabulary import END_ID, SPECIAL_WORDS, UNKNOWN_ID, Vocabulary

NUM_WORDS, BASE_SIZE = 61, 14
VOCABULARY = Vocabulary([*SPECIAL_WORDS, *(f"w{i}" for i in range(NUM_WORDS - 3))], np.ones(NUM_WORDS, np.int64))


def make_model(variant: str = "lstm-z-w", **changes: object) -> NeuralModel:
    torch.manual_seed(0)
    settings = settings_of(variant, embedding_size=6, hidden_size=6, **changes)
    codes = random_codes(NUM_WORDS, BASE_SIZE, 4, seed=0) if settings.is_coded else None
    model = LanguageModel(settings, NUM_WORDS, codes).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return NeuralModel(model.eval(), VOCABULARY, codes)


def make_sentences(number: int = 40) -> list[np.ndarray]:
    random = np.random.default_rng(1)
    words = [word for word in range(NUM_WORDS) if word not in (1, 2)]
    return [random.choice(words, random.integers(1, 9)) for _ in range(number)]


def make_part(folder: Path, sentences: list[np.ndarray]) -> Part:
    tokens = np.concatenate(sentences).astype(np.uint32)
    with TokenWriter(folder / "test.tokens", len(tokens), len(sentences)) as writer:
        writer.append(tokens, np.array([len(sentence) for sentence in sentences]))
    return Part("test", TokenFile(folder / "test.tokens"), NUM_WORDS)


def reference(model: NeuralModel, sentence: np.ndarray) -> tuple[list[int], list[float]]:
    """The targets of one sentence and ln p of each, by the softmax of all logits."""
    with torch.no_grad():
        contexts, targets = model.network.predictions(torch.from_numpy(sentence)[None])
        log_probs = model.network.output.logits(contexts).log_softmax(1)
    return targets.tolist(), log_probs[torch.arange(len(targets)), targets].tolist()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("boundary", ["end", "paper"])
def test_perplexity_is_that_of_a_plain_softmax(variant: str, boundary: str, tmp_path: Path) -> None:
    model = make_model(variant, boundary=boundary)
    sentences = make_sentences()
    pairs = [pair for sentence in sentences for pair in zip(*reference(model, sentence))]
    found = part_perplexity(model, make_part(tmp_path, sentences))

    def expected(skipped: set[int]) -> float:
        kept = [log_prob for target, log_prob in pairs if target not in skipped]
        return 2 ** (-sum(log_prob / math.log(2) for log_prob in kept) / len(kept))

    assert found.value == pytest.approx(expected(set()), rel=1e-10)
    assert found.over(unknown=True, ends=False) == pytest.approx(expected({END_ID}), rel=1e-10)
    assert found.over(unknown=False, ends=True) == pytest.approx(expected({UNKNOWN_ID}), rel=1e-10)
    assert found.over(unknown=False, ends=False) == pytest.approx(expected({UNKNOWN_ID, END_ID}), rel=1e-10)
    unknown = sum((sentence == UNKNOWN_ID).sum() for sentence in sentences)
    words = sum(map(len, sentences))
    assert (found.num_words, found.num_unknown, found.num_sentences) == (words, unknown, len(sentences))
    assert found.num_ends == (len(sentences) if boundary == "end" else 0)
    assert found.oov_rate == unknown / words


def test_layers_and_dropout_are_evaluated_without_dropout() -> None:
    model = make_model(num_layers=2, dropout=0.5, tied=True)
    sentences = make_sentences(5)
    expected = sum(sum(reference(model, sentence)[1]) for sentence in sentences)
    assert sentences_perplexity(model, sentences).log_prob == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("boundary", ["end", "paper"])
def test_batches_change_nothing_even_when_sentences_are_longer_than_a_batch(boundary: str) -> None:
    model = make_model(boundary=boundary)
    sentences = [*make_sentences(), np.tile(np.arange(3, 40), 8)]
    expected = [reference(model, sentence)[1] for sentence in sentences]
    for batch_words in (1, 7, 100, 4096):
        scored = list(model.score_sentences(sentences, batch_words=batch_words))
        for (words, log_probs), sentence, wanted in zip(scored, sentences, expected):
            assert words is sentence
            np.testing.assert_allclose(log_probs, wanted, rtol=1e-9)
        assert len(scored) == len(sentences)


def test_windows_keep_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model()
    sentences = make_sentences()
    whole = [log_probs for _, log_probs in model.score_sentences(sentences)]
    monkeypatch.setattr("fewwords.models.neural.by_length.WINDOW_WORDS", 20)
    advanced: list[int] = []
    windowed = [log_probs for _, log_probs in model.score_sentences(sentences, advance=advanced.append)]
    for one, other in zip(whole, windowed):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    assert len(windowed) == len(sentences)
    assert sum(advanced) == sum(map(len, sentences))


def test_max_words_takes_the_first_sentences(tmp_path: Path) -> None:
    model = make_model()
    sentences = make_sentences()
    part = make_part(tmp_path, sentences)
    three = sum(len(sentence) for sentence in sentences[:3])
    for max_words, number in ((three, 3), (three - 1, 2), (1, 1), (10**9, len(sentences))):
        found = part_perplexity(model, part, max_words=max_words)
        assert found.num_sentences == number
        assert found == sentences_perplexity(model, sentences[:number])


def test_bands_by_rank_add_up_to_the_whole() -> None:
    model = make_model()
    sentences = make_sentences()
    found = sentences_perplexity(model, sentences)
    assert sum(band.num_targets for band in found.bands) == found.num_words + found.num_ends
    assert math.fsum(band.log_prob for band in found.bands) == pytest.approx(found.log_prob, rel=1e-12)
    pairs = [pair for sentence in sentences for pair in zip(*reference(model, sentence))]
    base = [log_prob for target, log_prob in pairs if 3 <= target < BASE_SIZE]
    assert (found.base.num_targets, found.base.mean_log_prob) == (len(base), pytest.approx(np.mean(base)))
    rare = [(target, log_prob) for target, log_prob in pairs if target >= BASE_SIZE]
    assert (found.rare.num_targets, found.rare.log_prob) == (len(rare), pytest.approx(sum(pair[1] for pair in rare)))
    edges = band_edges(NUM_WORDS, BASE_SIZE)
    assert (edges[0], edges[-1], len(edges)) == (BASE_SIZE, NUM_WORDS, 5)
    assert max(np.diff(edges)) - min(np.diff(edges)) <= 1
    for band, first, stop in zip(found.bands[1:5], edges, edges[1:]):
        assert band.num_targets == sum(first <= target < stop for target, _ in pairs)


def test_results_add_up(tmp_path: Path) -> None:
    model = make_model()
    sentences = make_sentences()
    whole = sentences_perplexity(model, sentences)
    both = sentences_perplexity(model, sentences[:11]) + sentences_perplexity(model, sentences[11:])
    assert (both.counts, both.num_sentences) == (whole.counts, whole.num_sentences)
    assert both.log_probs == pytest.approx(whole.log_probs, rel=1e-12)
    with pytest.raises(ValueError, match="do not add up"):
        _ = whole + sentences_perplexity(model, sentences, num_base=20)


def test_a_dense_model_has_the_papers_base_words_and_nothing_is_nan() -> None:
    found = sentences_perplexity(make_model("lstm-s"), [np.array([UNKNOWN_ID])])
    assert found.num_base == NUM_WORDS  # fewer words than the paper's base
    assert math.isnan(found.base.perplexity)
    assert found.to_json()["perplexity_without_unknown_and_end"] is None
    assert found.oov_rate == 1


def test_bad_parts_are_refused(tmp_path: Path) -> None:
    model = make_model()
    part = make_part(tmp_path, make_sentences(3))
    with pytest.raises(InputError, match="50 words and the model has 61"):
        part_perplexity(model, Part("dev", part.file, 50))
    with pytest.raises(InputError, match="the first 0 words"):
        part_perplexity(model, part, max_words=0)
    with TokenWriter(tmp_path / "empty.tokens", 0, 0) as writer:
        del writer
    with pytest.raises(InputError, match="the part test is empty"):
        part_perplexity(model, Part("test", TokenFile(tmp_path / "empty.tokens"), NUM_WORDS))


def test_an_infinite_perplexity_is_null_with_a_word_in_json() -> None:
    counts, log_probs = (1, 1, 2, 0, 0, 0, 0), (-1.0, -2.0, -math.inf, 0.0, 0.0, 0.0, 0.0)
    told = Perplexity(25, 12, 1, counts, log_probs).to_json()
    json.dumps(told, allow_nan=False)
    assert (told["perplexity"], told["log_prob"], told["note"]) == (None, None, "infinite")
    told = Perplexity(25, 12, 1, counts, (-1.0, -2.0, -3.0, 0.0, 0.0, 0.0, 0.0)).to_json()
    assert (told["perplexity"], told["note"]) == (pytest.approx(math.exp(6 / 4)), None)
