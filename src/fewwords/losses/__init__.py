"""Noise-contrastive estimation with ZRegression and its comparisons (section 3.4), for any PyTorch model."""

from typing import TYPE_CHECKING

from fewwords.lazy import lazy_names

if TYPE_CHECKING:
    from fewwords.losses.nce import NoiseContrastiveLoss as NoiseContrastiveLoss
    from fewwords.losses.noise import UnigramNoise as UnigramNoise
    from fewwords.losses.normaliser import ConstantNormaliser as ConstantNormaliser
    from fewwords.losses.normaliser import Normaliser as Normaliser
    from fewwords.losses.normaliser import OneNormaliser as OneNormaliser
    from fewwords.losses.normaliser import ZRegression as ZRegression
    from fewwords.losses.normaliser import make_normaliser as make_normaliser
    from fewwords.losses.normaliser import normalisation_gap as normalisation_gap
    from fewwords.losses.softmax import FullSoftmaxLoss as FullSoftmaxLoss
    from fewwords.losses.softmax import SampledSoftmaxLoss as SampledSoftmaxLoss

__getattr__ = lazy_names(
    __name__,
    {
        "ConstantNormaliser": "normaliser",
        "FullSoftmaxLoss": "softmax",
        "NoiseContrastiveLoss": "nce",
        "Normaliser": "normaliser",
        "OneNormaliser": "normaliser",
        "SampledSoftmaxLoss": "softmax",
        "UnigramNoise": "noise",
        "ZRegression": "normaliser",
        "make_normaliser": "normaliser",
        "normalisation_gap": "normaliser",
    },
)
