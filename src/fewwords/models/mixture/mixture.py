"""A mixture of models over one vocabulary: p(w|h) = sum_i weight_i p_i(w|h), linear interpolation.

The components may be of any kind, mixtures too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.models.mixture.weights import check_weights, mix_log_probs
from fewwords.models.model import BATCH_WORDS, Model, Scored, Sentence, State
from fewwords.vocabulary import Vocabulary


@dataclass(eq=False)
class Mixture(Model):
    """Models over one vocabulary that predict the same targets, each with a weight; `made_from` says how it was made.

    Text rules are those of the first component that has some. Raises InputError for weights that are not a
    distribution, ValueError for components that cannot be mixed.
    """

    components: tuple[Model, ...]
    weights: tuple[float, ...]
    vocabulary: Vocabulary
    made_from: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_weights(self.weights, len(self.components), "a mix")
        if any(component.num_words != len(self.vocabulary) for component in self.components):
            raise ValueError("its components have different vocabularies")
        if len({component.predicts_end for component in self.components}) != 1:
            raise ValueError("only some of its components predict </s>")
        known = [component for component in self.components if component.made_from.get("corpus")]
        self.rules = (known or self.components)[0].rules  # a model from an ARPA file does not know its text

    @property
    def variant(self) -> str:
        """The model's name."""
        return "mix"

    @property
    def num_numbers(self) -> int:
        """The numbers of the components, and their weights."""
        return sum(component.num_numbers for component in self.components) + len(self.weights)

    @property
    def predicts_end(self) -> bool:
        """Whether `</s>` is among the targets."""
        return self.components[0].predicts_end

    @property
    def parts(self) -> tuple[Model, ...]:
        """The components, those of mixtures among them included."""
        return tuple(part for component in self.components for part in component.parts)

    @property
    def context_words(self) -> int | None:
        """Those of the component that looks back the furthest."""
        found = [component.context_words for component in self.components]
        return None if None in found else max(number for number in found if number is not None)

    def start(self) -> State:
        """The states of the components at the start of a sentence."""
        return tuple(component.start() for component in self.components)

    def feed_all(self, states: Sequence[State], words: Sequence[int]) -> list[State]:
        """The states after one word each, given by id."""
        fed = [component.feed_all([state[place] for state in states], words) for place, component in self._numbered]
        return list(zip(*fed))

    def read(self, state: State, words: Sequence[int]) -> State:
        """The states of the components after several words more."""
        return tuple(component.read(part, words) for component, part in zip(self.components, state))

    def log_probs_all(self, states: Sequence[State]) -> NDArray[np.float32]:
        """ln p of every word of the vocabulary as the next one, [states, V]."""
        log_probs = [component.log_probs_all([state[place] for state in states]) for place, component in self._numbered]
        stacked = np.stack([each.astype(np.float64) for each in log_probs])
        return (
            mix_log_probs(stacked.reshape(len(log_probs), -1), self.weights)
            .reshape(stacked.shape[1:])
            .astype(np.float32)
        )

    @property
    def _numbered(self) -> Iterable[tuple[int, Model]]:
        return enumerate(self.components)

    def score_sentences(
        self,
        sentences: Iterable[Sentence],
        *,
        batch_words: int = BATCH_WORDS,
        advance: Callable[[int], None] | None = None,
    ) -> Iterator[Scored]:
        """The sentences in order with ln p of their targets; see `Model.score_sentences`."""
        share = None if advance is None else _share(advance, len(self.components))
        scored = (
            component.score_sentences(copy, batch_words=batch_words, advance=share)
            for component, copy in zip(self.components, tee(sentences, len(self.components)))
        )
        for each in zip(*scored):
            yield each[0][0], mix_log_probs(np.stack([log_probs for _, log_probs in each]), self.weights)


def _share(advance: Callable[[int], None], num_components: int) -> Callable[[int], None]:
    """A listener for each component's progress: a word is done when all components have scored it."""
    done = 0

    def report(num_words: int) -> None:
        nonlocal done
        before = done // num_components
        done += num_words
        advance(done // num_components - before)

    return report
