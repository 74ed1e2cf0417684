"""Weighted row sums against the sum written out, and their gradients against finite differences."""

import pytest
import torch

from fewwords.layers.row_sums import sum_rows, take_rows, touched_rows


@pytest.fixture
def entries() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    indices = torch.tensor([4, 0, 4, 2, 2])
    starts = torch.tensor([0, 2, 2, 3])  # the second group is empty
    weights = torch.tensor([0.5, -1.0, 2.0, 0.25, 3.0], dtype=torch.float64)
    return indices, starts, weights


@pytest.mark.parametrize("shape", [(5, 3), (5,)])
def test_sums_written_out(shape: tuple[int, ...], entries: tuple[torch.Tensor, ...]) -> None:
    table = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    by_hand = torch.stack(
        [0.5 * table[4] - table[0], torch.zeros_like(table[0]), 2.0 * table[4], 0.25 * table[2] + 3.0 * table[2]]
    )
    torch.testing.assert_close(sum_rows(table, *entries), by_hand)


@pytest.mark.parametrize("shape", [(5, 3), (5,)])
def test_gradients_against_finite_differences(shape: tuple[int, ...], entries: tuple[torch.Tensor, ...]) -> None:
    indices, starts, weights = entries
    table = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    weights.requires_grad_()
    assert torch.autograd.gradcheck(lambda t, w: sum_rows(t, indices, starts, w), (table, weights))
    assert torch.autograd.gradcheck(lambda t: take_rows(t, indices), (table,))


@pytest.mark.parametrize("shape", [(5, 3), (5,)])
def test_sparse_gradient_is_coalesced_and_equals_the_dense_one(
    shape: tuple[int, ...], entries: tuple[torch.Tensor, ...]
) -> None:
    table = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    (dense,) = torch.autograd.grad(sum_rows(table, *entries).square().sum(), table)
    (sparse,) = torch.autograd.grad(sum_rows(table, *entries, sparse=True).square().sum(), table)
    assert sparse.is_sparse
    assert sparse.is_coalesced()
    assert sparse.indices()[0].tolist() == [0, 2, 4]
    torch.testing.assert_close(sparse.to_dense(), dense)


def test_touched_rows_of_one_and_of_two_gradients() -> None:
    table = torch.ones(5, 2, requires_grad=True)
    take_rows(table, torch.tensor([3, 1, 3]), sparse=True).sum().backward()
    assert table.grad is not None
    rows, values = touched_rows(table.grad)
    assert (rows.tolist(), values.tolist()) == ([1, 3], [[1.0, 1.0], [2.0, 2.0]])
    take_rows(table, torch.tensor([4, 3]), sparse=True).sum().backward()
    rows, values = touched_rows(table.grad)
    assert (rows.tolist(), values[:, 0].tolist()) == ([1, 3, 4], [1.0, 3.0, 1.0])
    in_order_with_a_repeat = torch.sparse_coo_tensor(
        torch.tensor([[1, 3, 3]]), torch.ones(3), (5,), check_invariants=True
    )
    rows, values = touched_rows(in_order_with_a_repeat)
    assert (rows.tolist(), values.tolist()) == ([1, 3], [1.0, 2.0])
