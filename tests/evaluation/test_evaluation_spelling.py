"""Bits per character with unknown words spelled out: the letter model is a probability, and the sums are those of a hand."""

import itertools
import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.errors import InputError
from fewwords.evaluation.spelling import NUM_CODE_POINTS, spell_part, train_rare_spelling, train_spelling
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary

WORDS = ["ab", "abba", "ba", "a", "bab", "été"]
COUNTS = np.array([3, 1, 2, 5, 1, 2])


class PlainWittenBell:
    """A second way to the same figures: dictionaries and a recursion."""

    def __init__(self, words: list[str], counts: list[int], order: int) -> None:
        self.order = order
        self.letters = sorted({letter for word in words for letter in word})
        self.after: dict[str, Counter[str]] = defaultdict(Counter)
        for word, count in zip(words, counts):
            padded = "^" * (order - 1) + word + "$"
            for place in range(order - 1, len(padded)):
                for length in range(order):
                    self.after[f"{length}{padded[place - length : place]}"][padded[place]] += count

    def prob(self, letter: str, context: str, length: int) -> float:
        if length < 0:
            share = 1 / (len(self.letters) + 2)
            return share if letter in [*self.letters, "$", "?"] else share / (NUM_CODE_POINTS - len(self.letters))
        lower = self.prob(letter, context, length - 1)
        seen = self.after.get(f"{length}{context[len(context) - length :]}")
        return lower if seen is None else (seen[letter] + len(seen) * lower) / (seen.total() + len(seen))

    def bits(self, word: str) -> float:
        padded = "^" * (self.order - 1) + word + "$"
        places = range(self.order - 1, len(padded))
        return -sum(math.log2(self.prob(padded[at], self.seen_as(padded[:at]), self.order - 1)) for at in places)

    def seen_as(self, context: str) -> str:
        """The context with every letter that training had not as the one symbol for such letters."""
        return "".join(letter if letter in [*self.letters, "^"] else "?" for letter in context)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_bits_are_those_of_the_formula_written_out(order: int) -> None:
    model = train_spelling(WORDS, COUNTS, order)
    oracle = PlainWittenBell(WORDS, COUNTS.tolist(), order)
    asked = ["a", "ab", "abab", "bbbbbbb", "été", "x", "axb", "日本"]
    assert model.bits(asked) == pytest.approx([oracle.bits(word) for word in asked])


def test_all_words_together_have_a_probability_of_one() -> None:
    words, counts = ["ab", "b", "ba", "a"], np.array([4, 9, 2, 7])
    model = train_spelling(words, counts, 3)
    oracle = PlainWittenBell(words, counts.tolist(), 3)
    others = NUM_CODE_POINTS - 2  # every other code point costs what x costs
    finished, unfinished = 0.0, {"": 1.0}
    for length in range(7):
        spelled = ["".join(letters) for letters in itertools.product("abx", repeat=length)]
        finished += sum(2.0**-bits * others ** word.count("x") for word, bits in zip(spelled, model.bits(spelled)))
        # what goes on after so many letters, by the other method
        longer: dict[str, float] = defaultdict(float)
        for context, mass in unfinished.items():
            padded = oracle.seen_as("^^" + context)
            for letter in "abx":
                longer[context + letter] += mass * oracle.prob("?" if letter == "x" else letter, padded, 2)
        unfinished = longer
        assert finished + sum(unfinished.values()) == pytest.approx(1)
    assert finished > 0.9


def test_counts_matter_and_the_like_is_cheaper_than_the_unlike() -> None:
    twice = train_spelling([*WORDS, *WORDS], np.concatenate([COUNTS, COUNTS]))
    doubled = train_spelling(WORDS, 2 * COUNTS)
    assert twice.bits(WORDS) == pytest.approx(doubled.bits(WORDS))
    model = train_spelling(["walking", "talking", "stalking"], np.array([1, 1, 1]))
    near, far = model.bits(["balking", "gnlkiab"])
    assert near < far
    assert model.bits([]).shape == (0,)
    with pytest.raises(InputError, match="order 6"):
        train_spelling(WORDS, COUNTS, 6)


def test_more_letters_than_fit_are_other_letters() -> None:
    # 5,000 letters that occur twice or once: the rarer ones are no symbols of their own
    letters = [chr(0x4E00 + number) for number in range(5_000)]
    counts = np.ones(len(letters), np.int64)
    model = train_spelling([*letters, *letters[:4_000]], np.concatenate([counts, counts[:4_000]]))
    assert len(model.letters) == 4_093
    assert np.isfinite(model.bits(letters)).all()


def rare_vocabulary() -> Vocabulary:
    rare = [f"w{letter}{other}" for letter in "abcdefgh" for other in "xyz"]
    return Vocabulary([*SPECIAL_WORDS, "the", "cat", *rare], np.array([0, 9, 9, 50, 40, 3, 2] + [1] * (len(rare) - 2)))


def test_a_lost_word_costs_what_the_held_out_words_cost() -> None:
    vocabulary = rare_vocabulary()
    spelling = train_rare_spelling(vocabulary, 5)
    once = vocabulary.words[7:]
    held_out = once[::10]
    kept = [word for word in vocabulary.words[5:] if word not in held_out]
    model = train_spelling(kept, vocabulary.counts[[vocabulary.ids[word] for word in kept]])
    assert spelling.lost_bits == pytest.approx(model.bits(held_out).mean())
    assert spelling.lost_length == 3
    with pytest.raises(InputError, match="leaves no words"):
        train_rare_spelling(vocabulary, len(vocabulary))


@pytest.fixture
def corpus(tmp_path: Path) -> TokenCorpus:
    lines = [f"the cat saw w{first}{second} ." for first in "abcdef" for second in "uvwxyz"] * 3
    lines += [f"the cat saw z{number} ." for number in range(60)]
    (tmp_path / "text").write_text("\n".join(lines))
    settings = Settings(tokenized=True)
    return prepare([str(tmp_path / "text")], tmp_path / "work", settings=settings, dev_words=80, test_words=80)


def test_a_part_by_hand(corpus: TokenCorpus) -> None:
    size = 7  # the special words, the, cat, saw and the full stop
    spelled = spell_part(corpus, "test", size)
    part, vocabulary = corpus.part("test"), corpus.vocabulary()
    spelling = train_rare_spelling(vocabulary, size)
    bits = characters = 0.0
    lost = unknown = 0
    for sentence in part.sentences():
        for rank in sentence:
            word = vocabulary.words[rank]
            lost += rank == 0
            unknown += rank == 0 or rank >= size
            characters += 1 + (spelling.lost_length if rank == 0 else len(word))
            bits += spelling.lost_bits if rank == 0 else spelling.model.bits([word])[0] if rank >= size else 0.0
    assert 0 < lost < unknown
    assert (spelled.num_lost, spelled.num_unknown) == (lost, unknown)
    assert (spelled.num_words, spelled.num_sentences) == (part.num_words, part.num_sentences)
    assert spelled.letter_bits == pytest.approx(bits)
    assert spelled.num_characters == pytest.approx(characters)
    # a model that gives each target 1/4 pays two bits a target
    targets = part.num_words + part.num_sentences
    assert spelled.bits_per_character(-targets * math.log(4)) == pytest.approx((2 * targets + bits) / characters)
    assert spell_part(corpus, "test", size, max_words=20).num_words <= 20


def test_a_larger_vocabulary_spells_fewer_words(corpus: TokenCorpus) -> None:
    small, large = (spell_part(corpus, "test", size) for size in (7, 30))
    assert small.num_unknown > large.num_unknown
    assert small.num_lost == large.num_lost
