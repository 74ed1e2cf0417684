"""The tables of an evaluation: perplexity and its conventions, bands of words, memory."""

from collections.abc import Iterator

from rich.table import Table

from fewwords.cli.tables.table import fact_table, result_table
from fewwords.evaluation.evaluate import Evaluation, TextResult
from fewwords.evaluation.keyboard import Keyboard
from fewwords.evaluation.mix import MixSummary
from fewwords.models.memory import Memory


def tables(evaluation: Evaluation) -> Iterator[Table]:
    """Tables of the perplexity of all texts together, of the bands of words, and of the memory."""
    yield _perplexity(evaluation.total)
    yield _bands(evaluation.total)
    if evaluation.memory is not None and evaluation.dense is not None:
        yield _memory(evaluation, evaluation.memory, evaluation.dense)
    else:
        yield _size(evaluation)


def mix_table(summary: MixSummary) -> Table:
    """The models of a mix, their weights, and what mixing gains."""
    title = f"Perplexity on {summary.text}, {summary.num_words:,} words, of {summary.num_targets:,} targets"
    table = result_table(title, "model", "weight", "perplexity")
    for folder, weight, perplexity in zip(summary.models, summary.weights, summary.perplexities):
        table.add_row(folder, f"{weight:.4f}", f"{perplexity:,.2f}")
    table.add_section()
    table.add_row("mix with equal weights", f"{1 / len(summary.models):.4f}", f"{summary.equal_perplexity:,.2f}")
    weights = "tuned weights" if summary.is_tuned else "the weights given"
    table.add_row(f"mix with {weights}", "as above", f"{summary.perplexity:,.2f}")
    return table


def keyboard_table(found: Keyboard) -> Table:
    """How often the word that is meant is suggested, and what that saves."""
    title = f"As a keyboard with {found.k} suggestions, {found.num_words:,} words"
    facts = [
        ("words of the vocabulary", f"{found.num_known / found.num_words:.1%}"),
        ("first suggestion is the next word", f"{found.top_1:.1%}"),
        (f"next word is among {found.k}", f"{found.recall():.1%}"),
    ]
    facts += [
        (f"… after {letters} letter{'s' * (letters > 1)}", f"{found.recall(letters):.1%}")
        for letters in range(1, len(found.found))
    ]
    keys = f"{found.keys_saved:.1%} ({found.keys_with:,} instead of {found.keys_without:,})"
    return fact_table(title, [*facts, ("keys saved", keys)])


def _perplexity(result: TextResult) -> Table:
    found = result.perplexity
    table = result_table(
        f"Perplexity over a vocabulary of {found.vocabulary_size:,} words", "counting", "targets", "perplexity"
    )
    for name, unknown, ends in (
        ("words and <unk>, with </s>", True, True),
        ("words and <unk>, without </s>", True, False),
        ("words, with </s>", False, True),
        ("words alone", False, False),
    ):
        if ends and not found.num_ends:
            continue  # the model does not predict </s>
        targets = found.num_words + ends * found.num_ends - (not unknown) * found.num_unknown
        table.add_row(name, f"{targets:,}", f"{found.over(unknown=unknown, ends=ends):,.2f}")
    table.add_section()
    table.add_row("out of vocabulary", f"{found.num_unknown:,}", f"{found.oov_rate:.2%}")
    if result.bits_per_character is not None:
        table.add_row("bits per character", f"{result.num_characters:,}", f"{result.bits_per_character:.3f}")
    return table


def _bands(result: TextResult) -> Table:
    table = result_table("By frequency", "words", "targets", "mean ln p", "perplexity")
    found = result.perplexity
    bands = list(found.bands)
    if found.rare.num_targets:
        bands.insert(1, found.rare)
    for band in bands:
        if band.num_targets:
            table.add_row(band.name, f"{band.num_targets:,}", f"{band.mean_log_prob:.3f}", f"{band.perplexity:,.2f}")
    return table


def _size(evaluation: Evaluation) -> Table:
    table = result_table("Memory", "", evaluation.variant)
    table.add_row("numbers stored", f"{evaluation.numbers:,}")
    table.add_row("bytes on disk", f"{sum(evaluation.files.values()):,}")
    return table


def _memory(evaluation: Evaluation, memory: Memory, dense: Memory) -> Table:
    table = result_table("Memory (numbers stored)", "part", evaluation.variant, "uncompressed version")
    for name, part in (
        ("embedding", "embedding"),
        ("encoding", "encoding"),
        ("prediction", "prediction"),
        ("biases", "biases"),
        ("normaliser", "normaliser"),
        ("codes (indices and values)", "codes"),
        ("total", "total"),
        ("total as in the paper's table 1", "paper_total"),
    ):
        if part == "total":
            table.add_section()
        table.add_row(name, f"{getattr(memory, part):,}", f"{getattr(dense, part):,}")
    table.add_row("reduction", f"{memory.reduction(dense):.2f} %", "")
    table.add_row("bytes on disk", f"{sum(evaluation.files.values()):,}", "")
    return table
