"""The loss of the training settings: noise-contrastive with shared or per-position noise, full or sampled softmax.

The noise follows the counts of the training part. Words that the model never predicts are never drawn.
"""

from fewwords.losses.nce import NoiseContrastiveLoss
from fewwords.losses.noise import UnigramNoise
from fewwords.losses.softmax import FullSoftmaxLoss, SampledSoftmaxLoss
from fewwords.models.neural.variants import ModelSettings
from fewwords.training.settings import TrainingSettings
from fewwords.vocabulary import END_ID, START_ID, Vocabulary

Objective = NoiseContrastiveLoss | FullSoftmaxLoss | SampledSoftmaxLoss


def never_predicted(model_settings: ModelSettings) -> tuple[int, ...]:
    """The words that are no targets: `<s>`, and `</s>` too where the end of a sentence is not predicted."""
    return (START_ID, END_ID) if model_settings.boundary == "paper" else (START_ID,)


def make_objective(settings: TrainingSettings, model_settings: ModelSettings, vocabulary: Vocabulary) -> Objective:
    """The loss that the settings name, with noise from the vocabulary's counts."""
    if settings.loss == "softmax":
        return FullSoftmaxLoss()
    noise = UnigramNoise(vocabulary.counts, power=settings.noise_power, excluded=never_predicted(model_settings))
    if settings.loss == "sampled-softmax":
        return SampledSoftmaxLoss(noise, num_noise=settings.num_noise_words)
    return NoiseContrastiveLoss(
        noise, num_noise=settings.num_noise_words, shared=settings.loss == "nce", group=settings.noise_group_words
    )
