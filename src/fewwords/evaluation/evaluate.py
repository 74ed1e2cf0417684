"""Evaluate a model folder on texts, or on a part of the prepared corpus that it was trained on.

Reads the model folder and the texts or the work folder; returns figures, and on request writes the scores of single
words.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, Literal, TextIO

from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.accounts import Account, Perplexity
from fewwords.evaluation.text import TextSentence, read_part, read_sentences
from fewwords.evaluation.word_scores import statistics_lines, write_sentence
from fewwords.models.load import load
from fewwords.models.memory import Memory
from fewwords.models.model import BATCH_WORDS, Model, Scored, Sentence
from fewwords.models.sealed_folder import sealed_files
from fewwords.models.shipped import find_model
from fewwords.progress import Progress
from fewwords.text.sources import Source, find_sources


@dataclass(frozen=True)
class TextResult:
    """The result for one text; `num_characters` is None for a prepared part, where unknown words have lost theirs."""

    name: str
    perplexity: Perplexity
    num_characters: int | None

    @property
    def bits_per_character(self) -> float | None:
        """-log2 p of words and `</s>` over the characters of the text; an unknown word's letters cost nothing here."""
        if not self.num_characters:
            return None
        return -self.perplexity.log_prob / math.log(2) / self.num_characters

    def __add__(self, other: "TextResult") -> "TextResult":
        """Both texts together."""
        known = self.num_characters is not None and other.num_characters is not None
        characters = (self.num_characters or 0) + (other.num_characters or 0) if known else None
        return TextResult("total", self.perplexity + other.perplexity, characters)


@dataclass(frozen=True)
class Evaluation:
    """The results of the texts, and the size of the model: `numbers` in all, and by part for a neural model.

    `dense` has the parts of its uncompressed version.
    """

    variant: str
    texts: tuple[TextResult, ...]
    numbers: int
    memory: Memory | None
    dense: Memory | None
    files: dict[str, int]

    @property
    def reduction(self) -> float | None:
        """By how many percent a neural model is smaller than its uncompressed version."""
        return None if self.memory is None or self.dense is None else self.memory.reduction(self.dense)

    @property
    def total(self) -> TextResult:
        """All texts together."""
        return reduce(add, self.texts)

    def to_json(self) -> dict[str, Any]:
        """All figures, for a JSON file."""
        results = [
            {"name": text.name, "bits_per_character": text.bits_per_character, **text.perplexity.to_json()}
            for text in (*self.texts, *([self.total] if len(self.texts) > 1 else []))
        ]
        return {
            "model": self.variant,
            "texts": results,
            "numbers": self.numbers,
            "memory": None if self.memory is None else self.memory.to_json(),
            "dense_memory": None if self.dense is None else self.dense.to_json(),
            "memory_reduction_percent": self.reduction,
            "bytes": self.files,
        }


def evaluate(
    model: str | Path,
    texts: Sequence[str] = (),
    *,
    work: str | Path | None = None,
    part: Literal["dev", "test"] = "test",
    tokenized: bool = False,
    max_words: int | None = None,
    batch_words: int = BATCH_WORDS,
    word_scores: TextIO | None = None,
    device: str = "cpu",
) -> Evaluation:
    """Evaluate a model folder on `texts` (paths, folders, globs, "-") or, without any, on a part of `work`'s corpus.

    `max_words` limits each text to its first sentences; `word_scores` receives SRILM's debug-2 lines. Raises InputError
    for a model that is incomplete or changed, a corpus with other words, and texts without words.
    """
    sources = check_texts(texts, work, max_words)
    corpus = None if work is None else TokenCorpus.open(work)
    found = load(model, find_device(device))
    results = []
    if corpus is not None:
        sentences = read_part(corpus, part, found.vocabulary, max_words)
        total = min(max_words or math.inf, corpus.part(part).num_words)
        results.append(_evaluate_text(found, part, sentences, batch_words, word_scores, total, has_surface=False))
    for source in sources:
        sentences = read_sentences(source, found.vocabulary, found.rules, tokenized=tokenized, max_words=max_words)
        results.append(_evaluate_text(found, source.name, sentences, batch_words, word_scores, None, has_surface=True))
    for result in results:
        if math.isnan(result.perplexity.log_prob):
            raise InputError(f"{model}: the model gives NaN; its training diverged, train it again")
    path = find_model(model)
    files = (
        {name: (path / name).stat().st_size for name in sealed_files(path)}
        if path.is_dir()
        else {path.name: path.stat().st_size}
    )
    return Evaluation(found.variant, tuple(results), found.num_numbers, found.memory, found.uncompressed_memory, files)


def check_texts(texts: Sequence[str], work: str | Path | None, max_words: int | None) -> list[Source]:
    """The sources of the texts; raises InputError unless there are texts or a work folder, and not both."""
    if bool(texts) == (work is not None):
        raise InputError("name either texts to evaluate ('-' is standard input) or, with `work`, a prepared corpus")
    if max_words is not None and max_words < 1:
        raise InputError(f"`max_words` {max_words}: choose 1 or more")
    return find_sources(texts)


def find_device(name: str) -> str:
    """The name of a device; raises InputError if it is not available."""
    if name in ("cpu", "numpy"):
        return name
    import torch

    try:
        return str(torch.empty(0, device=name).device)
    except (RuntimeError, AssertionError):  # which one depends on how torch was built
        raise InputError(f"`device` {name}: not available; choose cpu, numpy, or cuda if there is a GPU") from None


def _evaluate_text(
    model: Model,
    name: str,
    sentences: Iterable[TextSentence],
    batch_words: int,
    word_scores: TextIO | None,
    total: float | None,
    *,
    has_surface: bool,
) -> TextResult:
    account = Account(model)
    num_characters = 0
    with Progress(f"evaluating {name}", total, "words") as progress:
        for sentence, scored in _score(model, sentences, batch_words, progress):
            alone = account.add(scored)
            num_characters += sentence.num_characters
            if word_scores is not None:
                write_sentence(word_scores, sentence.words, *scored, model.vocabulary, alone)
    result = account.total()
    if word_scores is not None:
        word_scores.write("\n".join(statistics_lines(result, name)) + "\n")
    return TextResult(name, result, num_characters if has_surface else None)


def _score(
    model: Model, sentences: Iterable[TextSentence], batch_words: int, progress: Progress
) -> Iterator[tuple[TextSentence, Scored]]:
    """The sentences with their scores; they are buffered while those of one length are scored together."""
    waiting: deque[TextSentence] = deque()

    def ids() -> Iterator[Sentence]:
        for sentence in sentences:
            waiting.append(sentence)
            yield sentence.ids

    for scored in model.score_sentences(ids(), batch_words=batch_words, advance=progress.advance):
        yield waiting.popleft(), scored
