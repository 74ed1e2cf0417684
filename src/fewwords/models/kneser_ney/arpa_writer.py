"""Write a model as an ARPA file, which KenLM, SRILM and others read.

Logs are to base 10 with nine digits, enough to read back exactly the same numbers; `<s>`, which is never predicted, has
-99.
"""

import gzip
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from fewwords.errors import InputError
from fewwords.models.kneser_ney.model import KneserNey
from fewwords.models.model import Model
from fewwords.progress import Progress
from fewwords.store.files import atomic_write

_NODES_AT_ONCE = 1 << 17


def write_arpa(model: Model, path: str | Path) -> int:
    """Write an ARPA file, compressed if its name ends in `.gz`; returns the number of its n-grams.

    Raises InputError for a model of another kind, and for a word with a blank in it.
    """
    path = Path(path)
    if not isinstance(model, KneserNey):
        raise InputError(f"{model.variant}: no n-gram model; only Kneser-Ney models have an ARPA file")
    for word in model.vocabulary.words:
        if word.encode().split() != [word.encode()] or "\0" in word:
            raise InputError(
                f"the word {word!r} contains a space and cannot be in an ARPA file; prepare the corpus without it"
            )
    with Progress(f"writing {path.name}", sum(model.trie.sizes), "n-grams") as progress, atomic_write(path) as file:
        is_gzip = path.suffix == ".gz"
        # without a name and a time, the same model makes the same bytes
        with gzip.GzipFile("", "wb", 6, file, mtime=0) if is_gzip else nullcontext(file) as out:
            for num_lines, text in _texts(model):
                out.write(text.encode())
                progress.advance(num_lines)
    return sum(model.trie.sizes)


def _texts(model: KneserNey) -> Iterator[tuple[int, str]]:
    """The pieces of the file, each with its number of n-grams."""
    trie = model.trie
    header = [f"ngram {order}={size}" for order, size in enumerate(trie.sizes, start=1)]
    yield 0, "\n".join(["\\data\\", *header, ""])
    names = np.array(model.vocabulary.words, dtype=object)
    for order in range(1, trie.order + 1):
        yield 0, f"\n\\{order}-grams:\n"
        level = trie.level(order)
        for start in range(level.start, level.stop, _NODES_AT_ONCE):
            nodes = slice(start, min(start + _NODES_AT_ONCE, level.stop))
            texts = map(" ".join, zip(*names[trie.spell(nodes, order)].tolist()))
            log10_probs = trie.log10_probs[nodes].tolist()
            if order < trie.order:
                backoffs = trie.log10_backoffs[nodes].tolist()
                lines = ["%.9g\t%s\t%.9g\n" % line for line in zip(log10_probs, texts, backoffs)]  # noqa: UP031
            else:
                lines = ["%.9g\t%s\n" % line for line in zip(log10_probs, texts)]  # noqa: UP031
            yield len(lines), "".join(lines)
    yield 0, "\n\\end\\\n"
