"""The table of a model that `make` has made."""

from rich.table import Table

from fewwords.cli.tables.table import fact_table
from fewwords.making.make import Made
from fewwords.readable import duration


def made_table(made: Made) -> Table:
    """What the model is, how good and how large."""
    found = made.evaluation
    perplexity = found.total.perplexity
    size = f"{made.megabytes:.1f} MB"
    if found.reduction:
        size += f", {found.reduction:.0f} % fewer numbers than without codes"
    facts = [
        ("folder", str(made.folder)),
        ("vocabulary", f"{perplexity.vocabulary_size:,} words, {1 - perplexity.oov_rate:.1%} of the test text"),
        ("test perplexity", f"{made.perplexity:,.1f}, on {perplexity.num_words:,} words"),
        ("size", size),
        ("time", duration(made.seconds)),
    ]
    if made.packed is not None and made.choice.shape is not None:
        recipe, packed = made.packed.recipe, made.packed
        told = f"{packed.path.name}, {packed.num_bytes / 1e6:.3f} MB, words in {recipe.tables} bits, LSTM in {recipe.encoder}"
        if packed.perplexity_before is not None and packed.perplexity_after is not None:
            lost = packed.perplexity_after / packed.perplexity_before - 1
            told += f", dev perplexity {lost:+.1%}"
        facts[4:4] = [("packed", told), ("chosen", f"{made.choice.base_size:,} base words, {made.choice.shape.told}")]
    return fact_table(found.variant, facts)
