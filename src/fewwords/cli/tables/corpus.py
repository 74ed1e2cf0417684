"""The tables of a prepared corpus, like the paper's table 2."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from fewwords.cli.tables.table import result_table
from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.vocabulary import NUM_SPECIAL


def tables(corpus: TokenCorpus) -> Iterator[Table]:
    """Tables of the parts, of the coverage by vocabulary size, and of what was dropped."""
    description = corpus.description
    yield _parts(description)
    yield _coverage(description)
    if description["dropped"]:
        yield _dropped(description)


def sample_sentences(corpus: TokenCorpus, number: int, part: str = "train") -> list[str]:
    """The first sentences of a part, which are a fair sample because the corpus is shuffled."""
    words = corpus.vocabulary().words
    opened = corpus.part(part)  # type: ignore[arg-type]
    return [" ".join(words[rank] for rank in sentence) for sentence in opened.sentences(0, number)]


def _parts(description: dict[str, Any]) -> Table:
    table = result_table("Corpus", "part", "running words", "sentences", "words a sentence")
    for name, part in description["parts"].items():
        mean = part["words"] / part["sentences"] if part["sentences"] else 0.0
        table.add_row(name, f"{part['words']:,}", f"{part['sentences']:,}", f"{mean:.1f}")
    table.add_section()
    table.add_row("types (train)", f"{description['types'] - NUM_SPECIAL:,}", "", "")
    return table


def _coverage(description: dict[str, Any]) -> Table:
    parts = [name for name, part in description["parts"].items() if part["words"]]
    table = result_table("Running words covered", "vocabulary", *parts)
    for size, shares in description["coverage"].items():
        name = f"{int(size):,}" + (" (all)" if int(size) == description["types"] else "")
        table.add_row(name, *(f"{shares[part]:.2%}" for part in parts))
    return table


def _dropped(description: dict[str, Any]) -> Table:
    table = result_table("Dropped", "reason", "sentences", "words")
    for reason, count in description["dropped"].items():
        table.add_row(reason, f"{count['sentences']:,}", f"{count['words']:,}")
    return table
