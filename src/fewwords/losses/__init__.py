"""Noise-contrastive estimation with ZRegression and its comparisons (section 3.4), for any PyTorch model."""

from fewwords.losses.nce import NoiseContrastiveLoss
from fewwords.losses.noise import UnigramNoise
from fewwords.losses.normaliser import (
    ConstantNormaliser,
    Normaliser,
    OneNormaliser,
    ZRegression,
    make_normaliser,
    normalisation_gap,
)
from fewwords.losses.softmax import FullSoftmaxLoss, SampledSoftmaxLoss

__all__ = [
    "ConstantNormaliser",
    "FullSoftmaxLoss",
    "NoiseContrastiveLoss",
    "Normaliser",
    "OneNormaliser",
    "SampledSoftmaxLoss",
    "UnigramNoise",
    "ZRegression",
    "make_normaliser",
    "normalisation_gap",
]
