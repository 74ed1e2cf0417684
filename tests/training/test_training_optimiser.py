"""The two halves of the optimiser against torch's own, clipping against torch's, the watch over the loss."""

import math

import pytest
import torch
from torch import nn

from fewwords.errors import InputError
from fewwords.layers.row_sums import take_rows
from fewwords.training.gradients import clip_gradients, collect_gradients
from fewwords.training.optimiser import BETAS, EPSILON, Optimiser
from fewwords.training.stability import LEVEL_PREDICTIONS, LossWatch

ROWS, SIZE = 30, 4


def sparse_gradient(rows, values, shape):
    return torch.sparse_coo_tensor(torch.tensor(rows)[None], values, shape, check_invariants=False)


def steps_of(seed, num_steps):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(num_steps):
        rows = torch.randperm(ROWS, generator=generator)[:7].sort().values.tolist()
        yield rows, torch.randn(len(rows), SIZE, generator=generator)


def test_lazy_rows_move_as_under_torch_sparse_adam():
    start = torch.randn(ROWS, SIZE)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    optimiser = Optimiser([("table", ours)])
    oracle = torch.optim.SparseAdam([theirs], lr=0.01, betas=BETAS, eps=EPSILON)
    untouched = set(range(ROWS))
    for rows, values in steps_of(1, 12):
        ours.grad = sparse_gradient(rows, values, ours.shape)
        theirs.grad = sparse_gradient(rows, values.clone(), ours.shape)
        optimiser.step(collect_gradients([ours]), 0.01)
        oracle.step()
        untouched -= set(rows)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    assert untouched
    assert torch.equal(ours[list(untouched)], start[list(untouched)])


def test_rows_of_every_step_move_as_under_plain_adam_and_dense_ones_with_them():
    start, other = torch.randn(ROWS, SIZE), torch.randn(3)
    tables = [nn.Parameter(start.clone()) for _ in range(2)]
    vectors = [nn.Parameter(other.clone()) for _ in range(2)]
    optimiser = Optimiser([("table", tables[0]), ("vector", vectors[0])])
    oracle = torch.optim.Adam([tables[1], vectors[1]], lr=0.02, betas=BETAS, eps=EPSILON)
    for _ in range(5):
        values, direct = torch.randn(ROWS, SIZE), torch.randn(3)
        tables[0].grad = sparse_gradient(list(range(ROWS)), values.clone(), start.shape)
        tables[1].grad, vectors[0].grad, vectors[1].grad = values, direct.clone(), direct.clone()
        optimiser.step(collect_gradients([tables[0], vectors[0]]), 0.02)
        oracle.step()
    torch.testing.assert_close(tables[0], tables[1])
    torch.testing.assert_close(vectors[0], vectors[1])


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_parameter_with_a_share_moves_as_under_adam_with_that_share_of_the_rate(is_sparse):
    start, other = torch.randn(ROWS, SIZE), torch.randn(3)
    tables = [nn.Parameter(start.clone()) for _ in range(2)]
    vectors = [nn.Parameter(other.clone()) for _ in range(2)]
    optimiser = Optimiser([("vector", vectors[0]), ("table", tables[0])], {"table": 0.25})
    oracles = [torch.optim.Adam([tables[1]], lr=0.005, betas=BETAS, eps=EPSILON)]
    oracles += [torch.optim.Adam([vectors[1]], lr=0.02, betas=BETAS, eps=EPSILON)]
    for _ in range(5):
        values, direct = torch.randn(ROWS, SIZE), torch.randn(3)
        rows = sparse_gradient(list(range(ROWS)), values.clone(), start.shape)
        tables[0].grad = rows if is_sparse else values.clone()
        tables[1].grad, vectors[0].grad, vectors[1].grad = values, direct.clone(), direct.clone()
        optimiser.step(collect_gradients([tables[0], vectors[0]]), 0.02)
        for oracle in oracles:
            oracle.step()
    torch.testing.assert_close(tables[0], tables[1])
    torch.testing.assert_close(vectors[0], vectors[1])


def test_a_table_used_twice_moves_by_the_sum_of_its_gradients():
    start = torch.randn(ROWS, SIZE)
    tied, dense = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    first, second = torch.tensor([3, 5, 9]), torch.tensor([4, 5])
    weights = torch.randn(3, SIZE), torch.randn(2, SIZE)
    for parameter, sparse in ((tied, True), (dense, False)):
        parts = [take_rows(parameter, ids, sparse=sparse) * weight for ids, weight in zip((first, second), weights)]
        (parts[0].sum() + parts[1].sum()).backward()
    gradients = collect_gradients([tied])
    assert gradients[0].rows is not None
    assert gradients[0].rows.tolist() == [3, 4, 5, 9]
    torch.testing.assert_close(gradients[0].values, dense.grad[[3, 4, 5, 9]])
    optimiser = Optimiser([("tied", tied)])
    optimiser.step(gradients, 0.1)
    torch.optim.Adam([dense], lr=0.1, betas=BETAS, eps=EPSILON).step()
    torch.testing.assert_close(tied, dense)


