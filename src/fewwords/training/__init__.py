"""Training (section 4.3): one loop for all variants, resumable to the same bits, on one process or many."""

from fewwords.training.loop import model_folder, train
from fewwords.training.settings import TrainingSettings
from fewwords.training.summary import TrainingSummary

__all__ = ["TrainingSettings", "TrainingSummary", "model_folder", "train"]
