"""Read an ARPA file of any back-off model into a tree; n-grams come in any order, but with their contexts."""

from pathlib import Path

import numpy as np

from fewwords.errors import InputError
from fewwords.models.kneser_ney.arpa_lines import ArpaLines
from fewwords.models.kneser_ney.arpa_sections import Section, read_end, read_header, read_section
from fewwords.models.kneser_ney.folder import LARGEST_LOG10_BACKOFF, LOWEST_LOG10
from fewwords.models.kneser_ney.model import KneserNey
from fewwords.models.kneser_ney.trie import LOG10_ZERO, NOWHERE, Float32s, Int64s, Trie, UInt32s, find_rows, join_levels
from fewwords.progress import Progress, say
from fewwords.store.files import sha256_of
from fewwords.vocabulary import SPECIAL_WORDS, UNKNOWN, UNKNOWN_ID, Vocabulary


def read_arpa(path: str | Path, vocabulary: Vocabulary | None = None) -> KneserNey:
    """Read an ARPA file, compressed or not.

    With a vocabulary, the file must have exactly its words; without one, the words are those of the file in order,
    after the special words, and have no counts. A file without `<unk>` gives it the probability 0. Raises InputError
    for a bad file.
    """
    path = Path(path)
    lines = ArpaLines(path)
    words = SPECIAL_WORDS if vocabulary is None else vocabulary.words
    index = {word.encode(): rank for rank, word in enumerate(words)}
    sizes = read_header(lines)
    tree = _Tree(lines)
    with Progress(f"reading {path.name}", sum(sizes), "n-grams") as progress:
        for order in range(1, len(sizes) + 1):
            grows = order == 1 and vocabulary is None
            section = read_section(lines, order, sizes, index, progress, grows=grows)
            tree.add(section, index)
        read_end(lines)
    if vocabulary is None:
        vocabulary = Vocabulary([word.decode() for word in index], np.zeros(len(index), np.int64))
    made_from = {"arpa": {"name": path.name, "sha256": sha256_of(path)}}
    return KneserNey(vocabulary, tree.join(), {"order": len(sizes)}, made_from)


class _Tree:
    """The orders read so far."""

    def __init__(self, lines: ArpaLines) -> None:
        self._lines = lines
        self._words: list[UInt32s] = []
        self._log10_probs: list[Float32s] = []
        self._log10_backoffs: list[Float32s] = []
        self._starts: list[Int64s] = []

    def join(self) -> Trie:
        """The tree of all orders."""
        return join_levels(self._words, self._log10_probs, self._log10_backoffs[:-1], self._starts)

    def add(self, section: Section, index: dict[bytes, int]) -> None:
        """Add the next order."""
        self._check_logs(section)
        if not self._words:
            self._add_words(section, index)
            return
        contexts = self._contexts(section)
        by_context = np.lexsort((section.ids[:, -1], contexts))
        self._check_twice(section, contexts, by_context)
        self._starts.append(np.searchsorted(contexts[by_context], np.arange(len(self._words[-1]) + 1)))
        self._words.append(section.ids[by_context, -1].astype(np.uint32))
        self._log10_probs.append(section.log10_probs[by_context].astype(np.float32))
        self._log10_backoffs.append(section.log10_backoffs[by_context].astype(np.float32))

    def _add_words(self, section: Section, index: dict[bytes, int]) -> None:
        ids = section.ids[:, 0]
        self._check_twice(section, np.zeros_like(ids), np.argsort(ids, kind="stable"))
        is_there = np.zeros(len(index), np.bool_)
        is_there[ids] = True
        if not is_there[UNKNOWN_ID]:
            say(f"{self._lines.path}: no {UNKNOWN} among the 1-grams; unknown words get the probability 0")
            is_there[UNKNOWN_ID] = True
        if not is_there.all():
            word = list(index)[int(np.argmin(is_there))].decode()
            raise InputError(
                f"{self._lines.path}: the word '{word}' is missing among the 1-grams; read the file without a vocabulary, "
                "or give the one it was made with"
                if word not in SPECIAL_WORDS
                else f"{self._lines.path}: '{word}' is missing among the 1-grams; make the model with sentence boundaries"
            )
        log10_probs = np.full(len(index), LOG10_ZERO, np.float32)
        log10_backoffs = np.zeros(len(index), np.float32)
        log10_probs[ids], log10_backoffs[ids] = section.log10_probs, section.log10_backoffs
        self._words.append(np.arange(len(index), dtype=np.uint32))
        self._log10_probs.append(log10_probs)
        self._log10_backoffs.append(log10_backoffs)

    def _contexts(self, section: Section) -> Int64s:
        """The row, in the previous order, of each n-gram without its last word."""
        rows = section.ids[:, 0]
        for place in range(1, section.ids.shape[1] - 1):
            rows = find_rows(
                self._words[place], self._starts[place - 1], rows, np.ascontiguousarray(section.ids[:, place])
            )
        if len(missing := np.flatnonzero(rows == NOWHERE)):
            order = section.ids.shape[1]
            raise self._lines.error(
                f"the first {order - 1} words of this {order}-gram are not among the {order - 1}-grams",
                section.first_line + int(missing[0]),
            )
        return np.ascontiguousarray(rows)

    def _check_logs(self, section: Section) -> None:
        checks = (
            (~np.isfinite(section.log10_probs), "the log-probability is not a finite number"),
            (section.log10_probs > 0, "the log-probability is positive; logs of probabilities are 0 or less"),
            (~np.isfinite(section.log10_backoffs), "the back-off weight is not a finite number"),
            (section.log10_probs < LOWEST_LOG10, f"the log-probability is below {LOWEST_LOG10:,}"),
            (section.log10_backoffs > LARGEST_LOG10_BACKOFF, f"the back-off weight is above {LARGEST_LOG10_BACKOFF}"),
            (section.log10_backoffs < LOWEST_LOG10, f"the back-off weight is below {LOWEST_LOG10:,}"),
        )
        for is_wrong, message in checks:
            if is_wrong.any():
                raise self._lines.error(message, section.first_line + int(np.argmax(is_wrong)))

    def _check_twice(self, section: Section, contexts: Int64s, by_context: Int64s) -> None:
        words, contexts = section.ids[by_context, -1], contexts[by_context]
        twice = np.flatnonzero((words[1:] == words[:-1]) & (contexts[1:] == contexts[:-1]))
        if len(twice):
            # the sort is stable, so the later of two comes second
            raise self._lines.error(
                "this n-gram occurs for the second time", section.first_line + int(by_context[twice[0] + 1])
            )
