"""A Kneser-Ney model: its vocabulary, its tree of n-grams, and its folder.

On disk it is a model folder as any other: `model.safetensors` with the four arrays of the tree, `words.tsv` with the vocabulary,
`model.json` with the settings, what the model was made from and the SHA-256 of the other files, and a `README.md` if one is
given. `model.json` is moved in last: without it the folder counts as incomplete.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from fewwords.corpus.token_corpus import Part
from fewwords.errors import InputError
from fewwords.models.kneser_ney.sentences import list_pieces, part_pieces
from fewwords.models.kneser_ney.trie import Int64s, Trie
from fewwords.models.sealed_folder import open_folder, write_folder
from fewwords.vocabulary import END_ID, START_ID, Vocabulary

FORMAT = "fewwords kneser-ney 1"
_DTYPES = {"words": np.uint32, "log10_probs": np.float32, "log10_backoffs": np.float32, "children": np.int64}


@dataclass(frozen=True)
class Size:
    """What a model holds: n-grams of each order, probabilities and back-off weights, all numbers with those of the tree, bytes."""

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


@dataclass(frozen=True, eq=False)
class KneserNey:
    """A model over a closed vocabulary; `settings` say how it was estimated, `made_from` from what."""

    vocabulary: Vocabulary
    trie: Trie
    settings: dict[str, Any]
    made_from: dict[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return self.trie.order

    @property
    def num_words(self) -> int:
        """The size of the vocabulary."""
        return self.trie.num_words

    @property
    def variant(self) -> str:
        """The model's name: `kn3`."""
        return f"kn{self.order}"

    @property
    def size(self) -> Size:
        """What the model holds."""
        arrays = [getattr(self.trie, name) for name in _DTYPES]
        num_values = len(self.trie.log10_probs) + len(self.trie.log10_backoffs)
        num_numbers, num_bytes = sum(array.size for array in arrays), sum(array.nbytes for array in arrays)
        return Size(self.trie.sizes, num_values, num_numbers, num_bytes)

    def log_probs(self, sentences: Part | Iterable[Int64s]) -> NDArray[np.float64]:
        """ln p of each word of the sentences and of the `</s>` after each, in their order, [words + sentences].

        Sentences are ids [length] without `<s>` and `</s>`. Raises InputError for ids outside the vocabulary.
        """
        if isinstance(sentences, Part):
            return part_log_probs(self, sentences)[1]
        return np.concatenate([np.empty(0), *(self._score(*piece) for piece in list_pieces(sentences))])

    def score_sentences(self, sentences: Iterable[Int64s]) -> Iterator[tuple[Int64s, NDArray[np.float64]]]:
        """Each sentence, ids [length], with ln p of its words and its `</s>`, [length + 1]."""
        for tokens, lengths in list_pieces(sentences):
            ends = np.cumsum(lengths)
            log_probs = self._score(tokens, lengths)
            yield from zip(np.split(tokens, ends[:-1]), np.split(log_probs, (ends + np.arange(1, len(ends) + 1))[:-1]))

    def next_word_probs(self, context: Sequence[int], *, from_start: bool = True) -> NDArray[np.float64]:
        """p of every word of the vocabulary after a context of ids, [V]; `from_start`: the context begins a sentence."""
        ids = np.array([*([START_ID] if from_start else []), *context], np.int64)
        self._check_ids(ids)
        return self.trie.next_word(ids)

    def _score(self, tokens: Int64s, lengths: Int64s) -> NDArray[np.float64]:
        self._check_ids(tokens)
        return self.trie.score(tokens, lengths)

    def _check_ids(self, ids: Int64s) -> None:
        if len(ids) and not 0 <= ids.min() <= ids.max() < self.num_words:
            raise InputError(
                f"there are word ids from {ids.min()} to {ids.max()}, but the model has {self.num_words:,} words; "
                "read the text through the model's vocabulary"
            )

    def save(self, folder: str | Path, card: str | None = None) -> None:
        """Write the model folder; `card` is the text of its README. Other files there stay."""

        def write_files(building: Path) -> None:
            save_file({name: getattr(self.trie, name) for name in _DTYPES}, building / "model.safetensors")
            if card is not None:
                (building / "README.md").write_text(card, encoding="utf-8")

        facts = {
            "settings": {"variant": self.variant, **self.settings},
            "ngrams": list(self.trie.sizes),
            "num_words": self.num_words,
            "made_from": self.made_from,
        }
        write_folder(Path(folder), FORMAT, self.vocabulary, facts, write_files)

    @classmethod
    def load(cls, folder: str | Path) -> "KneserNey":
        """Read a model folder; raises InputError when it is incomplete, was changed, or is of another kind."""
        folder = Path(folder)
        facts, vocabulary = open_folder(
            folder,
            FORMAT,
            if_incomplete="train it again",
            if_other="not a Kneser-Ney model that this version can read",
        )
        try:
            arrays = load_file(folder / "model.safetensors")
            trie = Trie(**{name: arrays[name] for name in _DTYPES}, sizes=tuple(facts["ngrams"]))
            _check_trie(trie)
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{folder / 'model.safetensors'}: does not fit model.json ({error})") from None
        if len(vocabulary) != trie.num_words:
            raise InputError(f"{folder / 'words.tsv'}: {len(vocabulary):,} words, but the model has {trie.num_words:,}")
        settings = {name: value for name, value in facts["settings"].items() if name != "variant"}
        return cls(vocabulary, trie, settings, facts["made_from"])


def part_log_probs(model: KneserNey, part: Part, max_words: int | None = None) -> tuple[Int64s, NDArray[np.float64]]:
    """The targets of the first sentences of a part, words and `</s>`, and ln p of each, in their order.

    The part must be read through as many words as the model has; raises InputError when it is not, or is empty.
    """
    if part.vocabulary_size != model.num_words:
        raise InputError(
            f"the part {part.name} is read through {part.vocabulary_size:,} words and the model has {model.num_words:,}; "
            "open the part with the model's vocabulary size"
        )
    targets, log_probs = [], []
    for tokens, lengths in part_pieces(part.head(max_words)):
        targets.append(np.insert(tokens, np.cumsum(lengths), END_ID))
        log_probs.append(model.trie.score(tokens, lengths))
    return np.concatenate(targets), np.concatenate(log_probs)


def _check_trie(trie: Trie) -> None:
    """Raise ValueError for arrays that do not make a tree, whose reading could go astray."""
    for name, dtype in _DTYPES.items():
        if getattr(trie, name).dtype != dtype or getattr(trie, name).ndim != 1:
            raise ValueError(f"{name} is no {np.dtype(dtype)} vector")
    num_nodes, num_inner = sum(trie.sizes), sum(trie.sizes[:-1])
    lengths = (len(trie.words), len(trie.log10_probs), len(trie.log10_backoffs), len(trie.children))
    if lengths != (num_nodes, num_nodes, num_inner, num_inner + 1):
        raise ValueError("its arrays do not belong together")
    if trie.children[0] != trie.num_words or trie.children[-1] != num_nodes or np.any(np.diff(trie.children) < 0):
        raise ValueError("its children are not in order")
    if num_nodes and int(trie.words.max()) >= trie.num_words:
        raise ValueError("it has words outside the vocabulary")
