"""A model before its first step: vocabulary and codes of a work folder, and where embedding and biases start.

Biases start at the log of the unigram probability by default, so that a model need not spend its first words on
learning how frequent words are. Words that are never predicted always start at a bias so low that they take no
probability: no noise would ever push them down.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fewwords.codes.controls import nearest_codes, random_codes
from fewwords.codes.sparse_codes import SparseCodes
from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError, Remedy, Stage
from fewwords.layers.embedding import START_RANGE
from fewwords.layers.tables.layers import TableEmbedding
from fewwords.models.load import load
from fewwords.models.neural.boundaries import never_predicted
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import ModelSettings
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.models.packed.model import PackedModel
from fewwords.progress import say
from fewwords.training.settings import BiasStart, LossName, TrainingSettings
from fewwords.vectors.word_vectors import WordVectors
from fewwords.vocabulary import NUM_SPECIAL, Vocabulary
from fewwords.work_folder import codes_path

RANDOM_NONZEROS = 8
NEVER_PREDICTED_BIAS = -30.0


@dataclass(frozen=True, eq=False)
class Materials:
    """What a model is made from: the corpus, its vocabulary, and codes and vectors if the model needs them."""

    corpus: TokenCorpus
    vocabulary: Vocabulary
    codes: SparseCodes | None
    vectors: WordVectors | None


def choose_start(
    work: str | Path, model_settings: ModelSettings, settings: TrainingSettings, vocabulary_size: int
) -> TrainingSettings:
    """The settings with `embedding_start` decided: "vectors" if the work folder has fitting ones for all words."""
    if settings.embedding_start is not None:
        return settings
    shape = WordVectors.stored_shape(work)
    fits = shape is not None and shape[0] >= vocabulary_size and shape[1:] == (model_settings.embedding_size,)
    return replace(settings, embedding_start="vectors" if fits else "random")


def gather_materials(
    work: str | Path,
    model_settings: ModelSettings,
    settings: TrainingSettings,
    *,
    vocabulary_size: int,
    base_size: int,
    codes_file: Path | None = None,
    start: NeuralModel | None = None,
) -> Materials:
    """Read all that the model needs from a work folder; raises InputError naming the stage to run if any is missing.

    The codes are those of the model to start from, which may have been tuned, if there is one.
    """
    corpus = TokenCorpus.open(work)
    if vocabulary_size > corpus.num_types:
        raise InputError(
            f"a vocabulary of {vocabulary_size:,} words was asked for, but the corpus of {work} has {corpus.num_types:,}; "
            "give a smaller `vocabulary_size`, or prepare more text"
        )
    vocabulary = corpus.vocabulary(vocabulary_size)
    if start is not None and start.vocabulary.fingerprint != vocabulary.fingerprint:
        raise InputError(f"the model to start from has other words than {work}; name one of this vocabulary")
    from_vectors = settings.embedding_start in ("vectors", "fitted") or (
        model_settings.is_coded and settings.codes == "nearest"
    )
    vectors = WordVectors.load(work) if from_vectors else None
    if vectors is not None:
        _check_vectors(vectors, corpus.vocabulary(), vocabulary_size, work)
    if vectors is not None and settings.embedding_start == "vectors" and vectors.size != model_settings.embedding_size:
        raise InputError(
            f"the vectors of {work} have {vectors.size} dimensions and the embedding {model_settings.embedding_size}",
            remedy=(
                f"give `embedding_size` {vectors.size}",
                f"make vectors of `size` {model_settings.embedding_size}",
            ),
        )
    codes = None
    if start is not None:
        codes = start.codes
        if codes is not None and codes.num_base != base_size + NUM_SPECIAL:
            theirs = codes.num_base - NUM_SPECIAL
            raise InputError(f"the model to start from has {theirs:,} base words; give `base_size` {theirs}")
    elif model_settings.is_coded:
        codes = _read_codes(work, settings, vocabulary, vectors, base_size, codes_file)
    return Materials(corpus, vocabulary, codes, vectors)


def start_model(materials: Materials, model_settings: ModelSettings, settings: TrainingSettings) -> LanguageModel:
    """A new model under the settings' seed."""
    torch.manual_seed(settings.seed)
    model = LanguageModel(model_settings, len(materials.vocabulary), materials.codes)
    if settings.embedding_start in ("vectors", "fitted") and materials.vectors is not None:
        _start_embedding(model, materials.vectors, materials.vocabulary.counts)
    model.output.start_bias(start_biases(materials.vocabulary, model_settings, settings.bias_start))
    with torch.no_grad():
        # Again: the fit of coded biases ignores words of no probability. Special words are in no other word's code.
        model.output.bias[list(never_predicted(model_settings.boundary))] = NEVER_PREDICTED_BIAS
    return model


