"""A neural model behind the `Model` interface with numpy alone, from a packed file or a model folder."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.sparse_codes import SparseCodes
from fewwords.models.memory import Memory
from fewwords.models.model import BATCH_WORDS, Model, Scored, Sentence
from fewwords.models.neural.boundaries import first_input, read
from fewwords.models.neural.by_length import score_by_length
from fewwords.models.packed.encoders import State
from fewwords.models.packed.network import Network
from fewwords.text.rules import TextRules
from fewwords.vocabulary import Vocabulary


@dataclass(eq=False)
class PackedModel(Model):
    """`network` over `vocabulary`; `facts` tell what is known of its file (`size`, `bits`, `card`)."""

    network: Network
    vocabulary: Vocabulary
    rules: TextRules = field(default_factory=TextRules)
    made_from: dict[str, Any] = field(default_factory=dict)
    num_normaliser: int = 0  # numbers of a normaliser that a folder has, which is for training only
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def codes(self) -> SparseCodes | None:  # type: ignore[override]
        """The codes of a coded model."""
        return None if self.network.codes is None else self.network.codes.sparse_codes

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
        """All numbers that the model stores, indices of the codes included, however many bits each has."""
        return self.memory.total

    @property
    def memory(self) -> Memory:
        """The numbers by part."""
        network = self.network
        return Memory(
            embedding=int(np.prod(network.embedding.shape)),
            encoding=sum(weight.size for weight in network.encoder.weights.values()),
            prediction=0 if network.settings.tied else int(np.prod(network.output.shape)),
            biases=network.bias.size,
            normaliser=self.num_normaliser,
            codes=0 if network.codes is None else 2 * network.codes.num_nonzeros,
            second_biases=network.encoder.num_second_biases(network.settings),
        )

    @property
    def uncompressed_memory(self) -> Memory:
        """What the same model would store without codes."""
        settings, words = self.network.settings, self.num_words
        return replace(
            self.memory,
            embedding=words * settings.embedding_size,
            prediction=0 if settings.tied else words * settings.hidden_size,
            biases=words,
            codes=0,
        )

    @property
    def context_words(self) -> int | None:
        """As many as the encoder looks back at."""
        return self.network.encoder.context_words

    def word_vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Rows of the embedding, computed from codes and base where it is coded, [n, size]."""
        self.check_ids(ids)
        return self.network.vectors(ids)

    def start(self) -> State:
        """The encoder's state at the start of a sentence."""
        state = self.network.encoder.start(1)
        word = first_input(self.network.settings.boundary)
        return state if word is None else self.feed_all([state], [word])[0]

    def feed_all(self, states: Sequence[State], words: Sequence[int]) -> list[State]:
        """The states after one word each, given by id."""
        if not states:
            return []
        self.check_ids(words)
        _, after = self.network.encoder.read(self.network.vectors(np.array([words], np.int64)), _join(states))
        return [tuple(part[:, place : place + 1].copy() for part in after) for place in range(len(states))]

    def read(self, state: State, words: Sequence[int]) -> State:
        """The state after several words more, which go through the network together."""
        self.check_ids(words)
        for first in range(0, len(words), BATCH_WORDS):
            ids = np.array(words[first : first + BATCH_WORDS], np.int64)[:, None]
            state = self.network.encoder.read(self.network.vectors(ids), state)[1]
        return tuple(part.copy() for part in state)

    def log_probs_all(self, states: Sequence[State]) -> NDArray[np.float32]:
        """ln p of every word of the vocabulary as the next one, [states, V]."""
        if not states:
            return np.empty((0, self.num_words), np.float32)
        return self.network.log_probs(self.network.encoder.context(_join(states))).T

    def score_sentences(
        self,
        sentences: Iterable[Sentence],
        *,
        batch_words: int = BATCH_WORDS,
        advance: Callable[[int], None] | None = None,
    ) -> Iterator[Scored]:
        """The sentences in order with ln p of their targets; see `Model.score_sentences`."""
        return score_by_length(sentences, self.target_log_probs, batch_words, advance)

    def target_log_probs(self, sentences: NDArray[np.int64], most_contexts: int = BATCH_WORDS) -> NDArray[np.float64]:
        """ln p of the targets [num_sentences, length (+ 1 with `</s>`)] of sentences [num_sentences, length].

        At most `most_contexts` contexts (but at least one time step) are held at once.
        """
        network, num_sentences = self.network, len(sentences)
        reading = read(sentences, network.settings.boundary)
        found = np.empty(reading.targets.shape)
        if not found.size:
            return found.T
        state = network.encoder.start(num_sentences)
        done = int(reading.predicts_before_reading)
        if done:
            found[0] = network.log_probs_of(network.encoder.context(state), reading.targets[0])
        step = max(1, most_contexts // num_sentences)
        for first in range(0, len(reading.inputs), step):
            contexts, state = network.encoder.read(network.vectors(reading.inputs[first : first + step]), state)
            wanted = reading.targets[done + first : done + first + step].reshape(-1)
            log_probs = network.log_probs_of(contexts.reshape(len(wanted), -1), wanted)
            found[done + first : done + first + step] = log_probs.reshape(-1, num_sentences)
        return found.T


def _join(states: Sequence[State]) -> State:
    """Several states as one; the second dimension of every part is the sentence."""
    return states[0] if len(states) == 1 else tuple(np.concatenate(parts, axis=1) for parts in zip(*states))
