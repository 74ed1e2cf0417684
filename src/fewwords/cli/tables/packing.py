"""The table of a packed file: what each part costs, and what packing costs in perplexity."""

from rich.table import Table

from fewwords.cli.tables.table import result_table
from fewwords.packing.pack import Packed


def packed_table(packed: Packed) -> Table:
    """Bytes and bits per number of each part, and the perplexities."""
    table = result_table(f"{packed.path}, {packed.num_bytes / 1e6:.3f} MB", "part", "bytes", "bits per number")
    for part in packed.parts:
        bits = f"{8 * part.num_bytes / part.num_numbers:.2f}" if part.num_numbers else ""
        table.add_row(part.name, f"{part.num_bytes:,}", bits)
    table.add_section()
    table.add_row("the file", f"{packed.num_bytes:,}", "")
    table.add_row("the same numbers in float32", f"{packed.num_float_bytes:,}", "32.00")
    if packed.perplexity_before is not None and packed.perplexity_after is not None:
        change = packed.perplexity_after / packed.perplexity_before - 1
        table.add_section()
        table.add_row("perplexity before packing", f"{packed.perplexity_before:,.2f}", "")
        table.add_row("perplexity after packing", f"{packed.perplexity_after:,.2f}", f"{change:+.2%}")
    return table
