"""The noise distribution: its frequencies, its log-probabilities and its edges."""

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from fewwords.errors import InputError
from fewwords.losses import UnigramNoise

COUNTS = np.array([500, 300, 120, 40, 25, 10, 5])


@pytest.mark.parametrize("power", [1.0, 0.75])
def test_frequencies_agree_with_the_distribution(power: float) -> None:
    noise = UnigramNoise(COUNTS, power=power)
    drawn = noise.sample((200, 500), torch.Generator().manual_seed(5))
    observed = torch.bincount(drawn.view(-1), minlength=len(COUNTS)).numpy()
    expected = COUNTS**power / (COUNTS**power).sum() * drawn.numel()
    assert chisquare(observed, expected).pvalue > 0.01


def test_log_prob_is_the_normalised_count() -> None:
    noise = UnigramNoise(torch.from_numpy(COUNTS), power=0.5)
    expected = np.log(COUNTS**0.5 / (COUNTS**0.5).sum())
    np.testing.assert_allclose(noise.log_prob.numpy(), expected, rtol=1e-6)


def test_a_seed_gives_the_same_words() -> None:
    noise = UnigramNoise(COUNTS)
    first, again, other = (noise.sample((100,), torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_uncounted_words_get_the_smallest_count() -> None:
    np.testing.assert_allclose(UnigramNoise([6, 0, 2, 0]).log_prob.exp(), np.array([6, 2, 2, 2]) / 12, rtol=1e-6)
    np.testing.assert_allclose(
        UnigramNoise([6, 0, 2, 0], floor=3).log_prob.exp(), np.array([6, 3, 3, 3]) / 15, rtol=1e-6
    )


def test_excluded_words_are_never_drawn() -> None:
    noise = UnigramNoise([9, 1, 1, 5], excluded=[0, 3])
    assert set(noise.sample((500,), torch.Generator().manual_seed(0)).tolist()) == {1, 2}
    assert noise.log_prob[0] == noise.log_prob[3] == -np.inf


def test_the_smallest_draw_falls_on_the_first_word_that_has_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "randint", lambda high, shape, **_: torch.zeros(shape, dtype=torch.long))
    assert UnigramNoise([9, 1, 1, 5]).sample((1,)).item() == 0
    assert UnigramNoise([9, 1, 1, 5], excluded=[0]).sample((1,)).item() == 1


def test_the_rarest_of_many_words_keeps_its_probability() -> None:
    counts = np.array([1e15] + [1e-9] * 10)
    noise = UnigramNoise(counts)
    assert noise.log_prob.isfinite().all()
    assert noise.sample((10,)).max() == 0


def test_changing_the_type_of_a_model_does_not_change_the_draws() -> None:
    noise = UnigramNoise(COUNTS)
    before = noise.sample((50,), torch.Generator().manual_seed(1))
    assert torch.equal(noise.half().sample((50,), torch.Generator().manual_seed(1)), before)


@pytest.mark.parametrize("counts", [[0, 0], [1, -1], [1, np.nan], [[1, 2]]])
def test_bad_counts_are_refused(counts: list[float]) -> None:
    with pytest.raises(InputError, match="noise counts"):
        UnigramNoise(counts)
