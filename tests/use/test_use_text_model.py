"""Text in and text out, for a model of any kind: scores against the model, suggestions against all of its probabilities."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fewwords.corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.perplexity import part_perplexity
from fewwords.models.model import Model, State
from fewwords.text.rules import TextRules
from fewwords.use.reading import MOST_CHARACTERS, Reader, Typed
from fewwords.use.sample import draw
from fewwords.use.suggest import top_words
from fewwords.use.text_model import TextModel
from fewwords.vocabulary import NUM_SPECIAL


@pytest.mark.parametrize(
    ("text", "words", "prefix"),
    [
        ("", (), ""),
        ("the quick brown ", ("the", "quick", "brown"), ""),
        ("The quick brown f", ("the", "quick", "brown"), "f"),
        ("Hello there. ", (), ""),
        ("Hello there. The", (), "The"),
        ("Hello there.\nthe old", ("the",), "old"),
        ("Mary's ", ("mary", "'s"), ""),
        ("a well-kn", ("a", "well", "-"), "kn"),
        ("she said (", ("she", "said", "("), ""),
        ("I don't kn", ("i", "don't"), "kn"),
        ("it is 3.5 per", ("it", "is", "3.5"), "per"),
        ("   ", (), ""),
        ("Mr. Smith w", ("mr.", "smith"), "w"),
        ("naïve ca", ("naïve",), "ca"),
    ],
)
def test_what_was_typed(text: str, words: tuple[str, ...], prefix: str) -> None:
    assert Reader(TextRules()).typed(text) == Typed(words, prefix, len(prefix))


def test_suggestions_are_the_most_probable_words(model: TextModel) -> None:
    state = model.feed(model.feed(model.start(), "the"), "cat")
    log_probs = model.log_probs(state)
    best = sorted(range(NUM_SPECIAL, len(model.vocabulary)), key=lambda word: -log_probs[word])[:5]
    found = model.suggest("The cat ", 5)
    assert [each.word for each in found] == [model.vocabulary.words[word] for word in best]
    assert [each.probability for each in found] == pytest.approx(np.exp(log_probs[best]).tolist(), rel=1e-4)


def test_completions_are_the_most_probable_words_that_begin_so(model: TextModel) -> None:
    for text, prefix in (("the old man l", "l"), ("The cat saw a d", "d"), ("the F", "f")):
        everything = model.suggest(text[: -len(prefix)], len(model.vocabulary))
        wanted = [each.word for each in everything if each.word.startswith(prefix)]
        found = model.suggest(text, len(model.vocabulary))
        assert [each.word for each in found] == wanted
        assert all(each.text.startswith(text[-len(prefix) :]) for each in found)
    assert model.suggest("the zzz") == []


def test_several_texts_at_once(model: TextModel) -> None:
    texts = [
        "The cat ",
        "A dog saw ",
        "the old man's f",
        "Mary l",
        "",
        "The cat ",
        "zzz",
        "Good. A",
        "The cat saw the o",
    ]
    for one, together in zip((TextModel(model.model).suggest(text, 4) for text in texts), model.suggest_all(texts, 4)):
        assert [(each.text, each.insert, each.replaces) for each in together] == [
            (each.text, each.insert, each.replaces) for each in one
        ]
        assert [each.probability for each in together] == pytest.approx([each.probability for each in one], rel=1e-4)
    assert model.suggest_all([]) == []


def test_more_texts_than_are_read_together(model: TextModel) -> None:
    words = model.vocabulary.words[NUM_SPECIAL:]
    texts = [f"the {first} {second} " for first in words[:12] for second in words[:12] if first.isalpha()]
    found = model.suggest_all(texts, 1)
    assert len(texts) > 64
    assert [each[0].word for each in found] == [model.suggest(text, 1)[0].word for text in texts]


def test_scores_so_far_are_those_of_the_sentence(model: TextModel) -> None:
    fresh = TextModel(model.model)
    for text, words in (
        ("The cat saw the", "the cat saw"),
        ("The cat saw the old man's food, and it ", "the cat saw the old man's food, and it"),
        ("The cat saw a zebra ", "the cat saw a zebra"),
        ("A dog ", "a dog"),
        ("A do", "a"),
        ("It is good. Mary liked ", "mary liked"),
        ("the cat " * 30, "the cat " * 30),
        ("", ""),
    ):
        expected = model.full_scores(words, end=False)
        found = fresh.scores_so_far(text)
        assert [(each.word, each.is_unknown) for each in found] == [(each.word, each.is_unknown) for each in expected]
        assert [each.log10_prob for each in found] == pytest.approx([each.log10_prob for each in expected], abs=1e-4)


class Counting(Model):
    """A model that counts the words that it reads."""

    def __init__(self, model: Model) -> None:
        self.inner, self.num_read, self.num_asked = model, 0, 0

    def __getattribute__(self, name: str) -> Any:
        if name in ("inner", "num_read", "num_asked", "read", "feed", "feed_all", "log_probs", "log_probs_all"):
            return object.__getattribute__(self, name)
        return getattr(self.inner, name)

    def read(self, state: State, words: Sequence[int]) -> State:
        self.num_read += len(words)
        return self.inner.read(state, words)

    def feed_all(self, states: Sequence[State], words: Sequence[int]) -> list[State]:
        self.num_read += len(words)
        return self.inner.feed_all(states, words)

    def log_probs_all(self, states: Sequence[State]) -> NDArray[np.float32]:
        self.num_asked += len(states)
        return self.inner.log_probs_all(states)


Counting.__abstractmethods__ = frozenset()


def test_only_what_is_new_is_computed(model: TextModel) -> None:
    counting = Counting(model.model)
    typed = TextModel(counting)
    text = ""
    for key in "The cat saw the ol":
        text += key
        typed.suggest(text)
        typed.scores_so_far(text)
    assert counting.num_asked == 5  # before each word, whatever its letters
    assert counting.num_read == 4 or model.model.context_words is not None


def test_a_million_words_are_not_read_at_every_key(model: TextModel) -> None:
    counting = Counting(model.model)
    typed = TextModel(counting)
    text = "the cat saw a dog and " * 170_000
    typed.suggest(text)
    assert counting.num_read <= MOST_CHARACTERS
    for key in "the old m":
        text += key
        before = counting.num_read
        typed.suggest(text)
        assert counting.num_read - before <= (1 if model.model.context_words is None else model.model.context_words)


def test_a_long_context_is_not_cut_where_only_the_last_words_count(model: TextModel) -> None:
    if model.model.context_words is None:
        return
    words = ("the old man found a dog and the cat saw mary 's fish " * 150).split()
    assert len(" ".join(words)) > MOST_CHARACTERS
    state = model.start()
    for word in words:
        state = model.feed(state, word)
    log_probs = model.log_probs(state)
    best = max(range(NUM_SPECIAL, len(model.vocabulary)), key=lambda word: log_probs[word])
    found = model.suggest(" ".join(words) + " ", 1)[0]
    assert found.word == model.vocabulary.words[best]
    assert found.probability == pytest.approx(float(np.exp(log_probs[best])), rel=1e-5)


def test_suggestions_are_written_as_people_write(n_gram: TextModel) -> None:
    first = {each.word: each for each in n_gram.suggest("", 60)}
    assert first["the"].text == "The"
    assert first["the"].insert == "The"
    after = {each.word: each for each in n_gram.suggest("Mary", 60)}
    assert set(after) == {"mary"}
    marks = {each.word: each for each in n_gram.suggest("The cat saw mary ", 60)}
    assert marks["'s"].insert == "'s"
    assert marks["the"].insert == "the"


def test_scores_are_those_of_the_model(model: TextModel) -> None:
    scores = model.full_scores("The cat saw a zebra.")
    assert [each.word for each in scores] == ["the", "cat", "saw", "a", "zebra", ".", "</s>"]
    assert [each.is_unknown for each in scores] == [False, False, False, False, True, False, False]
    ids = np.array(model.vocabulary.encode(["the", "cat", "saw", "a", "zebra", "."]))
    ((_, expected),) = model.model.score_sentences([ids])
    assert [each.log10_prob for each in scores] == pytest.approx((expected / math.log(10)).tolist())
    assert model.score("The cat saw a zebra.") == pytest.approx(expected.sum() / math.log(10))
    assert model.score("The cat", end=False) == pytest.approx(sum(each.log10_prob for each in scores[:2]), abs=1e-4)
    assert model.score_all(["The cat", "A dog!"]) == pytest.approx([model.score("The cat"), model.score("A dog!")])


def test_perplexity_is_that_of_the_evaluation(model: TextModel, corpus: TokenCorpus) -> None:
    part = corpus.part("test")
    text = "\n".join(" ".join(model.vocabulary.decode(ids)) for ids in part.sentences())
    assert model.perplexity(text) == pytest.approx(part_perplexity(model.model, part).value, rel=0.02)
    with pytest.raises(InputError, match="no words"):
        model.perplexity(" \n")


def test_words_of_the_vocabulary(model: TextModel) -> None:
    assert "cat" in model
    assert "Cat" in model
    assert "zebra" not in model


def test_samples_repeat_under_a_seed_and_follow_their_settings(model: TextModel) -> None:
    assert model.sample(seed=3) == model.sample(seed=3)
    assert len({model.sample(seed=seed) for seed in range(8)}) > 1
    begun = model.sample("The cat", seed=1, max_words=5)
    assert begun.startswith("The cat")
    best = model.suggest("The cat ", 1)[0].word
    assert model.sample("The cat", temperature=0, max_words=1) in (f"The cat {best}", f"The cat{best}", "The cat")


def test_draws_follow_the_distribution() -> None:
    """A hundred thousand draws against the probabilities, whole and cut."""
    probs = np.array([0.5, 0.25, 0.15, 0.1])
    chance = np.random.default_rng(1)
    for settings, expected in (
        ({}, probs),
        ({"temperature": 0.5}, probs**2 / (probs**2).sum()),
        ({"top_k": 2}, np.array([2 / 3, 1 / 3, 0, 0])),
        ({"top_p": 0.7}, np.array([2 / 3, 1 / 3, 0, 0])),
    ):
        drawn = np.bincount([draw(np.log(probs), chance, **settings) for _ in range(20_000)], minlength=4) / 20_000
        np.testing.assert_allclose(drawn, expected, atol=0.015)


def test_a_share_that_needs_many_words_gets_as_many_as_it_needs() -> None:
    """Of 3,000 words of falling probability, 0.9 of it takes the first 2,051: 1 - (1 - 2051 / 3000)² is 0.8999."""
    log_probs, chance = np.log(np.arange(3_000, 0, -1.0)), np.random.default_rng(1)
    drawn = np.array([draw(log_probs, chance, top_p=0.9) for _ in range(20_000)])
    assert 2_000 < drawn.max() <= 2_051
    assert draw(np.array([-np.inf, 0.0, -np.inf]), chance, temperature=1e-3) == 1


def test_explanations_need_codes(coded: TextModel, n_gram: TextModel) -> None:
    rare = coded.vocabulary.words[-1]
    assert coded.explain(rare).word == rare
    with pytest.raises(InputError, match="no codes"):
        n_gram.explain("cat")


def test_a_mixture_explains_by_the_codes_of_its_part(corpus: TokenCorpus, model: TextModel) -> None:
    if len(model.model.parts) > 1:
        word = model.vocabulary.words[-1]
        assert model.explain(word) == TextModel(model.model.parts[0]).explain(word)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda model: model.suggest("a", 0), "`k` 0"),
        (lambda model: model.sample(temperature=-1), "temperature"),
        (lambda model: model.sample(top_k=0), "top_k"),
        (lambda model: model.sample(top_p=1.5), "top_p"),
        (lambda model: model.sample(max_words=0), "max_words"),
    ],
)
def test_settings_that_mean_nothing_are_refused(n_gram: TextModel, call, named: str) -> None:
    with pytest.raises(InputError, match=named):
        call(n_gram)


@pytest.mark.parametrize(
    "text", ["\0", "日本語 テキスト ", "🙂 ", "é" * 5000, "word " * 200_000, "((((((", "-" * 999, "\ufffd\u202e a"]
)
def test_any_text_gives_an_answer(n_gram: TextModel, text: str) -> None:
    assert isinstance(n_gram.suggest(text), list)
    assert isinstance(n_gram.full_scores(text[:2000]), list)


def test_threads_share_a_model(model: TextModel) -> None:
    texts = ["The cat ", "A dog saw ", "the old man's f", "Mary l", ""] * 6
    expected = [model.suggest(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(TextModel(model.model).suggest, texts)) == expected


def test_the_best_words_and_equal_ones_by_rank() -> None:
    log_probs = np.array([-1, -3, -2, -3, -0.5], np.float32)
    assert top_words(log_probs, np.array([4, 3, 1, 0]), 3).tolist() == [4, 0, 1]
    assert top_words(log_probs, np.array([1, 3]), 9).tolist() == [1, 3]
