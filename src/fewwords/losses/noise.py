"""The noise distribution P_n of section 3.4: unigram counts raised to a power.

Probabilities are kept as whole numbers that sum to about 2^53, and a draw is one random whole number looked up in
their running sum: O(log V) per draw, nothing of size V touched, and `log_prob` is exactly that of what is drawn.
Noise-contrastive estimation needs P_n(w) > 0 for every word that can be a target, `<unk>` included, so words that were
never counted get the smallest positive count; words that are never predicted (`<s>`) can be excluded.
"""

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from fewwords.errors import InputError

# Enough for a probability of 1e-15, and sums of it stay exact in int64 even with one unit added for every word.
_TOTAL = 2.0**53


class UnigramNoise(nn.Module):
    """Draws word ids with probability proportional to max(count, floor) ** power.

    `floor` defaults to the smallest positive count. `excluded` ids are never drawn; their `log_prob` is -inf.
    """

    log_prob: Tensor
    running_sum: Tensor

    def __init__(
        self,
        counts: ArrayLike | Tensor,
        *,
        power: float = 1.0,
        floor: float | None = None,
        excluded: Iterable[int] = (),
    ) -> None:
        super().__init__()
        raised = np.array(counts.cpu().numpy() if isinstance(counts, Tensor) else counts, dtype=np.float64)
        if raised.ndim != 1 or not np.isfinite(raised).all() or (raised < 0).any() or not (raised > 0).any():
            raise InputError(
                "noise counts: need one finite number >= 0 for each word, some positive; count words first"
            )
        raised = np.maximum(raised, raised[raised > 0].min() if floor is None else floor) ** power
        kept = np.ones(len(raised), dtype=bool)
        kept[list(excluded)] = False
        if not (raised[kept] > 0).all() or not kept.any():
            raise InputError("noise counts: every word that is not excluded needs a positive count; raise the floor")
        raised[~kept] = 0.0
        units = np.where(kept, np.maximum(np.rint(raised / raised.sum() * _TOTAL), 1.0), 0.0).astype(np.int64)
        running_sum = np.cumsum(units)
        with np.errstate(divide="ignore"):
            log_prob = np.log(units) - np.log(running_sum[-1])
        # Both follow from the counts, so a model's state need not carry them.
        self.register_buffer("running_sum", torch.from_numpy(running_sum), persistent=False)
        self.register_buffer("log_prob", torch.from_numpy(log_prob).float(), persistent=False)
        self._total = int(running_sum[-1])

    @property
    def num_words(self) -> int:
        """The number of words V, excluded ones included."""
        return len(self.running_sum)

    def sample(self, shape: tuple[int, ...], generator: torch.Generator | None = None) -> Tensor:
        """Word ids of the given shape, drawn independently with replacement."""
        drawn = torch.randint(self._total, shape, generator=generator, device=self.running_sum.device)
        return torch.searchsorted(self.running_sum, drawn, right=True)
