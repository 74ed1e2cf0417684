"""Neural models of every kind with random weights, and packed ones."""

import hashlib
from pathlib import Path

import numpy as np
import torch

from fewwords.codes.controls import random_codes
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.models.packed.model import PackedModel
from fewwords.packing.pack import pack
from fewwords.runtime import load
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary

DIGITS = slice(37, 101)  # of the hash, as docs/format.md says


def make_neural(
    variant: str, num_words: int = 60, size: int = 10, num_base: int = 21, **changes: object
) -> NeuralModel:
    torch.manual_seed(3)
    settings = settings_of(variant, **{"embedding_size": size, "hidden_size": size, **changes})
    codes = random_codes(num_words, num_base, 3, seed=1) if settings.is_coded else None
    network = LanguageModel(settings, num_words, codes).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.6)
    words = [*SPECIAL_WORDS, *(f"w{chr(97 + rank % 7)}é{rank}" for rank in range(num_words - 3))]
    return NeuralModel(
        network, Vocabulary(words, np.arange(num_words, 0, -1)), codes, made_from={"result": {"words": 5}}
    )


def packed_model(model: NeuralModel, folder: Path, bits: int) -> PackedModel:
    """The model of a packed file."""
    save_neural(folder / "model", model, "# A card\n")
    return load(pack(folder / "model", folder / "model.few", bits=bits, force=True).path)


def reseal(content: bytes) -> bytes:
    """The content with the hash that it should have."""
    blank = content[: DIGITS.start] + b"0" * 64 + content[DIGITS.stop :]
    return content[: DIGITS.start] + hashlib.sha256(blank).hexdigest().encode() + content[DIGITS.stop :]
