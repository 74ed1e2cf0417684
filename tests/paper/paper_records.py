"""Made-up but plausible records of all cells of the paper's section 4, for tables, figures and the report."""

import math
import random
import re
from collections.abc import Iterable
from typing import Any

from fewwords.models.memory import Memory
from fewwords.models.neural.memory import settings_memory, uncompressed_memory
from fewwords.models.neural.variants import VARIANTS, settings_of
from fewwords.paper.record import Record
from fewwords.paper.tables.results import Results
from fewwords.store.json_text import parse_json, to_json_text

BASE_ROWS = 8_003
NONZEROS = 8.0
SIZES = (10_000, 22_000, 36_000, 50_000)
ALL_WORDS = 92_973_509
BUDGETS = {"w5M": 4_999_987, "w30M": 30_000_000, "": ALL_WORDS}
# at 22,000 words; other sizes grow from there
LEVELS = {
    "kn3": 150.0,
    "kn3-all": 98.0,
    "kn5-all": 95.0,
    "lbl5": 140.0,
    "lstm-s": 112.0,
    "lstm-s-zero-bias": 3.5e6,
    "lstm-z": 107.0,
    "lstm-z-zero-bias": 128.0,
    "lstm-z-wb": 110.0,
    "lstm-z-w": 101.0,
}
CONTROLS = [
    ("embedding start", "random", "lstm-z", 1.04),
    ("embedding start", "random", "lstm-z-w", 1.06),
    ("bias start", "uniform", "lstm-s", 1.30),
    ("bias start", "uniform", "lstm-z", 1.12),
    ("normaliser", "one", "lstm-z", 1.05),
    ("normaliser", "constant", "lstm-z", 1.002),
    ("codes", "random", "lstm-z-w", 1.18),
    ("codes", "nearest", "lstm-z-w", 1.07),
    ("codes", "tuned", "lstm-z-w", 0.995),
    ("non-zeros", "4", "lstm-z-w", 1.03),
    ("non-zeros", "16", "lstm-z-w", 0.97),
    ("noise", "per position", "lstm-z-w", 1.01),
    ("loss", "softmax", "lstm-z-w", 0.95),
]


def memory_of(variant: str, vocab_size: int) -> Memory | None:
    if variant not in VARIANTS:
        return None
    tied = variant == "lbl5"  # as in the paper's tables
    settings = settings_of(variant, tied=tied)
    nonzeros = round(NONZEROS * (vocab_size - BASE_ROWS)) if settings.is_coded else 0
    return settings_memory(settings, vocab_size, BASE_ROWS if settings.is_coded else 0, nonzeros)


def make_curve(
    final: float, variant: str, from_zero: bool, words: int, chance: random.Random
) -> list[dict[str, float]]:
    lines = []
    for step in range(1, 21):
        share = step / 20
        shaken = variant == "lstm-s" and from_zero and share > 0.7
        perplexity = min(final, 400) * math.exp(1.2 * (1 - share) ** 2) * chance.uniform(0.99, 1.01)
        lift = 6 * (share - 0.7) if shaken else 0.0
        perplexity *= math.exp(4 * lift)
        log_z = (9 * max(0, share - 0.5) if variant == "lstm-s" and from_zero else 0.1) + chance.uniform(-0.05, 0.05)
        lines.append(
            {
                "words": round(share * words),
                "loss": 1.5 + 2 * (1 - share) ** 2 + lift * chance.random(),
                "dev_loss": 1.55 + 2 * (1 - share) ** 2 + lift,
                "dev_perplexity": perplexity,
                "gap_mean": log_z if variant == "lstm-s" else chance.uniform(-0.03, 0.03),
                "gap_std": 0.2 + 0.3 * (1 - share),
                "log_z_mean": log_z,
                "log_z_std": 0.35,
            }
        )
    return lines


