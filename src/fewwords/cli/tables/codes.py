"""The quality report of codes as tables, and as the few lines that check the paper's claims."""

from collections.abc import Iterator

from rich.table import Table

from fewwords.cli.tables.table import result_table
from fewwords.codes.make import CodedVocabulary
from fewwords.codes.quality import CodeQuality, Spread


def tables(coded: CodedVocabulary) -> Iterator[Table]:
    """What was coded and how well, by frequency, and the non-zeros."""
    quality = coded.quality
    yield _overview(coded)
    bands = result_table("Fitting loss by frequency", "ranks", "mean loss")
    for band in quality.loss_by_band:
        bands.add_row(f"{band.first_rank:,} to {band.last_rank:,}", f"{band.loss:.3f}")
    yield bands
    histogram = result_table("Non-zeros a word", "non-zeros", "words", "")
    most = max(quality.nonzeros_histogram.values())
    for number, words in quality.nonzeros_histogram.items():
        histogram.add_row(str(number), f"{words:,}", "█" * round(24 * words / most))
    histogram.columns[2].justify = "left"
    yield histogram
    if coded.trace.steps:
        yield _steps(coded)


def claims(quality: CodeQuality) -> Iterator[str]:
    """The paper's claims, and what was found, a line each."""
    holds = quality.keeps_to_the_paper
    yield f"paper: 4 to 8 values a word; here {quality.nonzeros:.1f}: {_verdict(holds['4 to 8 values a word'])}"
    yield f"paper: 0.05 to 0.1 % non-zeros; here {quality.density:.3%}: {_verdict(holds['0.05 to 0.1 % non-zeros'])}"
    yield (
        f"paper: a plural's largest weight is on its singular; here, of {quality.num_with_stem:,} rare words whose plain form is "
        f"a base word, {quality.stem_is_largest:.1%} have it as the largest weight, {quality.stem_in_code:.1%} among their weights"
    )


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"


def _overview(coded: CodedVocabulary) -> Table:
    quality, codes = coded.quality, coded.codes
    table = result_table("Codes", "", "mean", "quartiles")
    table.add_row("rare words coded", f"{quality.num_rare:,}", "")
    table.add_row("base words (special ones included)", f"{quality.num_base:,}", "")
    table.add_row("fitting loss", *_spread(quality.loss))
    table.add_row("sum of the weights", *_spread(quality.sums))
    table.add_row("non-zeros", f"{quality.nonzeros:.2f}", "")
    table.add_row("empty codes", f"{quality.empty}", "")
    table.add_row("size in values (index and weight)", f"{codes.num_values:,}", "")
    table.add_row("size in kB", f"{codes.num_bytes / 1000:,.0f}", "")
    quantised = codes.quantise()
    error = f"weights off by at most {quantised.max_error:.4f}"
    table.add_row("with weights in 8 bits, kB", f"{quantised.num_bytes / 1000:,.0f}", error)
    table.add_row(f"seconds ({coded.trace.solver})", f"{coded.trace.seconds:.1f}", _endings(coded))
    return table


def _endings(coded: CodedVocabulary) -> str:
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in coded.trace.endings.items() if count)


def _spread(spread: Spread) -> tuple[str, str]:
    quartiles = (spread.lower_quartile, spread.median, spread.upper_quartile)
    return f"{spread.mean:.3f}", " / ".join(f"{value:.3f}" for value in quartiles)


def _steps(coded: CodedVocabulary) -> Table:
    names = list(coded.trace.steps[0])
    table = result_table("Adam over the steps (means)", *names)
    for step in coded.trace.steps:
        table.add_row(*(f"{step[name]:,.0f}" if name == "step" else f"{step[name]:.3f}" for name in names))
    return table
