"""The folder of a Kneser-Ney model: `model.safetensors` with the tree, `words.tsv`, `model.json`, perhaps a card."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewwords.errors import InputError
from fewwords.models.kneser_ney.names import order_of
from fewwords.models.load import register
from fewwords.models.sealed_folder import ModelFacts, open_folder, write_folder
from fewwords.store.arrays import load_arrays
from fewwords.store.typed import read_value

if TYPE_CHECKING:
    from fewwords.models.kneser_ney.model import KneserNey
    from fewwords.models.kneser_ney.trie import Trie

FORMAT = "fewwords kneser-ney 1"
LOWEST_LOG10 = -10_000  # sums over all orders must stay finite in float32; zero is written as -99
LARGEST_LOG10_BACKOFF = 30  # products over all orders must stay finite; they are below 2 in practice
_DTYPES = {"words": np.uint32, "log10_probs": np.float32, "log10_backoffs": np.float32, "children": np.int64}


@dataclass(frozen=True, kw_only=True)
class _Estimation:
    """How a model was estimated; all but the order is unknown of a model from an ARPA file."""

    variant: str
    order: int
    interpolate: bool | None = None
    prune: tuple[int, ...] = ()
    discounts: tuple[tuple[float, ...], ...] = ()
    counts_of_counts: tuple[tuple[int, ...], ...] = ()
    words: int | None = None
    sentences: int | None = None


@dataclass(frozen=True, kw_only=True)
class KneserNeyFacts(ModelFacts):
    """What `model.json` says: `ngrams` of each order, and `settings`, how it was estimated."""

    settings: dict[str, Any]
    ngrams: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        estimation = read_value(_Estimation, self.settings, "settings")
        if not estimation.order == order_of(estimation.variant) == len(self.ngrams):
            raise InputError(
                f"{len(self.ngrams)} orders of n-grams in a {estimation.variant} of order {estimation.order}"
            )
        if min(self.ngrams) < 0 or self.ngrams[0] != self.num_words:
            raise InputError(f"{self.ngrams[0]} 1-grams of {self.num_words} words, or fewer than 0 of some order")


def save_kneser_ney(folder: str | Path, model: "KneserNey", card: str | None = None) -> None:
    """Write the model folder; `card` is the text of its README. Other files there stay."""
    from safetensors.numpy import save_file

    def write_files(building: Path) -> None:
        save_file(model.trie.arrays, building / "model.safetensors")
        if card is not None:
            (building / "README.md").write_text(card, encoding="utf-8")

    facts = {
        "settings": {"variant": model.variant, **model.settings},
        "ngrams": list(model.trie.sizes),
        "num_words": model.num_words,
        "text": model.rules.to_json(),
        "made_from": model.made_from,
    }
    write_folder(Path(folder), FORMAT, model.vocabulary, facts, write_files)


@register(FORMAT)
def load_kneser_ney(folder: Path, device: str = "cpu") -> "KneserNey":
    """Read a model folder; raises InputError if it is incomplete, changed, or of another kind."""
    from safetensors import SafetensorError

    from fewwords.models.kneser_ney.model import KneserNey
    from fewwords.models.kneser_ney.trie import Trie

    facts, vocabulary = open_folder(folder, FORMAT, KneserNeyFacts, "model.safetensors")
    path = folder / "model.safetensors"
    try:
        arrays = load_arrays(path)
        if arrays.keys() != _DTYPES.keys():
            raise ValueError(f"its arrays are not {', '.join(_DTYPES)}")
        trie = Trie(**arrays, sizes=facts.ngrams)
        _check_trie(trie)
    except (SafetensorError, TypeError, ValueError) as error:
        raise InputError(f"{path}: does not fit model.json ({error}); copy the model folder again") from None
    settings = {name: value for name, value in facts.settings.items() if name != "variant"}
    return KneserNey(vocabulary, trie, settings, facts.made_from, facts.rules)


def _check_trie(trie: "Trie") -> None:
    """Raise ValueError for arrays that do not make a tree and would be unsafe to read."""
    for name, dtype in _DTYPES.items():
        if getattr(trie, name).dtype != dtype or getattr(trie, name).ndim != 1:
            raise ValueError(f"{name} is not a {np.dtype(dtype)} vector")
    num_nodes, num_inner = sum(trie.sizes), sum(trie.sizes[:-1])
    lengths = (len(trie.words), len(trie.log10_probs), len(trie.log10_backoffs), len(trie.children))
    if lengths != (num_nodes, num_nodes, num_inner, num_inner + 1):
        raise ValueError("its arrays do not match")
    starts = np.cumsum([0, *trie.sizes])
    # the children of each order are the nodes of the next, all of them and nothing else; a search would read past them
    if np.any(np.diff(trie.children) < 0) or not np.array_equal(trie.children[starts[:-1]], starts[1:]):
        raise ValueError("its children are not in order")
    if num_nodes and int(trie.words.max()) >= trie.num_words:
        raise ValueError("it has words outside the vocabulary")
    if not np.array_equal(trie.words[: trie.num_words], np.arange(trie.num_words)):
        raise ValueError("its first nodes are not the words of the vocabulary")
    rises = trie.words[1:] > trie.words[:-1]
    rises[trie.children[trie.children < num_nodes] - 1] = True  # the first child of a node follows another's last
    if not rises.all():
        raise ValueError("the words of a node are not in order")
    if not ((trie.log10_probs >= LOWEST_LOG10) & (trie.log10_probs <= 0)).all():  # NaN is neither
        raise ValueError("a log-probability is positive or not finite")
    if not ((trie.log10_backoffs >= LOWEST_LOG10) & (trie.log10_backoffs <= LARGEST_LOG10_BACKOFF)).all():
        raise ValueError("a back-off weight is too large or not finite")
