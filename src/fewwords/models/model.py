"""What a model is, whatever its kind: a vocabulary, scores of sentences, and the next word from a state.

A state stands for the words of a sentence so far. It is a value: `feed` returns a new one and changes nothing, so a
state can be kept, copied and shared. Several states at once (`feed_all`, `log_probs_all`) are faster than one after
another. All logs are natural. Nothing here changes a model, so threads can share one.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.text.rules import TextRules
from fewwords.vocabulary import Vocabulary

if TYPE_CHECKING:
    from fewwords.codes.sparse_codes import SparseCodes
    from fewwords.models.memory import Memory

BATCH_WORDS = 4096
Sentence = NDArray[np.int64]
# A sentence's words, and ln p of each target: of each word, and then of `</s>` where the model predicts it.
Scored = tuple[Sentence, NDArray[np.float64]]
State = Any


class Model(ABC):
    """A language model over a closed vocabulary; `rules` say how text becomes words, `made_from` how it was made."""

    vocabulary: Vocabulary
    rules: TextRules
    made_from: dict[str, Any]
    codes: "SparseCodes | None" = None

    @property
    @abstractmethod
    def variant(self) -> str:
        """The model's name: `lstm-z-w`."""

    @property
    @abstractmethod
    def num_numbers(self) -> int:
        """All numbers that the model stores, indices included."""

    @property
    def predicts_end(self) -> bool:
        """Whether `</s>` is among the targets."""
        return True

    @property
    def num_words(self) -> int:
        """The size of the vocabulary."""
        return len(self.vocabulary)

    @property
    def trained_words(self) -> int | None:
        """Running words that it was trained on, and the models that it started from; None where that is not known."""
        result = self.made_from.get("result") or {}
        words, before = result.get("words"), result.get("words_before", 0)
        return words + before if type(words) is type(before) is int else None

    @property
    def memory(self) -> "Memory | None":
        """The numbers by part, if the model has the parts of figure 1."""
        return None

    @property
    def uncompressed_memory(self) -> "Memory | None":
        """What the same model would store without codes."""
        return None

    @property
    def parts(self) -> "tuple[Model, ...]":
        """The models that this one is made of: itself, or the components of a mixture."""
        return (self,)

    @property
    def context_words(self) -> int | None:
        """How many of the last words decide the state; None where all of a sentence's do."""
        return None

    def word_vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """The vectors that the model reads these words as, [n, size]; None for a model without vectors."""
        return None

    @abstractmethod
    def start(self) -> State:
        """The state at the start of a sentence."""

    @abstractmethod
    def feed_all(self, states: Sequence[State], words: Sequence[int]) -> list[State]:
        """The states after one word each, given by id."""

    @abstractmethod
    def log_probs_all(self, states: Sequence[State]) -> NDArray[np.float32]:
        """ln p of every word of the vocabulary as the next one, [states, V]."""

    def feed(self, state: State, word: int) -> State:
        """The state after one more word."""
        return self.feed_all([state], [word])[0]

    def read(self, state: State, words: Sequence[int]) -> State:
        """The state after several words more."""
        for word in words:
            state = self.feed(state, word)
        return state

    def log_probs(self, state: State) -> NDArray[np.float32]:
        """ln p of every word of the vocabulary as the next one, [V]."""
        row: NDArray[np.float32] = self.log_probs_all([state])[0]
        return row

    @abstractmethod
    def score_sentences(
        self,
        sentences: Iterable[Sentence],
        *,
        batch_words: int = BATCH_WORDS,
        advance: Callable[[int], None] | None = None,
    ) -> Iterator[Scored]:
        """The sentences in order, each ids [length] without boundaries, with ln p of its targets.

        About `batch_words` words are scored together; `advance` is called with the number of words done.
        """

    def check_ids(self, ids: Sequence[int] | NDArray[np.int64]) -> None:
        """Raise InputError for ids outside the vocabulary."""
        found = np.asarray(ids)
        if found.size and not 0 <= found.min() <= found.max() < self.num_words:
            raise InputError(
                f"there are word ids from {found.min()} to {found.max()}, but the model has {self.num_words:,} words; "
                "read the text through the model's vocabulary"
            )
