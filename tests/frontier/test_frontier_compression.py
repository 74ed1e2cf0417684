"""What is made of a trained model: product quantisation, SVD by frequency, rounding, each against what makes it right."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fewwords.frontier.block_svd import block_svd
from fewwords.frontier.dense_twin import dense_model, dense_weights, twin_inputs
from fewwords.frontier.points import float_bytes
from fewwords.frontier.product_quantisation import decode, fit_codebooks, k_means, nearest, quantise_products
from fewwords.frontier.rounding import round_tables
from fewwords.models.neural.model import NeuralModel
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.packing.recipe import RECIPES
from fewwords.vocabulary import NUM_SPECIAL
from packed_models import make_neural, packed_model

SENTENCES = [np.array([5, 9, 12, 40]), np.array([7, 7, 3])]
TEXT = np.array([[5, 9, 12, 40], [3, 59, 20, 4]])
TABLES: dict[str, dict[str, Any]] = {
    "low-rank": {"rank": 4},
    "hashed": {"num_buckets": 20},
    "quotient": {"num_buckets": 20},
    "adaptive": {"band_words": (10, 20), "band_ranks": (10, 4, 2)},
}


def table_model(storage: str, **changes: Any) -> NeuralModel:
    return make_neural("lstm-z", embedding=storage, output=storage, **TABLES[storage], **changes)


def test_every_point_has_the_nearest_centroid_and_every_centroid_is_the_mean_of_its_points() -> None:
    random = np.random.default_rng(1)
    points = random.normal(size=(3_000, 3)).astype(np.float32)
    importance = random.random(3_000) + 0.1
    codes, book = k_means(points, importance)
    distances = np.square(points[:, None] - book[None]).sum(2)
    assert np.array_equal(codes, distances.argmin(1))
    assert len(np.unique(codes)) == 256
    error = importance @ distances.min(1)
    means = np.stack(
        [np.average(points[codes == each], axis=0, weights=importance[codes == each]) for each in range(256)]
    )
    # Lloyd's algorithm has nearly ended: one more step changes next to nothing
    assert importance @ np.square(points - means[codes]).sum(1) > 0.98 * error
    start = points[np.random.default_rng(1).choice(3_000, 256, replace=False)]
    assert error < 0.9 * (importance @ nearest(points, start)[1])


def test_few_points_are_their_own_centroids() -> None:
    table = np.random.default_rng(2).normal(size=(40, 6)).astype(np.float32)
    codes, books = fit_codebooks(table, 2, np.ones(40))
    assert (codes.shape, books.shape) == ((40, 3), (3, 40, 2))
    np.testing.assert_allclose(decode(codes, books), table, atol=1e-6)


def test_product_quantisation_of_a_model_is_exact_where_words_are_few() -> None:
    model = make_neural("lstm-z", tied=True)  # 60 words: a centroid each, and all that is lost is 8 bits
    weights, num_bytes = quantise_products(model, 5, RECIPES[8], twin_inputs(model, SENTENCES))
    found, wanted = dense_model(model, weights).target_log_probs(TEXT), model.target_log_probs(TEXT)
    np.testing.assert_allclose(found, wanted, atol=0.15)
    assert num_bytes > 60 * 2 + 60 * 10  # the codes, and codebooks of 8 bits
    coarse, fewer = quantise_products(model, 10, RECIPES[8], twin_inputs(model, SENTENCES))
    assert fewer == num_bytes - 60
    assert not np.array_equal(coarse["embedding.weight"], model.network.embedding_table.detach().numpy())


@pytest.mark.parametrize("tied", [True, False])
def test_a_block_svd_is_numpys_svd_of_each_block_weighted_by_frequency(tied: bool) -> None:
    model = make_neural("lstm-z", tied=tied)
    smaller = block_svd(model, (10, 20), (10, 4, 2))
    counts = model.vocabulary.counts
    old, new = dense_weights(model), dense_weights(smaller)
    assert old.keys() == new.keys()
    for name in ("embedding.weight", *([] if tied else ["output.weight"])):
        for first, stop, rank in ((0, 10, 10), (10, 30, 4), (30, 60, 2)):
            root = np.sqrt(counts[first:stop, None])
            left, lengths, right = np.linalg.svd(root * old[name][first:stop], full_matrices=False)
            wanted = (left[:, :rank] * lengths[:rank]) @ right[:rank] / root
            np.testing.assert_allclose(new[name][first:stop], wanted, atol=1e-5)
    for name in old.keys() - {"embedding.weight", "output.weight"}:
        np.testing.assert_array_equal(old[name], new[name])


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("storage", TABLES)
def test_a_dense_twin_gives_the_same_probabilities(storage: str, tied: bool) -> None:
    model = table_model(storage, tied=tied)
    twin = dense_model(model, dense_weights(model))
    np.testing.assert_allclose(twin.target_log_probs(TEXT), model.target_log_probs(TEXT), atol=1e-4)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("storage", TABLES)
def test_rounded_tables_are_near_and_all_bytes_are_counted(storage: str, tied: bool) -> None:
    model = table_model(storage, tied=tied)
    exact = dense_weights(model)
    errors, sizes = [], []
    for bits in (8, 4):
        weights, num_bytes = round_tables(model, RECIPES[bits], twin_inputs(model, SENTENCES))
        assert weights.keys() == exact.keys()
        errors.append({name: np.abs(weights[name] - exact[name]).mean() / np.abs(exact[name]).mean() for name in exact})
        sizes.append(num_bytes)
        numbers = model.memory.total - model.memory.normaliser
        assert num_bytes > numbers * bits / 8  # and words, scales and the header
    assert max(errors[0].values()) < 0.03
    assert max(errors[1].values()) < 0.35
    assert sizes[1] < sizes[0] < float_bytes(model) + 5_000
    assert np.isfinite(dense_model(model, weights).target_log_probs(TEXT)).all()


def test_a_rounded_low_rank_table_is_still_of_low_rank() -> None:
    model = table_model("low-rank", tied=True)
    weights, _ = round_tables(model, RECIPES[4], twin_inputs(model, SENTENCES))
    assert np.linalg.matrix_rank(weights["embedding.weight"], tol=1e-4) == 4


@pytest.mark.parametrize(("variant", "changes"), [("lstm-z-w", {}), ("lstm-z-wb", {"tied": False}), ("lstm-z", {})])
def test_a_packed_model_in_pytorch_has_the_same_probabilities(variant: str, changes: Any, tmp_path: Path) -> None:
    packed = packed_model(make_neural(variant, **changes), tmp_path, 4)
    np.testing.assert_allclose(in_pytorch(packed).target_log_probs(TEXT), packed.target_log_probs(TEXT), atol=1e-4)


def test_float_bytes_are_four_a_number() -> None:
    model = make_neural("lstm-z", tied=True)
    parameters = sum(each.numel() for each in model.network.parameters())
    words = float_bytes(model) - 4 * (parameters - 11)
    assert 0 < words < 10 * (model.num_words - NUM_SPECIAL)
    assert torch.is_tensor(model.network.output.bias)
