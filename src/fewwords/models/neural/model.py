"""A neural language model in use: a trained network with vocabulary and text rules, behind the `Model` interface.

Probabilities are normalised explicitly over the whole vocabulary (equation 1). Sentences of one length go through the
network together, which changes no sentence's score, because each starts from a new state. A sentence longer than a
batch is read piece by piece, carrying its state along, so memory depends neither on the vocabulary nor on the length of
a sentence.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.models.memory import Memory
from fewwords.models.model import BATCH_WORDS, Model, Scored, Sentence
from fewwords.models.neural.boundaries import first_input, read
from fewwords.models.neural.by_length import score_by_length
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.memory import network_memory, uncompressed_memory
from fewwords.text.rules import TextRules
from fewwords.vocabulary import Vocabulary

State = tuple[Tensor, ...]


@dataclass(eq=False)
class NeuralModel(Model):
    """`network` in evaluation mode over `vocabulary`; `codes` are those of a coded network."""

    network: LanguageModel
    vocabulary: Vocabulary
    codes: SparseCodes | None = None
    rules: TextRules = field(default_factory=TextRules)
    made_from: dict[str, Any] = field(default_factory=dict)

    @property
    def variant(self) -> str:
        """The model's name: `lstm-z-w`."""
        return self.network.settings.variant

    @property
    def predicts_end(self) -> bool:
        """Whether `</s>` is among the targets."""
        return self.network.settings.boundary == "end"

    @property
    def num_numbers(self) -> int:
        """All numbers that the model stores, indices of the codes included."""
        return self.memory.total

    @property
    def memory(self) -> Memory:
        """The numbers by part."""
        return network_memory(self.network)

    @property
    def uncompressed_memory(self) -> Memory:
        """What the same model would store without codes."""
        return uncompressed_memory(self.network.settings, self.num_words)

    @property
    def context_words(self) -> int | None:
        """As many as the encoder looks back at."""
        return self.network.encoder.context_words

    @torch.no_grad()
    def word_vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Rows of the embedding, computed from codes and base where it is coded, [n, size]."""
        self.check_ids(ids)
        found: NDArray[np.float32] = (
            self.network.embedding.vectors(torch.from_numpy(ids).to(self._device)).cpu().numpy()
        )
        return found

    @torch.no_grad()
    def start(self) -> State:
        """The encoder's state at the start of a sentence."""
        state: State = self.network.encoder.start_state(1)
        word = first_input(self.network.settings.boundary)
        return state if word is None else self.feed_all([state], [word])[0]

    @torch.no_grad()
    def feed_all(self, states: Sequence[State], words: Sequence[int]) -> list[State]:
        """The states after one word each, given by id."""
        if not states:
            return []
        self.check_ids(words)
        ids = torch.tensor([list(words)], device=self._device)
        _, after = self.network.encoder(self.network.embedding(ids), _join(states))
        return [tuple(part[:, place : place + 1].clone() for part in after) for place in range(len(states))]

    @torch.no_grad()
    def read(self, state: State, words: Sequence[int]) -> State:
        """The state after several words more, which go through the network together."""
        self.check_ids(words)
        for first in range(0, len(words), BATCH_WORDS):
            ids = torch.tensor(words[first : first + BATCH_WORDS], device=self._device)[:, None]
            state = self.network.encoder(self.network.embedding(ids), state)[1]
        return tuple(part.clone() for part in state)

    @torch.no_grad()
    def log_probs_all(self, states: Sequence[State]) -> NDArray[np.float32]:
        """ln p of every word of the vocabulary as the next one, [states, V]."""
        if not states:
            return np.empty((0, self.num_words), np.float32)
        contexts = self.network.encoder.context(_join(states))
        found: NDArray[np.float32] = self.network.output.log_probs(contexts).cpu().numpy()
        return found

    def score_sentences(
        self,
        sentences: Iterable[Sentence],
        *,
        batch_words: int = BATCH_WORDS,
        advance: Callable[[int], None] | None = None,
    ) -> Iterator[Scored]:
        """The sentences in order with ln p of their targets; see `Model.score_sentences`."""
        return score_by_length(sentences, self.target_log_probs, batch_words, advance)

    @torch.no_grad()
    def target_log_probs(self, sentences: NDArray[np.int64], most_contexts: int = BATCH_WORDS) -> NDArray[np.float64]:
        """ln p of the targets [num_sentences, length (+ 1 with `</s>`)] of sentences [num_sentences, length].

        At most `most_contexts` contexts (but at least one time step) are held at once.
        """
        network, num_sentences = self.network, len(sentences)
        reading = read(torch.from_numpy(sentences).to(self._device), network.settings.boundary)
        if not len(reading.targets):
            return np.empty((num_sentences, 0))
        state = network.encoder.start_state(num_sentences)
        parts: list[Tensor] = []
        if reading.predicts_before_reading:
            parts.append(network.output.log_probs_of(network.encoder.context(state), reading.targets[0])[None])
        done = len(parts)
        step = max(1, most_contexts // num_sentences)
        for first in range(0, len(reading.inputs), step):
            contexts, state = network.encoder(network.embedding(reading.inputs[first : first + step]), state)
            wanted = reading.targets[done + first : done + first + step].reshape(-1)
            log_probs = network.output.log_probs_of(contexts.reshape(len(wanted), -1), wanted)
            parts.append(log_probs.view(-1, num_sentences))
        found: NDArray[np.float64] = torch.cat(parts).t().double().cpu().numpy()
        return found

    @property
    def _device(self) -> torch.device:
        return self.network.device


def _join(states: Sequence[State]) -> State:
    """Several states as one; the second dimension of every part is the sentence."""
    return states[0] if len(states) == 1 else tuple(torch.cat(parts, dim=1) for parts in zip(*states))
