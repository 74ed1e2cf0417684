"""The language models of section 4.3: variants as values, one class, one folder on disk."""

from fewwords.models.mixture.mixture import Mixture
from fewwords.models.model_folder import SavedModel, load_model, save_model
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.variants import VARIANTS, ModelSettings, settings_of

__all__ = [
    "VARIANTS",
    "LanguageModel",
    "Mixture",
    "ModelSettings",
    "SavedModel",
    "load_model",
    "save_model",
    "settings_of",
]
