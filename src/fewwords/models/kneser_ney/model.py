"""A Kneser-Ney model: a vocabulary and a tree of n-grams, behind the interface of all models.

The state is the last words, up to one fewer than the longest n-grams have, `<s>` included.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.corpus.token_corpus import Part
from fewwords.errors import InputError
from fewwords.models.kneser_ney.sentences import list_pieces, part_pieces
from fewwords.models.kneser_ney.trie import Int64s, Trie
from fewwords.models.model import BATCH_WORDS, Model, Scored, Sentence
from fewwords.text.rules import TextRules
from fewwords.vocabulary import END_ID, START_ID, Vocabulary


@dataclass(frozen=True)
class Size:
    """What a model holds: n-grams of each order, probabilities and back-off weights, all numbers of the tree, bytes."""

    num_ngrams: tuple[int, ...]
    num_values: int
    num_numbers: int
    num_bytes: int

    def to_json(self) -> dict[str, Any]:
        """The figures for a JSON file."""
        return {
            "ngrams": list(self.num_ngrams),
            "values": self.num_values,
            "numbers": self.num_numbers,
            "bytes": self.num_bytes,
        }


State = tuple[int, ...]


@dataclass(eq=False)
class KneserNey(Model):
    """A model over a closed vocabulary; `settings` say how it was estimated, `made_from` from what."""

    vocabulary: Vocabulary
    trie: Trie
    settings: dict[str, Any]
    made_from: dict[str, Any] = field(default_factory=dict)
    rules: TextRules = field(default_factory=TextRules)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return self.trie.order

    @property
    def variant(self) -> str:
        """The model's name: `kn3`."""
        return f"kn{self.order}"

    @property
    def size(self) -> Size:
        """What the model holds."""
        arrays = self.trie.arrays.values()
        num_values = len(self.trie.log10_probs) + len(self.trie.log10_backoffs)
        num_numbers, num_bytes = sum(array.size for array in arrays), sum(array.nbytes for array in arrays)
        return Size(self.trie.sizes, num_values, num_numbers, num_bytes)

    @property
    def num_numbers(self) -> int:
        """Probabilities, back-off weights and the numbers of the tree."""
        return self.size.num_numbers

    @property
    def context_words(self) -> int:
        """One fewer than the longest n-grams have."""
        return self.order - 1

    def start(self) -> State:
        """The state after `<s>`."""
        return (START_ID,)[: self.order - 1]

    def feed_all(self, states: Sequence[State], words: Sequence[int]) -> list[State]:
        """The states after one word each, given by id."""
        self.check_ids(words)
        most = self.order - 1
        return [(*state, word)[-most:] if most else () for state, word in zip(states, words)]

    def log_probs_all(self, states: Sequence[State]) -> NDArray[np.float32]:
        """ln p of every word of the vocabulary as the next one, [states, V]; `<s>` has -inf."""
        found = np.empty((len(states), self.num_words), np.float32)
        with np.errstate(divide="ignore"):
            for row, state in zip(found, states):
                row[:] = np.log(self.trie.next_word(np.array(state, np.int64)))
        return found

    def all_log_probs(self, sentences: Part | Iterable[Int64s]) -> NDArray[np.float64]:
        """ln p of each word of the sentences and of the `</s>` after each, in order, [words + sentences].

        Sentences are ids [length] without `<s>` and `</s>`. Raises InputError for ids outside the vocabulary.
        """
        if isinstance(sentences, Part):
            return part_log_probs(self, sentences)[1]
        return np.concatenate([np.empty(0), *(self._score(*piece) for piece in list_pieces(sentences))])

    def score_sentences(
        self,
        sentences: Iterable[Sentence],
        *,
        batch_words: int = BATCH_WORDS,
        advance: Callable[[int], None] | None = None,
    ) -> Iterator[Scored]:
        """Each sentence with ln p of its words and its `</s>`, [length + 1]; see `Model.score_sentences`."""
        for tokens, lengths in list_pieces(sentences):
            ends = np.cumsum(lengths)
            log_probs = self._score(tokens, lengths)
            if advance is not None:
                advance(len(tokens))
            yield from zip(np.split(tokens, ends[:-1]), np.split(log_probs, (ends + np.arange(1, len(ends) + 1))[:-1]))

    def save(self, folder: str | Path, card: str | None = None) -> None:
        """Write the model folder; `card` is the text of its README."""
        from fewwords.models.kneser_ney.folder import save_kneser_ney

        save_kneser_ney(folder, self, card)

    def _score(self, tokens: Int64s, lengths: Int64s) -> NDArray[np.float64]:
        self.check_ids(tokens)
        return self.trie.score(tokens, lengths)


def part_log_probs(model: KneserNey, part: Part, max_words: int | None = None) -> tuple[Int64s, NDArray[np.float64]]:
    """The targets of the first sentences of a part, words and `</s>`, and ln p of each, in order.

    The part must be read with the model's vocabulary size; raises InputError if it is not, or is empty.
    """
    if part.vocabulary_size != model.num_words:
        raise InputError(
            f"the part {part.name} is read with {part.vocabulary_size:,} words and the model has {model.num_words:,}; "
            "open the part with the model's vocabulary size"
        )
    targets, log_probs = [], []
    for tokens, lengths in part_pieces(part.head(max_words)):
        targets.append(np.insert(tokens, np.cumsum(lengths), END_ID))
        log_probs.append(model.trie.score(tokens, lengths))
    return np.concatenate(targets), np.concatenate(log_probs)
