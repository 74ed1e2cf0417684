"""A model that reads and writes text: `fewwords.load` gives one, whatever kind of model the path holds.

`TextModel.model` speaks ids (see `fewwords.models.model`); here text is cut into words as the model's corpus was, and suggestions
and samples come back as a person would write them. Scores of words and sentences are logs to base 10, as in other toolkits;
the array of `log_probs` is natural.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError
from fewwords.models.load import load as load_model
from fewwords.models.model import Model, State
from fewwords.models.shipped import ENGLISH
from fewwords.text.join import join_words
from fewwords.use.nearest import nearest_words
from fewwords.use.reading import Reader, Typed
from fewwords.use.remembered import Remembered, common_length
from fewwords.use.sample import MOST_WORDS, check_sampling, sample_words
from fewwords.use.suggest import Suggestion, top_words, write_suggestions
from fewwords.vocabulary import END, UNKNOWN_ID, Vocabulary

if TYPE_CHECKING:
    from fewwords.codes.explain import Explanation
    from fewwords.codes.sparse_codes import SparseCodes

_LN_10 = math.log(10)
_LARGEST_LOG10 = 300
_REMEMBERED_STATES = 64
_REMEMBERED_ROWS = 4  # of ln p of all words
_CONTEXTS_AT_ONCE = 64
_FEW_WORDS = 16  # fewer are scored from the states that suggestions have left


@dataclass(frozen=True)
class WordScore:
    """A target of a sentence: the word as the model read it, its log10 probability, and whether it is outside the vocabulary."""

    word: str
    log10_prob: float
    is_unknown: bool


def perplexity_of(scores: Sequence[WordScore]) -> float:
    """The perplexity of scored words, at least one."""
    mean: float = math.fsum(each.log10_prob for each in scores) / len(scores)
    return math.inf if mean < -_LARGEST_LOG10 else 10**-mean


class TextModel:
    """Any model, with text in and text out. Threads can share one."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._reader = Reader(model.rules)
        # what was typed a moment ago is most of what is typed now
        self._states = Remembered[State](_REMEMBERED_STATES)
        self._rows = Remembered[NDArray[np.float32]](_REMEMBERED_ROWS)
        self._scores = Remembered[tuple[WordScore, ...]](1)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words by rank."""
        return self.model.vocabulary

    @property
    def codes(self) -> "SparseCodes":
        """The codes of the model, or of the first component that has some; raises InputError where there are none."""
        found = next((part.codes for part in self.model.parts if part.codes is not None), None)
        if found is None:
            raise InputError(
                f"{self.model.variant}: has no codes to explain words with; choose a coded model (lstm-z-w)"
            )
        return found

    def __contains__(self, word: str) -> bool:
        return self._reader.fold(word) in self.vocabulary

    def words_of(self, chunk: str) -> list[str]:
        """The words, as the vocabulary has them, of a text without blanks: `Mary's` is two."""
        return self._reader.chunk(chunk)

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
        sentences = _several(sentences)
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

    def scores_so_far(self, text: str) -> list[WordScore]:
        """The scores of the whole words of the sentence under way at the end of a text.

        Those of the last call are remembered, so that after a word more only that one is computed.
        """
        words = self._reader.typed(text).words
        before, known = self._scores.last() or ((), ())
        scores = list(known[: common_length(before, words)])
        missing = range(len(scores), len(words))
        ids = self.vocabulary.encode(words)
        if len(missing) > _FEW_WORDS:
            ((_, log_probs),) = self.model.score_sentences([np.array(ids, np.int64)])
            found = log_probs[missing.start :].tolist()
        else:
            found = [float(self._log_probs(words[:place])[ids[place]]) for place in missing]
        scores += [
            WordScore(words[place], log_prob / _LN_10, ids[place] == UNKNOWN_ID)
            for place, log_prob in zip(missing, found)
        ]
        self._scores.keep(words, tuple(scores))
        return scores

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
        _check_number(k)
        typed = self._reader.typed(text)
        ids = self._ids_starting(typed)
        if not len(ids):
            return []
        log_probs = self._log_probs(typed.words)
        return write_suggestions(top_words(log_probs, ids, k).tolist(), log_probs, typed, self.vocabulary, text)

    def suggest_all(self, texts: Iterable[str], k: int = 5) -> list[list[Suggestion]]:
        """The same for several texts, which is faster than one by one."""
        _check_number(k)
        texts = _several(texts)
        all_typed = [self._reader.typed(text) for text in texts]
        places: dict[tuple[str, ...], list[int]] = {}
        for place, typed in enumerate(all_typed):
            places.setdefault(self._context(typed.words), []).append(place)
        found: list[list[Suggestion]] = [[] for _ in texts]
        contexts = sorted(places, key=len)
        for first in range(0, len(contexts), _CONTEXTS_AT_ONCE):
            some = contexts[first : first + _CONTEXTS_AT_ONCE]
            for context, row in zip(some, self.model.log_probs_all(self._read_all(some))):
                log_probs = np.ascontiguousarray(row)
                for place in places[context]:
                    typed = all_typed[place]
                    best = top_words(log_probs, self._ids_starting(typed), k).tolist()
                    found[place] = write_suggestions(best, log_probs, typed, self.vocabulary, texts[place])
        return found

    def _ids_starting(self, typed: Typed) -> NDArray[np.int64]:
        """The words that may stand at the cursor."""
        return self.vocabulary.alphabetical[self.vocabulary.starting_with(self._reader.fold(typed.prefix))]

    def _log_probs(self, words: tuple[str, ...]) -> NDArray[np.float32]:
        """ln p of every word after these, [V]; the last few are remembered, because a letter more does not change them."""
        context = self._context(words)
        row = self._rows.get(context)
        if row is None:
            row = self.model.log_probs(self._state(context))
            self._rows.keep(context, row)
        return row

    def _context(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """The words that decide what comes next: of an n-gram and a log-bilinear model only the last."""
        most = self.model.context_words
        return words if most is None else words[max(0, len(words) - most) :]

    def _state(self, words: tuple[str, ...]) -> State:
        """The state after some words, from the longest start of them that is remembered."""
        context = self._context(words)
        known, state = self._states.longest_start(context) or ((), self.model.start())
        new = self.vocabulary.encode(context[len(known) :])
        if len(new) > _FEW_WORDS:
            state = self.model.read(state, new)
        else:  # as somebody types them: then the last bits are the same, too
            for word in new:
                state = self.model.feed(state, word)
        self._states.keep(context, state)
        return state

    def _read_all(self, contexts: Sequence[tuple[str, ...]]) -> list[State]:
        """The states after some words each, read together, word by word."""
        states = [self.model.start()] * len(contexts)
        ids = [self.vocabulary.encode(words) for words in contexts]
        for time in range(max(map(len, ids), default=0)):
            longer = [place for place, words in enumerate(ids) if time < len(words)]
            after = self.model.feed_all([states[place] for place in longer], [ids[place][time] for place in longer])
            for place, state in zip(longer, after):
                states[place] = state
        return states

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
            self._state(typed.words),
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

        return explain(self._reader.fold(word), self.codes, self.vocabulary)

    def nearest(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """The k words whose vectors are nearest to a word's, with their cosines, the best first.

        Raises InputError for a word outside the vocabulary and a model without vectors (Kneser-Ney).
        """
        return self.nearest_all([word], k)[0]

    def nearest_all(self, words: Iterable[str], k: int = 10) -> list[list[tuple[str, float]]]:
        """The same for several words, which is faster than one by one."""
        return nearest_words(self.model, [self._reader.fold(word) for word in _several(words)], k)


def _several(texts: Iterable[str]) -> list[str]:
    """A list of texts; one text alone would be taken for its letters."""
    if isinstance(texts, str):
        raise InputError("one text, where several were expected; give a list of texts")
    return list(texts)


def _check_number(k: int) -> None:
    if k < 1:
        raise InputError(f"`k` {k}: choose 1 or more suggestions")


def load(path: str | Path = ENGLISH, device: str = "numpy") -> TextModel:
    """Read a model folder of any kind or a packed file; raises InputError when it is incomplete, was changed, or unknown.

    "english" is the packed model that comes with fewwords, unless there is a file or folder of this name.
    Neural models compute with numpy, which answers one question at a time sooner than PyTorch and starts at once; name a
    `device` of PyTorch's ("cpu", "cuda") for large batches.
    """
    return TextModel(load_model(path, device))
