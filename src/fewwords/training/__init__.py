"""Training (section 4.3): one loop for all variants, resumable to the same bits, on one process or many."""

from fewwords.training.kneser_ney import KneserNeySummary, train_kneser_ney
from fewwords.training.loop import train
from fewwords.training.settings import TrainingSettings
from fewwords.training.summary import TrainingSummary
from fewwords.work_folder import model_folder

__all__ = ["KneserNeySummary", "TrainingSettings", "TrainingSummary", "model_folder", "train", "train_kneser_ney"]
