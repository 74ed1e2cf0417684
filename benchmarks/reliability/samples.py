"""A small English text, a work folder made of it, and models of every kind: the unharmed files.

Everything is tiny (some 60 words, vectors of 6 values), so that a reader sees hundreds of them in a second.
"""

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from fewwords.codes import SparseCodes, random_codes
from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.models.kneser_ney import KneserNey, estimate
from fewwords.models.mixture.folder import save_mixture
from fewwords.models.mixture.mixture import Mixture
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import settings_of
from fewwords.vectors import WordVectors
from fewwords.work_folder import codes_path

SIZE, BASE_SIZE = 6, 12


def make_text(num_sentences: int, seed: int = 1) -> str:
    """Sentences of a small grammar, one per line."""
    chance = random.Random(seed)
    people = [
        "the cat",
        "a dog",
        "Mary",
        "the old man",
        "my aunt",
        "every child",
        "no king",
        "one of the twelve farmers",
    ]
    verbs = ["saw", "liked", "found", "ate", "sold", "painted", "forgot", "did not want", "has often lost"]
    things = ["fish", "it", "food", "an apple", "two books", "the red door", "rain", "its own tail", "1,200 letters"]
    ends = [".", "!", "?", ", and it was good.", " (again).", " in the U.S. last year.", "; nobody knew why."]
    lines = []
    for _ in range(num_sentences):
        line = " ".join(chance.choice(each) for each in (people, verbs, people, verbs, things)) + chance.choice(ends)
        lines.append(line[0].upper() + line[1:])
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Work:
    """A work folder with a corpus, vectors and codes."""

    folder: Path
    corpus: TokenCorpus
    vectors: WordVectors
    codes: SparseCodes

    @property
    def size(self) -> int:
        """The words of the vocabulary."""
        return self.corpus.num_types


def make_work(folder: Path) -> Work:
    """Make the work folder `work` in a folder, and the text it is made of."""
    text = folder / "text.txt"
    text.write_text(make_text(120))
    corpus = prepare([str(text)], folder / "work", settings=Settings(), dev_words=60, test_words=30)
    vocabulary = corpus.vocabulary()
    values = np.random.default_rng(1).normal(size=(len(vocabulary), SIZE)).astype(np.float32)
    values[:3] = 0
    vectors = WordVectors(values, np.any(values, axis=1), vocabulary.fingerprint, {"kind": "random"})
    vectors.save(folder / "work")
    codes = random_codes(len(vocabulary), BASE_SIZE + 3, 3, seed=1)
    codes.made_from["vocabulary"] = vocabulary.fingerprint
    codes.save(codes_path(folder / "work", len(vocabulary), BASE_SIZE))
    return Work(folder / "work", corpus, vectors, codes)


def save_neural_model(work: Work, variant: str, folder: Path) -> NeuralModel:
    """Write a model with random weights."""
    torch.manual_seed(1)
    settings = settings_of(variant, embedding_size=SIZE, hidden_size=SIZE)
    codes = work.codes if settings.is_coded else None
    network = LanguageModel(settings, work.size, codes).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    made_from = {"corpus": work.corpus.made_from, "result": {"words": 1000, "dev_perplexity": 30.5}}
    model = NeuralModel(network, work.corpus.vocabulary(), codes, work.corpus.rules, made_from)
    save_neural(folder, model, "# A model\n")
    return model


def save_n_gram_model(work: Work, folder: Path) -> KneserNey:
    """Write a Kneser-Ney model of the corpus."""
    part, vocabulary = work.corpus.part("train"), work.corpus.vocabulary()
    model = estimate(part, 3, vocabulary=vocabulary, discount_fallback=(0.5, 1, 1.5), max_words=400)
    model.save(folder, "# A model\n")
    return model


def save_mixed_model(work: Work, folder: Path, scratch: Path) -> Mixture:
    """Write a mixture of a neural and a Kneser-Ney model."""
    components = (
        save_neural_model(work, "gru-z-w", scratch / "1"),
        save_n_gram_model(work, scratch / "2"),
    )
    mixture = Mixture(components, (0.25, 0.75), work.corpus.vocabulary(), {"corpus": work.corpus.made_from})
    save_mixture(folder, mixture, [scratch / "1", scratch / "2"], "# A mixture\n")
    return mixture
