"""Losses from the softmax itself: over the whole vocabulary, or over words sampled in its place.

The full softmax is -ln p(target|h) (equation 1). The sampled one puts exp(s(target)) + sum over k drawn words other
than the target of exp(s(w)) / (k P_n(w)) in place of Z(h); its expectation is Z(h). The target is there already, so
drawn words that equal it are removed, and its own score needs no correction, because it is not left to chance.
Both ignore the normaliser, which cancels.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from fewwords.layers.output import OutputLayer
from fewwords.losses.noise import UnigramNoise
from fewwords.losses.normaliser import Normaliser
from fewwords.losses.sampled_softmax import sampled_softmax_loss


class FullSoftmaxLoss(nn.Module):
    """The mean negative log-probability under the normalised model."""

    def forward(
        self,
        h: Tensor,
        targets: Tensor,
        output: OutputLayer,
        normaliser: Normaliser | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """The mean loss per word of contexts h [N, size] with targets [N]; nothing is drawn."""
        return functional.cross_entropy(output.logits(h), targets)


class SampledSoftmaxLoss(nn.Module):
    """The softmax over each target and `num_noise` words drawn from `noise` for the whole batch."""

    def __init__(self, noise: UnigramNoise, *, num_noise: int = 512) -> None:
        super().__init__()
        self.noise, self.num_noise = noise, num_noise

    def forward(
        self,
        h: Tensor,
        targets: Tensor,
        output: OutputLayer,
        normaliser: Normaliser | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """The mean loss per word of contexts h [N, size] with targets [N]."""
        return self.with_noise(h, targets, output, self.noise.sample((self.num_noise,), generator))

    def with_noise(self, h: Tensor, targets: Tensor, output: OutputLayer, noise_ids: Tensor) -> Tensor:
        """The same with given sampled words [k]."""
        drawn, counts = torch.unique(noise_ids, return_counts=True)  # frequent words are drawn many times
        log_weights = counts.log() - self.noise.log_prob[drawn] - math.log(len(noise_ids))
        weights, biases = output.weights_and_biases(torch.cat([targets, drawn]))
        return sampled_softmax_loss(h, targets, drawn, weights, biases + functional.pad(log_weights, (len(targets), 0)))