def test_clipping_is_that_of_all_gradients_together():
    dense, sparse, full = nn.Parameter(torch.zeros(5)), nn.Parameter(torch.zeros(ROWS, SIZE)), torch.zeros(ROWS, SIZE)
    rows, values = next(steps_of(2, 1))
    full[rows] = values
    twins = [nn.Parameter(torch.zeros(5)), nn.Parameter(torch.zeros(ROWS, SIZE))]
    twins[0].grad, twins[1].grad = torch.arange(5.0), full.clone()
    dense.grad, sparse.grad = torch.arange(5.0), sparse_gradient(rows, values, full.shape)
    gradients = collect_gradients([dense, sparse])
    norm = clip_gradients(gradients, 0.5)
    assert norm == pytest.approx(float(nn.utils.clip_grad_norm_(twins, 0.5)))
    torch.testing.assert_close(dense.grad, twins[0].grad)
    torch.testing.assert_close(sparse.grad.to_dense(), twins[1].grad)
    before = dense.grad.clone()
    clip_gradients(gradients, 100.0)
    clip_gradients(gradients, 0.0)
    assert torch.equal(dense.grad, before)


def test_state_goes_through_tensors_and_belongs_to_its_model():
    start = torch.randn(ROWS, SIZE)
    runs = [nn.Parameter(start.clone()) for _ in range(2)]
    optimisers = [Optimiser([("table", run)]) for run in runs]
    steps = list(steps_of(3, 6))
    for number, (rows, values) in enumerate(steps):
        if number == 3:
            state = {name: tensor.clone() for name, tensor in optimisers[0].state_tensors().items()}
            assert sorted(state) == ["table.exp_avg", "table.exp_avg_sq", "table.step"]
            runs[1].data.copy_(runs[0].data)
            optimisers[1].load_state_tensors(state)
        for run, optimiser in zip(runs[: 1 if number < 3 else 2], optimisers):
            run.grad = sparse_gradient(rows, values.clone(), start.shape)
            optimiser.step(collect_gradients([run]), 0.01)
    assert torch.equal(runs[0], runs[1])
    for wrong in (
        {"other.step": torch.zeros(())},
        {"table.exp_avg": torch.zeros(2, 2)},
        {"table.sums": torch.zeros(())},
    ):
        with pytest.raises(InputError, match="this model does not"):
            optimisers[1].load_state_tensors(wrong)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("table.exp_avg_sq", lambda tensor: None, "incomplete"),
        ("table.exp_avg_sq", lambda tensor: -1 - tensor, "damaged"),
        ("table.exp_avg", lambda tensor: tensor * math.nan, "damaged"),
        ("table.step", lambda tensor: tensor * math.inf, "damaged"),
        ("table.exp_avg", lambda tensor: tensor.double(), "this model does not"),
    ],
)
def test_a_state_that_would_spoil_the_weights_is_refused(name, change, told):
    table = nn.Parameter(torch.ones(4, 3))
    optimiser = Optimiser([("table", table)])
    table.grad = torch.ones(4, 3)
    optimiser.step(collect_gradients([table]), 0.01)
    state = optimiser.state_tensors()
    changed = {**state, name: change(state[name])}
    with pytest.raises(InputError, match=told):
        optimiser.load_state_tensors({key: tensor for key, tensor in changed.items() if tensor is not None})
    optimiser.load_state_tensors(state)


def test_watch_tells_faults_from_noise():
    watch = LossWatch(3.0)
    assert "nan" in (watch.fault(math.nan, 1.0) or "")
    assert "inf" in (watch.fault(1.0, math.inf) or "")
    for _ in range(20):
        watch.note(6.0, LEVEL_PREDICTIONS // 10)
    assert watch.fault(600.0, 1.0) is None  # one small batch says little
    watch.note(600.0, LEVEL_PREDICTIONS // 1000)
    assert watch.fault(6.0, 1.0) is None
    while watch.fault(30.0, 1.0) is None:
        watch.note(30.0, LEVEL_PREDICTIONS // 4)
        assert watch.level is not None
        assert watch.level < 30
    assert watch.level > 3 * 6 + 1
    never = LossWatch(0.0, level=1000.0, lowest=1.0)
    assert never.fault(1000.0, 1.0) is None
