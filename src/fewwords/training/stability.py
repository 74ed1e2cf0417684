"""Whether training diverges: a loss or gradient that is not finite, or a loss that rises far above its lowest level.

The level of the loss is its mean over about the last 50,000 predictions, with older steps counting less; single small
batches may be far from it. Training has diverged when the level is above `factor` times the lowest so far, plus one nat
(so that a loss close to zero may still move).
"""

import math
from dataclasses import dataclass

LEVEL_PREDICTIONS = 50_000
ALLOWANCE = 1.0


@dataclass
class LossWatch:
    """Follows the loss of each step; `factor` 0 allows any level."""

    factor: float
    level: float | None = None
    lowest: float | None = None

    def fault(self, loss: float, gradient_norm: float) -> str | None:
        """What is wrong with a step, before it is taken, or None."""
        if not math.isfinite(loss):
            return f"the loss is {loss}"
        if not math.isfinite(gradient_norm):
            return f"the gradient's norm is {gradient_norm}"
        if self.factor and self.level is not None and self.lowest is not None:
            allowed = self.factor * self.lowest + ALLOWANCE
            if self.level > allowed:
                return f"the loss has risen to {self.level:.3g} from {self.lowest:.3g}"
        return None

    def note(self, loss: float, num_predictions: int) -> None:
        """Update the level with a step's loss."""
        if self.level is None or self.lowest is None:
            self.level = self.lowest = loss
            return
        self.level += (loss - self.level) * -math.expm1(-num_predictions / LEVEL_PREDICTIONS)
        self.lowest = min(self.lowest, self.level)
