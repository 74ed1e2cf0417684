"""A model measured as a keyboard: how often it suggests the word that is meant, and how many keys that saves.

Protocol: the words of a text are typed one after another, each with a blank after it. Before each letter the k most probable words
that begin with what has been typed are shown; as soon as the word is among them it is taken by one key, which types the
blank too. A word outside the vocabulary is never shown, and is typed in full. Marks (tokens without a letter or a digit) are
typed as they are, and neither they nor the end of a sentence are counted among the words. A word of a prepared part that
occurs nowhere in the training part has lost its letters, and counts as one of eight.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.evaluate import check_texts, find_device
from fewwords.evaluation.text import read_part, read_sentences
from fewwords.models.load import load
from fewwords.models.model import Model
from fewwords.progress import Progress
from fewwords.vocabulary import UNKNOWN, UNKNOWN_ID

SENTENCES_AT_ONCE = 64
LOST_LETTERS = 8
MOST_LETTERS = 5  # recall is told after so many typed letters


@dataclass(frozen=True)
class Keyboard:
    """Counts of words and keys: `found[n]` words were among the `k` suggestions after n letters, before any that is longer."""

    k: int
    num_words: int
    num_known: int
    num_first: int  # words that were the first suggestion before any letter
    found: tuple[int, ...]
    keys_without: int
    keys_with: int

    @property
    def top_1(self) -> float:
        """The share of words that are the first suggestion before a letter is typed."""
        return self.num_first / self.num_words

    def recall(self, letters: int = 0) -> float:
        """The share of words that are among the suggestions after so many letters."""
        return self.found[letters] / self.num_words

    @property
    def keys_saved(self) -> float:
        """The share of keys that suggestions save."""
        return 1 - self.keys_with / self.keys_without

    def to_json(self) -> dict[str, Any]:
        """All figures, for a JSON file."""
        return {
            "suggestions": self.k,
            "words": self.num_words,
            "coverage": self.num_known / self.num_words,
            "top_1": self.top_1,
            f"top_{self.k}": self.recall(),
            "recall_after_letters": [self.recall(letters) for letters in range(len(self.found))],
            "keys_without": self.keys_without,
            "keys_with": self.keys_with,
            "keys_saved": self.keys_saved,
        }


def evaluate_keyboard(
    model: str | Path,
    texts: Sequence[str] = (),
    *,
    work: str | Path | None = None,
    part: Literal["dev", "test"] = "test",
    tokenized: bool = False,
    max_words: int | None = None,
    k: int = 3,
    device: str = "cpu",
) -> Keyboard:
    """Measure a model folder on texts, or on a part of a prepared corpus, as `evaluate` reads them; all texts together."""
    sources = check_texts(texts, work, max_words)
    corpus = None if work is None else TokenCorpus.open(work)
    found = load(model, find_device(device))
    total = None
    if corpus is None:
        sentences = (
            sentence.words
            for source in sources
            for sentence in read_sentences(
                source, found.vocabulary, found.rules, tokenized=tokenized, max_words=max_words
            )
        )
    else:
        next(read_part(corpus, part, found.vocabulary, max_words))  # raises where the words are not the model's
        whole, chosen = corpus.vocabulary(), corpus.part(part).head(max_words)
        sentences = (whole.decode(ids) for ids in chosen.sentences())
        total = chosen.num_words
    with Progress("typing", total, "words") as progress:
        return measure_keyboard(found, sentences, k=k, advance=progress.advance)


def measure_keyboard(
    model: Model, sentences: Iterable[list[str]], *, k: int = 3, advance: Callable[[int], None] | None = None
) -> Keyboard:
    """Type sentences, each a list of words as the model's corpus has them; `advance` is told how many words were done.

    Raises InputError for text without words, and for a number of suggestions that is none.
    """
    if k < 1:
        raise InputError(f"`k` {k}: choose 1 or more suggestions")
    counts = _Counts(model, k)
    remaining = iter(sentences)
    while waiting := list(islice(remaining, SENTENCES_AT_ONCE)):
        counts.add(waiting)
        if advance is not None:
            advance(sum(map(len, waiting)))
    if not counts.num_words:
        raise InputError("the text has no words to type; give some")
    return Keyboard(
        k,
        counts.num_words,
        counts.num_known,
        counts.num_first,
        tuple(counts.found),
        counts.keys_without,
        counts.keys_with,
    )


class _Counts:
    def __init__(self, model: Model, k: int) -> None:
        self._model, self._k = model, k
        self._order = model.vocabulary.alphabetical
        self._places = np.full(model.num_words, -1)
        self._places[self._order] = np.arange(len(self._order))
        self._range = lru_cache(1 << 18)(model.vocabulary.starting_with)
        self.num_words = self.num_known = self.num_first = self.keys_without = self.keys_with = 0
        self.found = [0] * (MOST_LETTERS + 1)

    def add(self, sentences: list[list[str]]) -> None:
        """Type several sentences side by side."""
        ids = [self._model.vocabulary.encode(words) for words in sentences]
        states = [self._model.start() for _ in sentences]
        rows = [place for place, words in enumerate(sentences) if words]
        time = 0
        while rows:
            log_probs = self._model.log_probs_all([states[row] for row in rows])[:, self._order]
            for row, scores in zip(rows, log_probs):
                self._type(sentences[row][time], ids[row][time], scores)
            fed = self._model.feed_all([states[row] for row in rows], [ids[row][time] for row in rows])
            for row, state in zip(rows, fed):
                states[row] = state
            time += 1
            rows = [row for row in rows if len(sentences[row]) > time]

    def _type(self, word: str, word_id: int, scores: Any) -> None:
        if not any(letter.isalnum() for letter in word):
            return
        keys = (LOST_LETTERS if word == UNKNOWN else len(word)) + 1
        self.num_words += 1
        self.keys_without += keys
        if word_id == UNKNOWN_ID:
            self.keys_with += keys
            return
        self.num_known += 1
        place = int(self._places[word_id])
        score = scores[place]
        letters = 0
        for letters in range(len(word) + 1):
            shown = self._range(word[:letters])
            # equal ones by rank: a word of a lower id is shown first
            ahead = np.count_nonzero(scores[shown] > score)
            ahead += np.count_nonzero(self._order[shown][scores[shown] == score] < word_id)
            if ahead == 0 and letters == 0:
                self.num_first += 1
            if ahead < self._k:
                break
        else:
            letters = len(word) + 1
        for after in range(min(letters, MOST_LETTERS + 1), MOST_LETTERS + 1):
            self.found[after] += 1
        self.keys_with += min(keys, letters + 1)
