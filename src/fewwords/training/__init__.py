"""Training (section 4.3): one loop for all variants, resumable to the same bits, on one process or many."""

from typing import TYPE_CHECKING

from fewwords.lazy import lazy_names

if TYPE_CHECKING:
    from fewwords.training.kneser_ney import KneserNeySummary as KneserNeySummary
    from fewwords.training.kneser_ney import train_kneser_ney as train_kneser_ney
    from fewwords.training.loop import train as train
    from fewwords.training.settings import TrainingSettings as TrainingSettings
    from fewwords.training.summary import TrainingSummary as TrainingSummary

__getattr__ = lazy_names(
    __name__,
    {
        "KneserNeySummary": "kneser_ney",
        "TrainingSettings": "settings",
        "TrainingSummary": "summary",
        "train": "loop",
        "train_kneser_ney": "kneser_ney",
    },
)
