"""The language models of section 4.3: variants as values, one class, one folder on disk."""

from fewwords.models.language_model import LanguageModel
from fewwords.models.mixture import Mixture
from fewwords.models.model_folder import SavedModel, load_model, save_model
from fewwords.models.variants import VARIANTS, ModelSettings, settings_of

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
