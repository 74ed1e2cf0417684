"""What the unknown words of the test text cost to spell at each vocabulary size, kept in `report/spelling.json`.

It depends only on the corpus and the vocabulary size and takes some seconds per size, so it is computed once.
"""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.spelling import Spelled, spell_part
from fewwords.paper.cells import TEST_WORDS
from fewwords.progress import say
from fewwords.store.files import read_json, write_json
from fewwords.store.typed import read_value

FORMAT = "fewwords spelling 1"


def spelled_sizes(corpus: TokenCorpus, sizes: Iterable[int], path: Path) -> dict[int, Spelled]:
    """The test text of the cells, spelled out at each size; empty if the folder has a description but no tokens."""
    needed = ("words.tsv", "test.tokens")
    if not all((corpus.folder / name).is_file() for name in needed):
        return {}
    hashes = corpus.description.get("sha256", {})
    made_from = {"format": FORMAT, "words": TEST_WORDS, **{name: hashes.get(name) for name in needed}}
    found = _read_known(path, made_from) if path.is_file() else {}
    wanted = [size for size in sorted(set(sizes)) if size < corpus.num_types]
    for size in (size for size in wanted if size not in found):
        say(f"paper: spelling out the words past the first {size:,}")
        found[size] = spell_part(corpus, "test", size, TEST_WORDS)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"made_from": made_from, "sizes": {size: asdict(each) for size, each in sorted(found.items())}})
    return {size: found[size] for size in wanted}


def _read_known(path: Path, made_from: dict[str, Any]) -> dict[int, Spelled]:
    """The sizes in the file, if it was made from the same text; raises InputError for a damaged file."""
    stored: Any = read_json(path)
    if not isinstance(stored, dict) or stored.get("made_from") != made_from:
        return {}
    try:
        sizes = read_value(dict[str, Spelled], stored.get("sizes"), "sizes")
        return {int(size): facts for size, facts in sizes.items()}
    except ValueError as error:
        raise InputError(f"{path}: damaged ({error}); remove it") from None