def load_start(path: Path, model_settings: ModelSettings, loss: LossName) -> NeuralModel:
    """The model to start from, a folder or a packed file, whose settings are those given.

    A packed file has no normaliser: that starts anew, which the losses that need one suffer from, and this says so. Raises
    InputError for another model.
    """
    found = load(path)
    if isinstance(found, PackedModel):
        found = in_pytorch(found)
        if loss in ("nce", "nce-per-position") and model_settings.normaliser != "one":
            say(
                f"{path}: a packed file has no normaliser, and `loss` {loss} learns one again, which makes the model worse for "
                "some million words; `loss` sampled-softmax needs none"
            )
    if not isinstance(found, NeuralModel):
        raise InputError(f"{path}: {found.variant} is no neural model; name another model to start from")
    theirs, ours = found.network.settings.to_json(), model_settings.to_json()
    other = next((name for name in ours if theirs.get(name) != ours[name]), None)
    if other is not None:
        raise InputError(
            f"{path}: has `{other}` {theirs.get(other)}, and the model that shall start from it {ours[other]}; give the same "
            "settings, or name another model"
        )
    return found


def start_biases(vocabulary: Vocabulary, model_settings: ModelSettings, bias_start: BiasStart) -> Tensor:
    """The biases [V] to start from; words without a count are treated as the rarest word."""
    excluded = list(never_predicted(model_settings.boundary))
    counts = vocabulary.counts.astype(np.float64)
    counts = np.maximum(counts, counts[counts > 0].min() if (counts > 0).any() else 1.0)
    counts[excluded] = 0.0
    if bias_start == "unigram":
        with np.errstate(divide="ignore"):
            biases = np.log(counts) - np.log(counts.sum())
    else:
        biases = np.full(len(counts), -math.log(len(counts)) if bias_start == "uniform" else 0.0)
    biases[excluded] = NEVER_PREDICTED_BIAS
    return torch.from_numpy(biases).float()


def _start_embedding(model: LanguageModel, vectors: WordVectors, counts: NDArray[np.int64]) -> None:
    """Give the words that have a vector its direction, with the root mean square that random values would have.

    A word table is fitted to such rows, in least squares weighted by the root of the counts (by the counts themselves, a few
    words would decide all); words without a vector have no weight.
    """
    embedding = model.embedding
    if isinstance(embedding, TableEmbedding):
        wanted = embedding.table.all_rows().detach().clone()
        _set_rows(wanted, vectors)
        weights = torch.from_numpy(np.sqrt(np.maximum(counts, 1.0)) * vectors.has_vector[: len(counts)])
        embedding.table.start_from(wanted, (weights / weights.mean()).to(wanted))
    else:
        _set_rows(model.embedding_table.data, vectors)


def _set_rows(table: Tensor, vectors: WordVectors) -> None:
    """Write the vectors of the first words, those of `table` [rows, size], into it."""
    num_rows, size = table.shape
    has_vector = torch.from_numpy(vectors.has_vector[:num_rows])
    rows = torch.from_numpy(vectors.values[:num_rows])[has_vector]
    if vectors.size > size:
        # the leading directions of the base words' vectors, or of all words'
        rows = rows @ torch.linalg.eigh((rows.t() @ rows).double())[1].flip(1)[:, :size].to(rows)
    elif vectors.size < size:
        rows = rows / rows.norm(dim=1, keepdim=True)
        spread = torch.empty(len(rows), size - vectors.size).uniform_(-1, 1) * math.sqrt(3 / size)
        rows = torch.cat([rows * math.sqrt(vectors.size / size), spread], dim=1)
    length = START_RANGE / math.sqrt(3) * math.sqrt(size)
    table[has_vector] = (rows * (length / rows.norm(dim=1, keepdim=True))).to(table)


def _check_vectors(vectors: WordVectors, whole: Vocabulary, vocabulary_size: int, work: str | Path) -> None:
    vectors.check_fits(whole)
    if len(vectors) < vocabulary_size:
        raise InputError(
            f"the vectors of {work} are for {len(vectors):,} words, fewer than the {vocabulary_size:,} of the model",
            remedy=Stage("vectors", work=work, vocabulary_size=vocabulary_size, force=True),
        )


def _read_codes(
    work: str | Path,
    settings: TrainingSettings,
    vocabulary: Vocabulary,
    vectors: WordVectors | None,
    base_size: int,
    codes_file: Path | None,
) -> SparseCodes:
    num_words, num_base = len(vocabulary), base_size + NUM_SPECIAL
    if base_size < 1 or num_base >= num_words:
        raise InputError(
            f"a vocabulary of {num_words:,} words with {base_size:,} base words leaves none to code; "
            "give a smaller `base_size` or a larger `vocabulary_size`, or train a model without codes (lstm-z)"
        )
    if settings.codes == "random":
        return random_codes(num_words, num_base, min(RANDOM_NONZEROS, base_size), settings.seed)
    if settings.codes == "nearest" and vectors is not None:
        return nearest_codes(vectors.values[:num_words], num_base)
    path = codes_file or codes_path(work, num_words, base_size)
    remedy: Remedy = Stage(
        "codes", work=work, vocabulary_size=num_words, base_size=base_size, force=path.is_file() or None
    )
    if codes_file is not None:
        remedy = "name codes of this corpus and these sizes, or leave `codes_file` out"
    if not path.is_file():
        raise InputError(f"{path}: no such file", remedy=remedy)
    codes = SparseCodes.load(path)
    if (codes.num_words, codes.num_base) != (num_words, num_base):
        raise InputError(f"{path}: codes of {codes.num_words:,} words over {codes.num_base:,}", remedy=remedy)
    if codes.made_from.get("vocabulary") != vocabulary.fingerprint:
        raise InputError(f"{path}: made for another vocabulary (the corpus has changed since)", remedy=remedy)
    return codes
