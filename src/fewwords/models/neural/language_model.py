"""A neural language model: the three subnets of figure 1, Embedding, Encoding, Prediction, and a normaliser."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.errors import InputError
from fewwords.layers.code_table import CodeTable
from fewwords.layers.embedding import CodedEmbedding, DenseEmbedding
from fewwords.layers.output import CodedOutput, DenseOutput
from fewwords.layers.tables.layers import TableEmbedding, TableOutput
from fewwords.losses.normaliser import make_normaliser
from fewwords.models.neural.boundaries import read
from fewwords.models.neural.encoders import encoder_of
from fewwords.models.neural.variants import ModelSettings
from fewwords.models.neural.word_tables import make_table


class Predictions(NamedTuple):
    """What to predict in a batch of sentences: contexts [N, size] and the word [N] that follows each."""

    contexts: Tensor
    targets: Tensor


class LanguageModel(nn.Module):
    """One class for all variants; `codes` are needed where the settings say coded, for exactly `num_words` words."""

    def __init__(self, settings: ModelSettings, num_words: int, codes: SparseCodes | None = None) -> None:
        super().__init__()
        self.settings = settings
        self.num_words = num_words
        self.codes: CodeTable | None = None
        if settings.is_coded:
            if codes is None:
                raise InputError(f"{settings.variant} needs sparse codes; run fewwords codes")
            if codes.num_words != num_words:
                raise InputError(
                    f"the codes are for {codes.num_words:,} words and the vocabulary has {num_words:,}; "
                    "make codes for this vocabulary size"
                )
            # one table for both layers, saved in a separate file
            self.codes = CodeTable(codes, tune=settings.tune_codes, sparse=True, persistent=False)
        self.embedding = self._make_embedding(settings)
        self.encoder = encoder_of(settings.encoder)(settings)
        self.output = self._make_output(settings)
        self.normaliser = make_normaliser(settings.normaliser, settings.hidden_size)
        self.dropout = nn.Dropout(settings.dropout)

    def _make_embedding(self, settings: ModelSettings) -> DenseEmbedding | CodedEmbedding | TableEmbedding:
        if settings.embedding == "coded" and self.codes is not None:
            return CodedEmbedding(self.codes, settings.embedding_size, tune_codes=settings.tune_codes)
        if settings.embedding != "dense":
            return TableEmbedding(make_table(settings, settings.embedding, self.num_words, settings.embedding_size))
        return DenseEmbedding(self.num_words, settings.embedding_size, sparse=True)

    def _make_output(self, settings: ModelSettings) -> DenseOutput | CodedOutput | TableOutput:
        if isinstance(self.embedding, TableEmbedding) and settings.tied:
            return TableOutput(self.embedding.table)
        if settings.output not in ("dense", "coded"):
            return TableOutput(make_table(settings, settings.output, self.num_words, settings.hidden_size))
        tied = self.embedding_table if settings.tied else None
        if settings.output == "coded" and self.codes is not None:
            return CodedOutput(
                self.codes,
                settings.hidden_size,
                coded_bias=settings.coded_bias,
                tune_codes=settings.tune_codes,
                base=tied,
                sparse=True,
            )
        return DenseOutput(self.num_words, settings.hidden_size, weight=tied, sparse=True)

    @property
    def variant(self) -> str:
        """The model's name: `lstm-z-w`."""
        return self.settings.variant

    @property
    def embedding_table(self) -> nn.Parameter:
        """The matrix of word vectors: of all words, or of the base words; a model with other word tables has none."""
        if isinstance(self.embedding, TableEmbedding):
            raise TypeError("a word table is not one matrix of vectors")
        return self.embedding.base if isinstance(self.embedding, CodedEmbedding) else self.embedding.weight

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.output.bias.device

    def predictions(self, sentences: Tensor) -> Predictions:
        """Contexts and targets of sentences of one length, ids [num_sentences, length] without boundaries.

        There are length + 1 per sentence if `</s>` is predicted, else length, ordered by time step.
        """
        reading = read(sentences, self.settings.boundary)
        state = self.encoder.start_state(len(sentences))
        parts = [self.encoder.context(state)[None]] if reading.predicts_before_reading else []
        if len(reading.inputs):
            parts.append(self.encoder(self.dropout(self.embedding(reading.inputs)), state)[0])
        contexts = parts[0] if len(parts) == 1 else torch.cat(parts)
        flat = self.dropout(contexts).reshape(-1, self.settings.hidden_size)
        return Predictions(flat, reading.targets.reshape(-1))

    def project_codes(self) -> None:
        """Keep tuned code values non-negative; call it after each step."""
        if self.codes is not None and self.codes.tuned:
            self.codes.project()
