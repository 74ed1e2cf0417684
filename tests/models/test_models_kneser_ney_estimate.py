"""Kneser-Ney's probabilities: sums written out by hand, the definition in dictionaries, and sums to one."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from kneser_ney_oracle import adjusted_counts, make_part, make_vocabulary, next_word_probs, reference_model

from fewwords.errors import InputError
from fewwords.models.kneser_ney import estimate, part_log_probs
from fewwords.models.kneser_ney.discounts import estimate_discounts
from fewwords.vocabulary import END_ID, START_ID, UNKNOWN_ID

A, B = 3, 4
# <s> a b </s>, twice, and <s> b </s>
SENTENCES = [[A, B], [A, B], [B]]
DISCOUNTS = (0.5, 1.0, 1.5)


def model_of(sentences, order, size, **settings):
    settings = {"discount_fallback": DISCOUNTS, **settings}
    return estimate(make_part(sentences, size), order, vocabulary=make_vocabulary(size), **settings)


# Distinct words to the left: a after {<s>}, b after {a, <s>}, </s> after {b}: counts 1, 2, 1, and 0 for <unk>, 4 in all.
# The discounts 0.5 + 1 + 0.5 leave 2 of 4 to the uniform distribution over <unk>, </s>, a, b.
UNIGRAMS = {
    A: (1 - 0.5) / 4 + 2 / 4 * 1 / 4,
    B: (2 - 1) / 4 + 2 / 4 * 1 / 4,
    END_ID: (1 - 0.5) / 4 + 2 / 4 * 1 / 4,
    UNKNOWN_ID: 2 / 4 * 1 / 4,
    START_ID: 0,
}


def check(found, expected):
    assert {word: found[word] for word in expected} == pytest.approx(expected, abs=1e-6)
    assert sum(expected.values()) == pytest.approx(1)


def test_hand_worked_bigrams() -> None:
    model = model_of(SENTENCES, 2, 5)
    # At the highest order occurrences count: <s> a 2, <s> b 1, a b 2, b </s> 3.
    after_start = {word: (1 + 0.5) / 3 * prob for word, prob in UNIGRAMS.items()}
    after_start[A] += (2 - 1) / 3
    after_start[B] += (1 - 0.5) / 3
    check(next_word_probs(model, []), after_start)
    after_a = {word: 1 / 2 * prob for word, prob in UNIGRAMS.items()}
    after_a[B] += (2 - 1) / 2
    check(next_word_probs(model, [A]), after_a)
    after_b = {word: 1.5 / 3 * prob for word, prob in UNIGRAMS.items()}
    after_b[END_ID] += (3 - 1.5) / 3
    check(next_word_probs(model, [A, B]), after_b)
    check(next_word_probs(model, [UNKNOWN_ID]), UNIGRAMS)
    # one sentence, b a </s>, from the same sums
    expected = [after_start[B], after_b[A], after_a[END_ID]]
    np.testing.assert_allclose(model.all_log_probs([np.array([B, A])]), np.log(expected), atol=1e-6)


def test_hand_worked_trigrams() -> None:
    model = model_of(SENTENCES, 3, 5)
    # Below the highest order: <s> a 2 and <s> b 1 (occurrences, after <s>), a b 1 (after <s>), b </s> 2 (after a and <s>).
    after_b = {word: 1 / 2 * prob for word, prob in UNIGRAMS.items()}
    after_b[END_ID] += (2 - 1) / 2
    # <s> b </s> occurs once, a b </s> twice
    after_start_b = {word: 0.5 / 1 * prob for word, prob in after_b.items()}
    after_start_b[END_ID] += (1 - 0.5) / 1
    check(next_word_probs(model, [B]), after_start_b)
    after_a_b = {word: 1 / 2 * prob for word, prob in after_b.items()}
    after_a_b[END_ID] += (2 - 1) / 2
    check(next_word_probs(model, [A, B]), after_a_b)
    check(next_word_probs(model, [B], from_start=False), after_b)
    # b b is unseen as a context: only b counts
    check(next_word_probs(model, [B, B]), after_b)


def test_hand_worked_back_off() -> None:
    model = model_of(SENTENCES, 2, 5, interpolate=False)
    # seen words keep their share, the others have what is left in proportion to their unigrams
    left = 1 - (2 - 1) / 3 - (1 - 0.5) / 3
    unseen = 1 - UNIGRAMS[A] - UNIGRAMS[B]
    after_start = {word: left / unseen * prob for word, prob in UNIGRAMS.items()}
    after_start |= {A: (2 - 1) / 3, B: (1 - 0.5) / 3}
    check(next_word_probs(model, []), after_start)


def test_hand_worked_pruning() -> None:
    model = model_of(SENTENCES, 2, 5, prune=(0, 1))
    # <s> b occurs once and is left out; its whole count goes to the back-off weight
    after_start = {word: (1 + 1) / 3 * prob for word, prob in UNIGRAMS.items()}
    after_start[A] += (2 - 1) / 3
    check(next_word_probs(model, []), after_start)
    assert model.size.num_ngrams == (5, 3)


@st.composite
def corpora(draw):
    size = draw(st.integers(4, 7))
    words = st.sampled_from([0, *range(3, size)])
    sentences = draw(st.lists(st.lists(words, max_size=6), min_size=1, max_size=12))
    order = draw(st.integers(1, 5))
    prune = [0, *sorted(draw(st.lists(st.integers(0, 2), min_size=4, max_size=4)))][:order]
    return sentences, size, order, draw(st.booleans()), prune


@given(corpora())
@hypothesis_settings(max_examples=60)
@example(([[0], [0, 0], [3], [3, 0], [0, 3], [3, 3], [], []], 4, 3, False, [0, 0, 0]))
@example(([[3, 4, 5, 3, 4, 5], [3, 4, 5], [3, 4]], 6, 5, True, [0, 0, 1, 1, 1]))
def test_equals_the_definition_and_sums_to_one(corpus) -> None:
    sentences, size, order, interpolate, prune = corpus
    model = model_of(sentences, order, size, interpolate=interpolate, prune=prune)
    prob = reference_model(sentences, order, size, model.settings["discounts"], interpolate, prune)
    ids = [0, *range(3, size)]
    contexts = [(), *((word,) for word in ids), *itertools.product(ids[:3], repeat=2)]
    contexts += [tuple(sentence[:stop]) for sentence in sentences for stop in range(len(sentence) + 1)]
    for context in contexts:
        for from_start in (True, False):
            history = (*([START_ID] if from_start else []), *context)
            found = next_word_probs(model, context, from_start=from_start)
            assert found.sum() == pytest.approx(1, abs=2e-6)
            np.testing.assert_allclose(found, [prob(history, word) for word in range(size)], rtol=1e-5, atol=1e-9)
    expected = [
        np.log(prob((START_ID, *sentence[:place]), word))
        for sentence in sentences
        for place, word in enumerate([*sentence, END_ID])
    ]
    np.testing.assert_allclose(model.all_log_probs(map(np.array, sentences)), expected, rtol=1e-5, atol=1e-6)


def skewed_text(num_sentences: int, num_types: int, seed: int = 0) -> list[list[int]]:
    chance = np.random.default_rng(seed)
    lengths = chance.integers(0, 12, num_sentences)
    return [(3 + (num_types * chance.random(length) ** 4).astype(int)).tolist() for length in lengths]


def test_discounts_come_from_the_uncut_text() -> None:
    sentences, size = skewed_text(600, 1500), 30
    model = estimate(make_part(sentences, size), 3, vocabulary=make_vocabulary(size))
    for order, counts in adjusted_counts(sentences, 3).items():
        n1, n2, n3, n4 = (list(counts.values()).count(number) for number in range(1, 5))
        assert model.settings["counts_of_counts"][order - 1] == [n1, n2, n3, n4]
        y = n1 / (n1 + 2 * n2)
        expected = [1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
        assert model.settings["discounts"][order - 1] == pytest.approx(expected)
    # and the probabilities are those of the text in which all other words are <unk>
    cut = [[word if word < size else UNKNOWN_ID for word in sentence] for sentence in sentences]
    prob = reference_model(cut, 3, size, model.settings["discounts"])
    for context in ((), (3,), (0, 0), (3, 4), (29, 28)):
        expected = [prob((START_ID, *context), word) for word in range(size)]
        np.testing.assert_allclose(next_word_probs(model, context), expected, rtol=1e-5, atol=1e-9)
    # through the closed vocabulary alone there would have been none
    with pytest.raises(InputError, match=r"too little text for the discounts: 0, 0, 0 and \d 1-grams"):
        estimate(make_part(cut, size), 3, vocabulary=make_vocabulary(size))


def test_first_words_only() -> None:
    sentences = skewed_text(40, 20)
    num_words = sum(map(len, sentences[:10]))
    part = make_part(sentences, 23)
    some = estimate(part, 3, vocabulary=make_vocabulary(23), max_words=num_words, discount_fallback=DISCOUNTS)
    few = model_of(sentences[:10], 3, 23)
    np.testing.assert_array_equal(some.trie.words, few.trie.words)
    assert some.settings["words"] == num_words
    targets, log_probs = part_log_probs(some, part, num_words)
    assert targets.tolist() == [word for sentence in sentences[:10] for word in [*sentence, END_ID]]
    np.testing.assert_array_equal(log_probs, some.all_log_probs(map(np.array, sentences[:10])))


def test_words_that_never_occur_have_a_probability() -> None:
    model = model_of([[3, 4]], 3, 9)
    probs = next_word_probs(model, [3])
    assert (probs[[0, 5, 6, 7, 8]] > 0).all()
    assert probs[START_ID] == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": 0}, "order 0: choose an order from 1 to 5"),
        ({"order": 6}, "order 6: choose an order from 1 to 5"),
        ({"prune": (0, 0, 0, 1)}, "4 thresholds for a model of order 3"),
        ({"prune": (1,)}, "start with 0"),
        ({"prune": (0, 2, 1)}, "without their context"),
        ({"discount_fallback": (0.5, 1)}, "three numbers above 0"),
        ({"discount_fallback": (0.5, 1, 3)}, "three numbers above 0"),
        ({"discount_fallback": (0, 1, 2)}, "three numbers above 0"),
        ({"discount_fallback": None}, "too little text for the discounts: .*`discount_fallback`"),
        ({"memory_mib": 0}, "0 MiB of memory"),
        ({"max_words": 0}, "0 words: choose 1 or more"),
        ({"vocabulary": make_vocabulary(6)}, "5 words and the vocabulary has 6"),
    ],
)
def test_bad_settings(settings, message) -> None:
    settings = {"order": 3, "vocabulary": make_vocabulary(5), "discount_fallback": DISCOUNTS, **settings}
    with pytest.raises(InputError, match=message):
        estimate(make_part(SENTENCES, 5), **settings)


def test_empty_part() -> None:
    with pytest.raises(InputError, match="train is empty"):
        model_of([], 3, 5)


@pytest.mark.parametrize("found", [(0, 1, 1, 1), (4, 3, 2, 0), (10, 1, 10, 1)])
def test_discounts_that_do_not_come_out(found) -> None:
    # the last: Y = 10 / 12 and D2 = 2 - 3 Y 10 / 1 < 0
    assert estimate_discounts(2, found, DISCOUNTS) == DISCOUNTS
    with pytest.raises(InputError, match=f"{found[0]}, {found[1]}, {found[2]} and {found[3]} 2-grams"):
        estimate_discounts(2, found)
