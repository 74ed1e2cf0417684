"""Coded embeddings against the dense matrix `codes @ base`, forward and gradient."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.layers import CodedEmbedding, CodeTable, DenseEmbedding
from fewwords.layers.row_sums import touched_rows

NUM_WORDS, BASE_SIZE, SIZE = 23, 6, 4
IDS = torch.tensor([[0, 7, 7, 22], [5, 0, 12, 7]])


def make_codes(seed: int = 0) -> SparseCodes:
    random = np.random.default_rng(seed)
    rare = np.where(random.random((NUM_WORDS - BASE_SIZE, BASE_SIZE)) < 0.4, random.random((1, BASE_SIZE)), 0.0)
    rare[:, 2] += 0.1
    return SparseCodes.from_csr(csr_array(np.vstack([np.eye(BASE_SIZE), rare]).astype(np.float32)))


def code_matrix(codes: SparseCodes) -> torch.Tensor:
    return torch.from_numpy(codes.to_csr().toarray()).double()


def test_forward_and_gradient_equal_the_dense_product() -> None:
    codes = make_codes()
    layer = CodedEmbedding(codes, SIZE).double()
    dense = (code_matrix(codes) @ layer.base)[IDS]
    upstream = torch.randn(dense.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    (by_dense,) = torch.autograd.grad(dense, layer.base, upstream)
    coded = layer(IDS)
    (by_coded,) = torch.autograd.grad(coded, layer.base, upstream)
    torch.testing.assert_close(coded, dense)
    torch.testing.assert_close(by_coded, by_dense)
    torch.testing.assert_close(layer.vectors(IDS[0]), dense[0])


@pytest.mark.parametrize("sparse", [False, True])
def test_gradient_of_tuned_codes(sparse: bool) -> None:
    codes = make_codes()
    layer = CodedEmbedding(codes, SIZE, tune_codes=True, sparse=sparse).double()
    assert "codes.values" in dict(layer.named_parameters())
    values = torch.tensor(codes.values, dtype=torch.float64, requires_grad=True)
    rows, columns = (torch.from_numpy(part).long() for part in codes.to_csr()[BASE_SIZE:].tocoo().coords)
    rare = torch.zeros(NUM_WORDS - BASE_SIZE, BASE_SIZE, dtype=torch.float64).index_put((rows, columns), values)
    dense = (torch.cat([torch.eye(BASE_SIZE, dtype=torch.float64), rare]) @ layer.base.detach())[IDS]
    (by_dense,) = torch.autograd.grad(dense.pow(3).sum(), values)
    layer(IDS).pow(3).sum().backward()
    gradient = layer.codes.values.grad
    assert gradient is not None
    assert gradient.is_sparse == sparse
    torch.testing.assert_close(gradient.to_dense(), by_dense)


@pytest.mark.parametrize("sparse", [False, True])
def test_projection_keeps_codes_from_going_negative(sparse: bool) -> None:
    layer = CodedEmbedding(make_codes(), SIZE, tune_codes=True, sparse=sparse)
    layer(IDS).sum().backward()
    gradient = layer.codes.values.grad
    assert gradient is not None
    touched = gradient.to_dense() != 0
    with torch.no_grad():
        layer.codes.values[touched] = -1.0
    before = layer.codes.values.detach().clone()
    layer.project_codes()
    torch.testing.assert_close(layer.codes.values.detach(), before.clamp_min(0))


def test_dense_embedding_is_a_lookup() -> None:
    layer = DenseEmbedding(NUM_WORDS, SIZE)
    torch.testing.assert_close(layer(IDS), torch.nn.functional.embedding(IDS, layer.weight), rtol=0, atol=0)


def test_sparse_gradients_hold_only_the_rows_of_the_batch() -> None:
    codes = make_codes()
    dense_layer, coded_layer = (
        DenseEmbedding(NUM_WORDS, SIZE, sparse=True),
        CodedEmbedding(codes, SIZE, sparse_base=True),
    )
    for layer, table, rows in (
        (dense_layer, dense_layer.weight, IDS.unique()),
        (coded_layer, coded_layer.base, code_matrix(codes)[IDS.unique()].sum(0).nonzero()[:, 0]),
    ):
        layer(IDS).sum().backward()
        assert table.grad is not None
        assert table.grad.is_sparse
        assert touched_rows(table.grad)[0].tolist() == rows.tolist()


def test_words_outside_the_batch_are_not_read() -> None:
    codes = make_codes()
    layer = CodedEmbedding(codes, SIZE)
    used = code_matrix(codes)[[0, 8]].sum(0) > 0
    assert not used.all()
    with torch.no_grad():
        layer.base[~used] = torch.nan
    assert layer(torch.tensor([0, 8])).isfinite().all()


def test_one_parameter_can_serve_two_layers() -> None:
    codes = make_codes()
    first = CodedEmbedding(codes, SIZE)
    second = CodedEmbedding(first.codes, SIZE, base=first.base)
    assert second.base is first.base
    assert second.codes is first.codes
    with pytest.raises(ValueError, match=r"needs \[6, 5\]"):
        CodedEmbedding(codes, SIZE + 1, base=first.base)
    with pytest.raises(ValueError, match="tune=True"):
        CodedEmbedding(first.codes, SIZE, tune_codes=True)


def test_state_restores_the_layer_to_the_bit() -> None:
    layer, other = CodedEmbedding(make_codes(), SIZE), CodedEmbedding(make_codes(), SIZE)
    assert not torch.equal(other(IDS), layer(IDS))
    with torch.no_grad():
        other.codes.values.zero_()
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(IDS), layer(IDS))


def test_codes_can_stay_out_of_the_state() -> None:
    layer = CodedEmbedding(CodeTable(make_codes(), persistent=False), SIZE)
    assert set(layer.state_dict()) == {"base"}


def test_edges() -> None:
    layer = CodedEmbedding(make_codes(), SIZE)
    assert layer(torch.empty(0, 3, dtype=torch.long)).shape == (0, 3, SIZE)
    for outside in (-2, -1, NUM_WORDS):
        with pytest.raises((IndexError, RuntimeError)):
            layer(torch.tensor([outside]))
    only_base = CodedEmbedding(SparseCodes.from_csr(csr_array(np.eye(3, dtype=np.float32))), SIZE)
    torch.testing.assert_close(only_base(torch.arange(3)), only_base.base)
