"""Figure 4's data: what models store over a fine grid of vocabulary sizes, by table 1's arithmetic, and the trained cells."""

from collections.abc import Mapping
from typing import Any

from fewwords.models.neural.memory import settings_memory, uncompressed_memory
from fewwords.models.neural.variants import VARIANTS
from fewwords.paper.tables import published
from fewwords.paper.tables.seeds import Cell, Record
from fewwords.vocabulary import NUM_SPECIAL

DEFAULT_NONZEROS = 8.0
GRID_STEPS = 16


def memory_grid(rows: Mapping[tuple[str, int], Cell]) -> dict[str, Any]:
    """Numbers stored by LSTM-z, LSTM-z,wb and LSTM-z,w, and perplexities, for cells of table 3 by model and size."""
    coded = [cell.first for (model, _), cell in rows.items() if model in published.TABLE_4 and cell.first.get("memory")]
    base = base_rows(coded[0]) if coded else published.BASE_SIZE + NUM_SPECIAL
    nonzeros = max((record["nonzeros_per_rare_word"] or 0 for record in coded), default=0) or DEFAULT_NONZEROS
    sizes = [size for _, size in rows] or list(published.VOCABULARY_SIZES)
    step = _round_step(max(sizes) - base)
    grid = sorted({*range(step * (base // step + 1), max(sizes) + 1, step), *sizes})
    memory = []
    for size in grid:
        num_nonzeros = round(nonzeros * max(0, size - base))
        line = {"vocab_size": size, "lstm-z": uncompressed_memory(VARIANTS["lstm-z"], size).paper_total}
        for model in ("lstm-z-wb", "lstm-z-w"):
            line[model] = settings_memory(VARIANTS[model], size, min(base, size), num_nonzeros).paper_total
        memory.append(line)
    return {
        "base_rows": base,
        "nonzeros": nonzeros,
        "step": step,
        "memory": memory,
        "cells": [
            {"model": model, "vocab_size": size, "ppl": cell.mean, "spread": cell.spread, "run": cell.first["name"]}
            for (model, size), cell in sorted(rows.items())
        ],
    }


def _round_step(span: int) -> int:
    """A step of 1, 2 or 5 times a power of ten that divides the span into some sixteen parts or more."""
    wanted = max(1, span // GRID_STEPS)
    power = int(10 ** (len(str(wanted)) - 1))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= wanted)


def base_rows(record: Record) -> int:
    """Rows of a coded model's embedding: base words and special words."""
    return int(record["memory"]["embedding"]) // published.SIZE
