"""Counting n-grams: against a Counter, in blocks as in one go, by ranks as directly, and on a disk that fills."""

import errno
import resource
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from kneser_ney_oracle import adjusted_counts, make_part, make_vocabulary

from fewwords.models.kneser_ney import estimate, keys
from fewwords.models.kneser_ney.counts import NgramCounter
from fewwords.models.kneser_ney.sorted_runs import count_keys

SENTENCES = st.lists(st.lists(st.sampled_from([0, 3, 4, 5, 6]), max_size=7), min_size=1, max_size=10)


def found_counts(sentences, order, memory_bytes=1 << 20, folder=None):
    """Counts of each order as a dictionary, read back from the keys."""
    found = {}
    for ngrams in NgramCounter(make_part(sentences, 7), memory_bytes, folder).adjusted(order):
        rows = np.concatenate([ngrams.rows[stretch] for stretch in ngrams.stretches])
        counts = np.concatenate([ngrams.counts[stretch] for stretch in ngrams.stretches])
        words = list(zip(*ngrams.keys.unpack(rows).tolist()))
        assert words == sorted(words)
        assert ngrams.num_ngrams == len(words)
        found[ngrams.keys.order] = Counter(dict(zip(words, counts.tolist())))
    return found


@given(SENTENCES, st.integers(1, 5))
@hypothesis_settings(max_examples=60)
def test_counts_are_the_definition(sentences, order) -> None:
    assert found_counts(sentences, order) == adjusted_counts(sentences, order)


@given(SENTENCES, st.integers(1, 5), st.sampled_from([7**2, 7**3, 7**4]))
@hypothesis_settings(max_examples=60)
def test_ranked_keys_count_alike(sentences, order, largest) -> None:
    # keys beyond `largest` take ranks; with room for two words alone, a 5-gram has ranks within ranks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "LARGEST_KEY", largest)
        assert found_counts(sentences, order) == adjusted_counts(sentences, order)


@given(SENTENCES, st.integers(2, 4), st.sampled_from([16, 48, 160]))
@hypothesis_settings(max_examples=30)
def test_blocks_count_alike(sentences, order, memory_bytes) -> None:
    assert found_counts(sentences, order, memory_bytes) == adjusted_counts(sentences, order)


def test_blocks_from_disk_equal_memory(tmp_path: Path) -> None:
    pieces = [np.random.default_rng(seed).integers(0, 1 << 40, 5000) % 3000 for seed in range(7)]
    whole = count_keys(pieces, 35_000, memory_bytes=1 << 24, folder=tmp_path)
    merged_rows = []
    blocks = count_keys(pieces, 35_000, memory_bytes=16 * 1000, folder=tmp_path, merged=merged_rows.append)
    np.testing.assert_array_equal(whole.keys, blocks.keys)
    np.testing.assert_array_equal(whole.counts, blocks.counts)
    assert sum(merged_rows) == len(blocks.keys)
    assert len(merged_rows) > 1
    np.testing.assert_array_equal(np.unique(np.concatenate(pieces)), whole.keys)
    assert not list(tmp_path.iterdir())


def test_estimation_through_disk_is_the_same_to_the_bit(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    sentences = (3 + (400 * chance.random((10_000, 9)) ** 3).astype(int)).tolist()
    part, vocabulary = make_part(sentences, 200), make_vocabulary(200)
    settings = {"vocabulary": vocabulary, "discount_fallback": (0.5, 1, 1.5), "prune": (0, 1, 1)}
    whole = estimate(part, 3, **settings)
    # 100,000 rows, of which one MiB holds 65,536
    blocks = estimate(part, 3, **settings, memory_mib=1, temporary=tmp_path)
    for name in ("words", "log10_probs", "log10_backoffs", "children"):
        np.testing.assert_array_equal(getattr(whole.trie, name), getattr(blocks.trie, name))
    assert not list(tmp_path.iterdir())


def test_full_disk_is_an_ordinary_error(tmp_path: Path) -> None:
    pieces = [np.arange(start, start + 1000) for start in range(0, 10_000, 1000)]
    count_keys(pieces, 10_000, memory_bytes=16_000)  # compiles
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(OSError, match="too large") as failure:
            count_keys(pieces, 10_000, memory_bytes=16_000, folder=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert failure.value.errno == errno.EFBIG
    assert not list(tmp_path.iterdir())
