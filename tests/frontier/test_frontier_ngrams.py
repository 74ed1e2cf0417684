"""Pruned and packed 3-grams: losses against the definition, sums over the vocabulary, bytes, and an empty budget."""

import itertools
import random

import numpy as np
import pytest

from fewwords.frontier.ngram_packing import pack_to, quantised, tree_bytes
from fewwords.frontier.ngram_pruning import parents_of, probs_of, removal_losses, with_probs, without
from fewwords.models.kneser_ney.model import KneserNey
from fewwords.models.kneser_ney.trie import Trie
from fewwords.vocabulary import START_ID, Vocabulary

NUM_WORDS = 12


@pytest.fixture(scope="module")
def model() -> KneserNey:
    """A made-up tree of all orders, with back-off weights that make it sum to one."""
    chance = random.Random(4)
    follow = {(word,): sorted(chance.sample(range(2, NUM_WORDS), 4)) for word in range(NUM_WORDS)}
    pairs = [(first, second) for first in range(NUM_WORDS) for second in follow[(first,)]]
    for first, second in pairs:
        follow[first, second] = sorted(chance.sample(follow[(second,)], chance.choice((0, 1, 3))))
    levels = [[(word,) for word in range(NUM_WORDS)], pairs]
    levels.append([(*pair, word) for pair in pairs for word in follow[pair]])
    counts = [len(follow[node]) for node in itertools.chain(levels[0], levels[1])]
    children = np.cumsum([NUM_WORDS, *counts])
    words = np.array([node[-1] for level in levels for node in level], np.uint32)
    single = np.array([chance.random() for _ in range(NUM_WORDS)])
    single[START_ID] = 0
    single /= single.sum()
    probs = [*single, *(chance.uniform(0.02, 0.24) for _ in range(len(words) - NUM_WORDS))]
    with np.errstate(divide="ignore"):
        log10_probs = np.maximum(np.log10(probs), -99).astype(np.float32)
    sizes = tuple(map(len, levels))
    trie = Trie(words, log10_probs, np.zeros(sum(sizes[:2]), np.float32), children, sizes)
    vocabulary = Vocabulary(
        ["<unk>", "<s>", "</s>", *(f"w{rank}" for rank in range(NUM_WORDS - 3))], np.arange(30, 18, -1)
    )
    return KneserNey(vocabulary, with_probs(trie, log10_probs), {"order": 3}, {"result": {"words": 7}})


def all_contexts() -> list[np.ndarray]:
    return [np.array(each) for length in (1, 2) for each in itertools.product(range(NUM_WORDS), repeat=length)]


def sums(trie: Trie) -> np.ndarray:
    return np.array([trie.next_word(context).sum() for context in all_contexts()])


def test_every_context_sums_to_one_after_pruning(model: KneserNey) -> None:
    np.testing.assert_allclose(sums(model.trie), 1, atol=1e-5)
    losses = removal_losses(model.trie, model.vocabulary.counts)
    pruned = without(model.trie, losses, float(np.median(losses.of_triples)))
    assert 0 < pruned.sizes[2] < model.trie.sizes[2]
    np.testing.assert_allclose(sums(pruned), 1, atol=1e-5)


def test_the_loss_of_a_3_gram_is_the_divergence_that_its_removal_causes(model: KneserNey) -> None:
    trie = model.trie
    losses, counts = removal_losses(trie, model.vocabulary.counts), model.vocabulary.counts
    level, parents = trie.level(3), parents_of(trie, 3)
    for place in (0, 5, len(parents) - 1):
        kept = np.full(len(parents), 1.0)
        kept[place] = 0
        less = without(trie, type(losses)(np.full(trie.sizes[1], 9.0), kept, losses.parents), 0.5)
        assert less.sizes[2] == trie.sizes[2] - 1
        context = trie.spell(slice(level.start + place, level.start + place + 1), 3)[:2, 0]
        before, after = trie.next_word(context), less.next_word(context)
        seen = before > 0
        divergence = (before[seen] * np.log(before[seen] / after[seen])).sum()
        weight = counts[context[0]] / counts.sum() * probs_of(trie.log10_probs[parents[place : place + 1]])[0]
        assert losses.of_triples[place] == pytest.approx(weight * divergence, rel=1e-3)


def test_8_bits_are_exact_for_so_few_values_and_sums_stay_near_one(model: KneserNey) -> None:
    rounded = quantised(model.trie)
    np.testing.assert_allclose(rounded.log10_probs, model.trie.log10_probs, atol=2e-3)
    np.testing.assert_allclose(sums(rounded), 1, atol=5e-3)
    coarse = np.random.default_rng(1).normal(-3, 1, 5_000).astype(np.float32)
    from fewwords.frontier.ngram_packing import _rounded

    found = _rounded(coarse)
    assert len(np.unique(found)) <= 256
    assert np.abs(found - coarse).mean() < 0.02


def test_a_budget_is_kept_and_a_larger_one_keeps_more(model: KneserNey) -> None:
    smallest, whole = pack_to(model, 0), pack_to(model, 1e6)
    assert smallest.model.trie.sizes == (NUM_WORDS, 0, 0)
    assert whole.model.trie.sizes == model.trie.sizes
    middle = (smallest.num_bytes + whole.num_bytes) / 2
    found = pack_to(model, middle)
    assert smallest.num_bytes < found.num_bytes <= middle
    assert sum(smallest.model.trie.sizes) < sum(found.model.trie.sizes) < sum(whole.model.trie.sizes)
    assert np.isfinite(found.model.all_log_probs([np.array([4, 5, 6])])).all()


def test_the_bytes_of_a_tree_are_those_of_its_values_and_gaps_by_hand() -> None:
    # two words, each followed by word 1; no 3-grams
    words = np.array([0, 1, 1, 1], np.uint32)
    trie = Trie(words, np.zeros(4, np.float32), np.zeros(4, np.float32), np.array([2, 3, 4, 4, 4]), (2, 2, 0))
    # 4 probabilities and 2 back-off weights; child counts 1 1 0 0 in unary: 6 bits; gaps 1 1 in unary: 4 bits
    assert tree_bytes(trie) == 6 + 5 * 1024 + 1 + 1
