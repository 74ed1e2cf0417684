"""A model that reads and writes text: `fewwords.load` gives one, whatever kind of model the path holds.

`TextModel.model` speaks ids (see `fewwords.models.model`); here text is cut into words as the model's corpus was, and suggestions
and samples come back as a person would write them. Scores of words and sentences are logs to base 10, as in other toolkits;
the array of `log_probs` is natural.
"""

import math
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.models.load import load as load_model
from fewwords.models.model import Model, State
from fewwords.text.join import join_words
from fewwords.use.reading import Reader, Typed
from fewwords.use.sample import MOST_WORDS, check_sampling, sample_words
from fewwords.use.suggest import Suggestion, top_words, write_suggestions
from fewwords.vocabulary import END, UNKNOWN_ID, Vocabulary

if TYPE_CHECKING:
    from fewwords.codes.explain import Explanation

_LN_10 = math.log(10)
_REMEMBERED_STATES = 64


@dataclass(frozen=True)
class WordScore:
    """A target of a sentence: the word as the model read it, its log10 probability, and whether it is outside the vocabulary."""

    word: str
    log10_prob: float
    is_unknown: bool


class TextModel:
    """Any model, with text in and text out. Threads can share one."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._reader = Reader(model.rules)
        # what was typed a moment ago is most of what is typed now
        self._states: OrderedDict[tuple[str, ...], State] = OrderedDict()
        self._lock = Lock()

    @property
    def vocabulary(self) -> Vocabulary:
        """The words by rank."""
        return self.model.vocabulary

    def __contains__(self, word: str) -> bool:
        return self._reader.fold(word) in self.vocabulary

    def start(self) -> State:
        """The state at the start of a sentence."""
        return self.model.start()

    def feed(self, state: State, word: str) -> State:
        """The state after one word more; one outside the vocabulary reads as `<unk>`."""
        return self.model.feed(state, self.vocabulary.ids.get(self._reader.fold(word), UNKNOWN_ID))

    def log_probs(self, state: State) -> NDArray[np.float32]:
        """Natural ln p of every word of the vocabulary as the next one, [V]."""
        return self.model.log_probs(state)

    def full_scores(self, sentence: str, *, end: bool = True) -> list[WordScore]:
        """The score of each word of a sentence, and of `</s>` where the model predicts it, unless `end` is False."""
        return self.full_scores_all([sentence], end=end)[0]

    def full_scores_all(self, sentences: Iterable[str], *, end: bool = True) -> list[list[WordScore]]:
        """The same for several sentences, which is faster than one by one."""
        cut = [[word for words in self._reader.sentences(sentence) for word in words] for sentence in sentences]
        ids = [np.array(self.vocabulary.encode(words), np.int64) for words in cut]
        found = []
        for words, (encoded, scores) in zip(cut, self.model.score_sentences(ids)):
            unknown = [*(encoded == UNKNOWN_ID).tolist(), False]
            targets = [*words, END] if end else words
            found.append([WordScore(*each) for each in zip(targets, (scores / _LN_10).tolist(), unknown)])
        return found

    def score(self, sentence: str, *, end: bool = True) -> float:
        """log10 p of a sentence, `</s>` included unless `end` is False; unknown words count as `<unk>`."""
        return math.fsum(each.log10_prob for each in self.full_scores(sentence, end=end))

    def score_all(self, sentences: Iterable[str], *, end: bool = True) -> list[float]:
        """The same for several sentences, which is faster than one by one."""
        return [math.fsum(each.log10_prob for each in scores) for scores in self.full_scores_all(sentences, end=end)]

    def perplexity(self, text: str) -> float:
        """The perplexity of a text, over its words and, where the model predicts it, `</s>`, with `<unk>` counted as a word."""
        from fewwords.evaluation.perplexity import sentences_perplexity

        ids = [np.array(self.vocabulary.encode(words), np.int64) for words in self._reader.sentences(text)]
        if not ids:
            raise InputError("the text has no words; give some")
        return sentences_perplexity(self.model, ids).value

    def suggest(self, text: str = "", k: int = 5) -> list[Suggestion]:
        """The k most probable next words after a text, or ways to go on with the word under the cursor, the best first.

        A blank at the end of the text means that a new word begins. No word with such a start: an empty list.
        """
        if k < 1:
            raise InputError(f"`k` {k}: choose 1 or more suggestions")
        typed = self._reader.typed(text)
        ids = self.vocabulary.alphabetical[self.vocabulary.starting_with(self._reader.fold(typed.prefix))]
        if not len(ids):
            return []
        log_probs = self.model.log_probs(self._state(typed))
        after_blank = not text or text[-1].isspace()
        best = top_words(log_probs, ids, k)
        return write_suggestions(best.tolist(), log_probs, typed, self.vocabulary, after_blank=after_blank)

    def _state(self, typed: Typed) -> State:
        """The state after the words that were typed, from the longest start of them that is remembered."""
        with self._lock:
            known = next((n for n in range(len(typed.words), 0, -1) if typed.words[:n] in self._states), 0)
            state = self._states[typed.words[:known]] if known else None
        state = self.model.start() if state is None else state
        for place in range(known, len(typed.words)):
            state = self.model.feed(state, self.vocabulary.ids.get(typed.words[place], UNKNOWN_ID))
        with self._lock:
            self._states[typed.words] = state
            while len(self._states) > _REMEMBERED_STATES:
                self._states.popitem(last=False)
        return state

    def sample(
        self,
        text: str = "",
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        max_words: int = MOST_WORDS,
        seed: int | None = None,
    ) -> str:
        """A sentence drawn from the model, going on from `text`; the same every time for the same seed."""
        check_sampling(temperature, top_k, top_p, max_words)
        typed = self._reader.typed(text if not text or text[-1].isspace() else f"{text} ")
        words = sample_words(
            self.model,
            self._state(typed),
            np.random.default_rng(seed),
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            max_words=max_words,
        )
        return join_words([*typed.words, *self.vocabulary.decode(words)])

    def explain(self, word: str) -> "Explanation":
        """A word said in a few common ones; raises InputError for a word without a code and a model without codes."""
        from fewwords.codes.explain import explain

        if self.model.codes is None:
            raise InputError(
                f"{self.model.variant}: has no codes to explain words with; choose a coded model (lstm-z-w)"
            )
        return explain(self._reader.fold(word), self.model.codes, self.vocabulary)


def load(path: str | Path, device: str = "numpy") -> TextModel:
    """Read a model folder of any kind or a packed file; raises InputError when it is incomplete, was changed, or unknown.

    Neural models compute with numpy, which answers one question at a time sooner than PyTorch and starts at once; name a
    `device` of PyTorch's ("cpu", "cuda") for large batches.
    """
    return TextModel(load_model(path, device))
