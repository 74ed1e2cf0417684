"""Noise-contrastive estimation, the training objective of section 3.4.

With x(w) = s(h, w) - ln Z_h - ln(k P_n(w)), the loss of one context is -ln sigmoid(x(target)) - sum over its k noise
words of ln sigmoid(-x(noise)): the negated J of the paper, in log-sigmoids so that nothing overflows. The noise words
are drawn for the whole batch or for groups of its contexts, where matrix products give all scores, or for each position
as in the paper. A noise word that happens to be the target stays: it belongs to the noise, and without it the estimate
would be biased.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from fewwords.layers.output import OutputLayer
from fewwords.layers.row_sums import take_rows
from fewwords.losses.gathered_scores import gathered_scores
from fewwords.losses.noise import UnigramNoise
from fewwords.losses.normaliser import Normaliser
from fewwords.losses.shared_noise import shared_noise_loss


class NoiseContrastiveLoss(nn.Module):
    """The mean loss of a batch with `num_noise` words drawn from `noise`, shared by contexts or for each position.

    They are shared by about `group` contexts, at the same cost in products for any size of group, or by the whole
    batch.
    """

    def __init__(
        self, noise: UnigramNoise, *, num_noise: int = 512, shared: bool = True, group: int | None = None
    ) -> None:
        super().__init__()
        self.noise, self.num_noise, self.shared, self.group = noise, num_noise, shared, group

    def forward(
        self,
        h: Tensor,
        targets: Tensor,
        output: OutputLayer,
        normaliser: Normaliser,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """The mean loss per word of contexts h [N, size] with targets [N]."""
        if self.shared:
            groups = 1 if self.group is None else max(1, round(len(targets) / self.group))
            shape: tuple[int, ...] = (self.num_noise,) if groups == 1 else (groups, self.num_noise)
        else:
            shape = (len(targets), self.num_noise)
        return self.with_noise(h, targets, output, normaliser, self.noise.sample(shape, generator))

    def with_noise(
        self, h: Tensor, targets: Tensor, output: OutputLayer, normaliser: Normaliser, noise_ids: Tensor
    ) -> Tensor:
        """The same with given noise: [k] for the whole batch, [N, k] per position, [G, k] for G consecutive groups."""
        log_k = math.log(noise_ids.shape[-1])
        negative_log_z = normaliser.negative_log_z(h)
        if noise_ids.dim() == 1 or len(noise_ids) < len(targets):
            ids = torch.cat([targets, noise_ids.reshape(-1)])
            weights, biases = output.weights_and_biases(ids)
            shifts = biases - (self.noise.log_prob[ids] + log_k)
            return shared_noise_loss(h, negative_log_z, weights, shifts, noise_ids.shape[-1])
        # A frequent word is drawn at many positions; its vector is built once.
        ids, places = torch.unique(torch.cat([targets[:, None], noise_ids], dim=1), return_inverse=True)
        weights, biases = output.weights_and_biases(ids)
        shifts = take_rows(biases - (self.noise.log_prob[ids] + log_k), places.view(-1)).view_as(places)
        x = gathered_scores(weights, h, places) + shifts + negative_log_z[:, None]
        return (functional.softplus(-x[:, 0]).sum() + functional.softplus(x[:, 1:]).sum()) / len(targets)
