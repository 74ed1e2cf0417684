"""Table 2: the corpus, and what the runs took of it."""

from collections.abc import Mapping
from typing import Any

from fewwords.paper.tables.print_figures import number
from fewwords.paper.tables.published import TABLE_2
from fewwords.paper.tables.results import Results
from fewwords.paper.tables.table import Table


def corpus_table(results: Results, corpus: Mapping[str, Any]) -> Table:
    """Running words of the parts, the paper's beside ours; `corpus` is what `corpus.json` says."""
    parts = corpus.get("parts", {})
    used = used_words(results)
    rows = []
    for name, paper in TABLE_2.items():
        part = parts.get(name.split()[0], {})
        rows.append(
            [name, number(part.get("words")), number(part.get("sentences")), number(used.get(name)), number(paper)]
        )
    shares = [
        f"{share['test']:.2%} at {int(size):,}"
        for size, share in corpus.get("coverage", {}).items()
        if int(size) in results.sizes and "test" in share
    ]
    notes = [f"{number(corpus.get('types'))} types in train."]
    if shares:
        notes.append(f"Running words of test that a vocabulary covers: {', '.join(shares)}.")
    columns = ("part", "running words", "sentences", "used by a run", "the paper")
    return Table("table2", "Table 2. The corpus", columns, rows, notes)


def used_words(results: Results) -> dict[str, int]:
    """The most words of each part that any run took, by the names of the paper's table 2."""
    used: dict[str, int] = {}
    for record in results.records:
        name = "train (neural)" if record.is_neural else "train (n-gram)"
        used[name] = max(used.get(name, 0), record.train_words)
        used["test"] = max(used.get("test", 0), record.test_words)
    return used
