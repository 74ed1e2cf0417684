"""The tables of word vectors: what they are, and the neighbours of a few words."""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from fewwords.cli.tables.table import fact_table
from fewwords.vectors.health import measure_health, plural_pairs
from fewwords.vectors.neighbours import choose_examples, nearest_words
from fewwords.vectors.word_vectors import WordVectors
from fewwords.vocabulary import NUM_SPECIAL, Vocabulary


def tables(vectors: WordVectors, vocabulary: Vocabulary) -> Iterator[Table]:
    """Sizes and health, then the neighbours of three words; `vocabulary` is that of the vectors, or a larger one."""
    head = Vocabulary(vocabulary.words[: len(vectors)], vocabulary.counts[: len(vectors)])
    health = measure_health(vectors.values, plural_pairs(head))
    facts = [
        ("words", f"{len(vectors) - NUM_SPECIAL:,}"),
        ("words without a vector", f"{vectors.num_without_vector:,}"),
        ("dimensions", f"{vectors.size:,}"),
        ("mean length", f"{health.mean_length:.3f}"),
    ]
    if health.num_pairs >= 2:
        facts.append(("cosine of singular and plural", f"{health.related_cosine:.3f} ({health.num_pairs} pairs)"))
        facts.append(("cosine of wrong pairs", f"{health.unrelated_cosine:.3f}"))
    yield fact_table("Word vectors", facts)
    yield neighbour_table(vectors, vocabulary, choose_examples(vectors, vocabulary))


def neighbour_table(vectors: WordVectors, vocabulary: Vocabulary, words: Sequence[str]) -> Table:
    """The ten nearest words of each of `words`, with their cosines."""
    table = Table("word", "nearest words", title="Neighbours", title_justify="left", title_style="bold")
    for word in words:
        near = nearest_words(vectors, vocabulary, word)
        # Text, because a word such as [b] would be taken for markup
        table.add_row(Text(word), Text(", ".join(f"{other} {cosine:.2f}" for other, cosine in near)))
    return table