def make_json(
    model: str,
    vocab_size: int,
    *,
    seed: int = 1,
    group: str = "table 3",
    budget: str = "w5M",
    factor: float = 1.0,
    **changes: Any,
) -> dict[str, Any]:
    """What the file of one record holds; its perplexity follows from the arguments alone."""
    budget = "" if model.endswith("-all") else budget
    group = "more words" if budget != "w5M" and not model.endswith("-all") else group
    chance = random.Random(f"{model} {vocab_size} {seed} {group}")
    variant = model.removesuffix("-zero-bias").removesuffix("-tied").removesuffix("-all")
    level = LEVELS[model.removesuffix("-tied")]
    perplexity = level * (vocab_size / 22_000) ** 0.35 * factor * math.exp(chance.gauss(0, 0.004))
    memory, words = memory_of(variant, vocab_size), BUDGETS[budget]
    dense = uncompressed_memory(VARIANTS["lstm-z"], vocab_size)
    neural = not model.startswith("kn")
    name = f"{model}-v{vocab_size}" + (f"-{budget}" if budget else "") + ("" if seed == 1 else f"-s{seed}")
    return {
        "format": "fewwords cell 1",
        "name": name,
        "group": group,
        "model": model,
        "variant": variant,
        "vocab_size": vocab_size,
        "base_size": BASE_ROWS - 3,
        "seed": seed,
        "control": None,
        "train_words": words,
        "test_words": 200_000,
        "oov_rate": 0.06,
        "ppl": perplexity,
        "ppl_without_end": 1.2 * perplexity,
        "ppl_without_unknown": 1.3 * perplexity,
        "ppl_rare_words": 40 * perplexity,
        "ppl_base_words": 0.8 * perplexity,
        "dev_ppl": 1.01 * perplexity,
        "learning_rate": 0.008 if neural else None,
        "gap_mean": -0.02 if neural else None,
        "gap_std": 0.22 if neural else None,
        "memory": memory.to_json() if memory else None,
        "formula_memory": memory.to_json() if memory else None,
        "numbers": memory.total if memory else 8_481_857,
        "bytes": 4 * memory.total if memory else 74_500_000,
        "reduction_percent": memory.reduction(dense) if memory else None,
        "nonzeros_per_rare_word": NONZEROS if variant in ("lstm-z-w", "lstm-z-wb") else None,
        "seconds": 250.0,
        "words_per_second": 20_000.0,
        "curve": make_curve(perplexity, variant, model.endswith("-zero-bias"), words, chance) if neural else [],
        "command": f"fewwords train --work work --model {variant} --vocab-size {vocab_size} --seed {seed}",
        "commit": "0123abc",
        "version": "0.1.0",
        "machine": "2 cores, x86_64, Linux",
        "finished": "2026-11-15T23:59:00Z",
        "corpus": {
            "train.tokens": "ab" * 32,
            "dev.tokens": "cd" * 32,
            "test.tokens": "ef" * 32,
            "words.tsv": "01" * 32,
        },
        **changes,
    }


def make_record(model: str, vocab_size: int, **changes: Any) -> Record:
    """One record, see `make_json`."""
    return Record.from_json(parse_json(to_json_text(make_json(model, vocab_size, **changes))), "made up")


def all_records() -> list[Record]:
    """Every cell: table 3, three seeds of the main rows at 22,000, more words, the paper's size, controls."""
    records = [make_record(model, size) for model in LEVELS for size in SIZES if "-zero" not in model]
    for model in (model for model in LEVELS if "-zero" in model):
        reference = f"{model.removesuffix('-zero-bias')}-v22000-w5M"
        control = {"table": "bias start", "setting": "zero", "reference": reference}
        records.append(make_record(model, 22_000, control=control))
    records += [make_record(model, 22_000, seed=seed) for model in ("lstm-s", "lstm-z", "lstm-z-w") for seed in (2, 3)]
    records += [make_record(model, 50_000, budget="w30M", factor=0.7) for model in ("kn3", "lstm-z", "lstm-z-w")]
    for table, setting, model, factor in CONTROLS:
        control = {"table": table, "setting": setting, "reference": f"{model}-v22000-w5M"}
        name = f"{table}-{setting}-{model}-v22000-w5M".replace(" ", "-")
        records.append(make_record(model, 22_000, group="control", factor=factor, control=control, name=name))
    return [*records, *whole_records()]


def whole_records() -> list[Record]:
    """Cells of the paper's size: both LSTMs at two sizes, the coded one at 200,000 words with KN3, and a tied one."""
    cells = [("lstm-z", 22_000), ("lstm-z", 50_000), ("lstm-z-w", 22_000), ("lstm-z-w", 50_000), ("lstm-z-w", 200_000)]
    neural = [make_record(model, size, budget="", factor=0.6) for model, size in (*cells, ("lstm-z-w-tied", 50_000))]
    return [*neural, make_record("kn3-all", 200_000)]


def gather(records: Iterable[Record]) -> Results:
    """The results of made-up records, whose names say on how many words they were trained."""
    found = list(records)
    return Results.gather(found, {record.name for record in found if re.search(r"-v\d+(-s\d+)?$", record.name)})
