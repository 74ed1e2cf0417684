"""pyctcdecode's beam search with a model of any kind, against all paths through the frames written out."""

import itertools
import math
import sys

import numpy as np
import pytest

from fewwords.errors import InputError
from fewwords.use.text_model import TextModel

pyctcdecode = pytest.importorskip("pyctcdecode", reason="pip install --no-deps pyctcdecode pygtrie")
from fewwords.use.pyctcdecode import DecoderModel  # noqa: E402

LABELS = ["", " ", "a", "i", "t", "d"]
ALPHA, BETA, OFFSET = 0.7, 0.4, -2.0
WIDE = {"beam_width": 10**6, "beam_prune_logp": -1e9, "token_min_logp": -1e9}


def decoder_of(language_model: DecoderModel | None) -> "pyctcdecode.BeamSearchDecoderCTC":
    return pyctcdecode.BeamSearchDecoderCTC(pyctcdecode.Alphabet.build_alphabet(LABELS), language_model)


def all_texts(log_probs: np.ndarray) -> dict[str, float]:
    """ln p of every text: the sum over all paths that read so, repeated labels and blanks removed."""
    found: dict[str, float] = {}
    for path in itertools.product(range(len(LABELS)), repeat=len(log_probs)):
        text = "".join(LABELS[label] for label, _ in itertools.groupby(path))
        text = " ".join(text.split())
        score = float(log_probs[range(len(path)), path].sum())
        found[text] = float(np.logaddexp(found.get(text, -np.inf), score))
    return found


def language_score(model: TextModel, text: str, end: bool) -> float:
    """alpha ln p + beta words, with the offset for unknown words, by the model's own scores of sentences."""
    words = text.split()
    ids = np.array(model.vocabulary.encode(words), np.int64)
    ((_, log_probs),) = model.model.score_sentences([ids])
    log_prob = log_probs[: len(words) + end].sum() + OFFSET * math.log(10) * (ids == 0).sum()
    return float(ALPHA * log_prob + BETA * len(words))


@pytest.mark.parametrize("end", [True, False])
def test_the_best_text_is_that_of_all_paths(model: TextModel, end: bool) -> None:
    decoder = decoder_of(DecoderModel(model, ALPHA, BETA, OFFSET, end))
    logits = np.random.default_rng(4).normal(0, 1.5, (4, len(LABELS)))
    log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    expected = {text: score + language_score(model, text, end) for text, score in all_texts(log_probs).items()}
    best = sorted(expected, key=lambda text: -expected[text])[:20]
    found = decoder.decode_beams(logits, **WIDE)[:20]
    assert [each[0] for each in found] == best
    assert [each[-1] for each in found] == pytest.approx([expected[text] for text in best], rel=1e-4)


def test_the_model_chooses_among_what_sounds_alike(n_gram: TextModel) -> None:
    """Frames that say `a dot` or `a dog` alike: the corpus has dogs."""
    labels = ["", " ", "a", "d", "o", "g", "t"]
    alphabet = pyctcdecode.Alphabet.build_alphabet(labels)
    logits = np.full((5, len(labels)), -8.0)
    for frame, letter in enumerate("a do"):
        logits[frame, labels.index(letter)] = 0
    logits[4, labels.index("g")], logits[4, labels.index("t")] = -0.8, -0.6
    assert pyctcdecode.BeamSearchDecoderCTC(alphabet, None).decode(logits) == "a dot"
    assert pyctcdecode.BeamSearchDecoderCTC(alphabet, DecoderModel(n_gram)).decode(logits) == "a dog"


def test_words_of_several_parts_and_the_starts_of_words(n_gram: TextModel) -> None:
    decoder = DecoderModel(n_gram, 1.0, 0.0, -3.0)
    start = decoder.get_start_state()
    score, place = decoder.score(start, "Mary's")
    parts = [each.log10_prob for each in n_gram.full_scores("mary's", end=False)]
    assert len(parts) == 2
    assert score == pytest.approx(sum(parts) * math.log(10), rel=1e-5)
    score, _ = decoder.score(place, "fish", is_last_word=True)
    assert score == pytest.approx((n_gram.score("Mary's fish") - sum(parts)) * math.log(10), rel=1e-5)
    for known in ("", "m", "mar", "mary", "mary's", "Mary'"):
        assert decoder.score_partial_token(known) == 0
    assert decoder.score_partial_token("zz") == -3
    assert decoder.score_partial_token("marx'") == -3
    assert decoder.score_partial_token("z" * 12) == -6
    unknown, _ = decoder.score(start, "zebra")
    assert unknown == pytest.approx((n_gram.score("zebra", end=False) - 3) * math.log(10), rel=1e-5)


def test_settings_and_order(model: TextModel) -> None:
    language_model = DecoderModel(model)
    decoder = decoder_of(language_model)
    decoder.reset_params(alpha=0.1, beta=0.2, unk_score_offset=-1.0, lm_score_boundary=False)
    found = (
        language_model.alpha,
        language_model.beta,
        language_model.unk_score_offset,
        language_model.score_boundary,
    )
    assert found == (0.1, 0.2, -1.0, False)
    with pytest.raises(InputError, match="gamma"):
        language_model.reset_params(gamma=1)
    expected = {"kn3": 3, "lbl5": 6}.get(model.model.variant, sys.maxsize)
    assert language_model.order == expected
    logits = np.random.default_rng(1).normal(0, 1, (12, len(LABELS)))
    assert decoder.decode(logits) == decoder.decode_beams(logits, prune_history=True)[0][0]


def test_few_rows_are_remembered_and_answers_stay(n_gram: TextModel) -> None:
    logits = np.random.default_rng(2).normal(0, 1, (10, len(LABELS)))
    expected = decoder_of(DecoderModel(n_gram)).decode_beams(logits)
    small = DecoderModel(n_gram)
    small._most_rows = 1
    assert [each[0] for each in decoder_of(small).decode_beams(logits)] == [each[0] for each in expected]
    assert len(small._rows) == 1
