"""Packed models with random weights over some words, and their pages in a browser."""

from pathlib import Path

import numpy as np
import torch
from browser import Browser

from fewwords.codes.controls import random_codes
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.packing.pack import pack
from fewwords.page.make import make_page
from fewwords.runtime import PackedModel, load
from fewwords.text.rules import TextRules
from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary

WORDS = (
    "the of and in to a was is for on as with by he that at from his it an are were which be this also had has have , . "
    "i 's \" ( ) - ? university history california library libraries librarians said naïve café 東京 𐐷 algorithm algorithms "
    "mr. u.s. no. inc. don't 1990 3.5 10:30 at&t … -- ..."
).split()
NUM_BASE, NONZEROS, SIZE = 24, 4, 20
NETWORKS = {
    "coded and tied, 4 bits": ("lstm-z-w", {}, 4),
    "coded, 8 bits": ("lstm-z-w", {"tied": False}, 8),
    "coded biases": ("lstm-z-wb", {}, 4),
    "dense, more bits for frequent words": ("lstm-z", {"tied": False}, 4, 2100),
    "two layers from a learned state": ("lstm-z", {"num_layers": 2, "boundary": "paper"}, 8),
    "more cells": ("lstm-z-w", {"cell_size": 30, "num_layers": 2, "boundary": "paper"}, 8),
    "gru": ("gru-z-w", {"boundary": "paper"}, 4),
    "log-bilinear": ("lbl5-w", {}, 8),
}


def packed_file(folder: Path, variant: str, changes: dict[str, object], bits: int, num_more: int = 0) -> Path:
    """A packed model with random weights over some words."""
    torch.manual_seed(5)
    words = [*SPECIAL_WORDS, *WORDS, *(f"word{number}" for number in range(num_more))]
    settings = settings_of(variant, embedding_size=SIZE, hidden_size=SIZE, **changes)
    codes = random_codes(len(words), NUM_BASE, NONZEROS, seed=1) if settings.is_coded else None
    network = LanguageModel(settings, len(words), codes).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    vocabulary = Vocabulary(words, np.arange(len(words), 0, -1))
    model = NeuralModel(network, vocabulary, codes, TextRules(), {"result": {"dev_perplexity": 12.5}})
    save_neural(folder / "model", model, "A card with </script> & <b>.")
    return pack(folder / "model", folder / "model.few", bits=bits).path


def open_page(browser: Browser, packed: Path) -> PackedModel:
    page = make_page(packed, packed.with_suffix(".html"))
    browser.open(page)
    browser.wait_for("window.page")
    return load(packed)
