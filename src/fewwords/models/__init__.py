"""The language models of section 4.3: variants as values, one class, one folder on disk."""

from typing import TYPE_CHECKING

from fewwords.lazy import lazy_names

if TYPE_CHECKING:
    from fewwords.models.mixture.mixture import Mixture as Mixture
    from fewwords.models.model_folder import SavedModel as SavedModel
    from fewwords.models.model_folder import load_model as load_model
    from fewwords.models.model_folder import save_model as save_model
    from fewwords.models.neural.language_model import LanguageModel as LanguageModel
    from fewwords.models.neural.variants import VARIANTS as VARIANTS
    from fewwords.models.neural.variants import ModelSettings as ModelSettings
    from fewwords.models.neural.variants import settings_of as settings_of

__getattr__ = lazy_names(
    __name__,
    {
        "LanguageModel": "neural.language_model",
        "Mixture": "mixture.mixture",
        "ModelSettings": "neural.variants",
        "SavedModel": "model_folder",
        "VARIANTS": "neural.variants",
        "load_model": "model_folder",
        "save_model": "model_folder",
        "settings_of": "neural.variants",
    },
)
