"""The loss of the training settings: noise-contrastive with shared or per-position noise, full or sampled softmax.

The noise follows the counts of the training part. Words that the model never predicts are never drawn.
"""

from fewwords.losses.nce import NoiseContrastiveLoss
from fewwords.losses.noise import UnigramNoise
from fewwords.losses.softmax import FullSoftmaxLoss, SampledSoftmaxLoss
from fewwords.models.neural.boundaries import never_predicted
from fewwords.models.neural.variants import ModelSettings
from fewwords.training.settings import TrainingSettings
from fewwords.vocabulary import Vocabulary

Objective = NoiseContrastiveLoss | FullSoftmaxLoss | SampledSoftmaxLoss


def make_objective(settings: TrainingSettings, model_settings: ModelSettings, vocabulary: Vocabulary) -> Objective:
    """The loss that the settings name, with noise from the vocabulary's counts."""
    if settings.loss == "softmax":
        return FullSoftmaxLoss()
    noise = UnigramNoise(
        vocabulary.counts, power=settings.noise_power, excluded=never_predicted(model_settings.boundary)
    )
    if settings.loss == "sampled-softmax":
        return SampledSoftmaxLoss(noise, num_noise=settings.num_noise_words)
    return NoiseContrastiveLoss(
        noise, num_noise=settings.num_noise_words, shared=settings.loss == "nce", group=settings.noise_group_words
    )
