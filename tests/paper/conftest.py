"""Made-up but plausible records of all cells of the paper's section 4, for tables, figures and the report."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from fewwords.codes.explain import Explanation
from fewwords.models.memory import Memory
from fewwords.models.neural.memory import settings_memory, uncompressed_memory
from fewwords.models.neural.variants import VARIANTS, settings_of

BASE_ROWS = 8_003
NONZEROS = 8.0
SIZES = (10_000, 22_000, 36_000, 50_000)
# at 22,000 words; other sizes grow from there
LEVELS = {
    "kn3": 150.0,
    "kn3-all": 98.0,
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
    settings = settings_of(variant, tied=variant == "lbl5")  # as in the paper's tables
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
                "words": share * words,
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


def make_record(
    model: str, vocab_size: int, *, seed: int = 1, group: str = "table 3", factor: float = 1.0, **changes: Any
) -> dict[str, Any]:
    """One record; its perplexity follows from the arguments alone."""
    chance = random.Random(f"{model} {vocab_size} {seed} {group}")
    variant = model.removesuffix("-zero-bias")
    perplexity = LEVELS[model] * (vocab_size / 22_000) ** 0.35 * factor * math.exp(chance.gauss(0, 0.004))
    memory, words = memory_of(variant, vocab_size), 30_000_000 if group == "more words" else 4_999_987
    dense = uncompressed_memory(VARIANTS["lstm-z"], vocab_size)
    neural = not model.startswith("kn3")
    name = f"{model}-v{vocab_size}" + ("" if seed == 1 else f"-s{seed}") + ("-more" if group == "more words" else "")
    return {
        "format": "fewwords cell 1",
        "name": name,
        "group": group,
        "model": model,
        "variant": variant,
        "vocab_size": vocab_size,
        "seed": seed,
        "control": None,
        "train_words": 92_973_509 if model == "kn3-all" else words,
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


def all_records() -> list[dict[str, Any]]:
    """Every cell: table 3, three seeds of the main rows at 22,000, more words, controls."""
    records = [make_record(model, size) for model in LEVELS for size in SIZES if "-zero" not in model]
    for model in (model for model in LEVELS if "-zero" in model):
        control = {"table": "bias start", "setting": "zero", "reference": f"{model.removesuffix('-zero-bias')}-v22000"}
        records.append(make_record(model, 22_000, control=control))
    records += [make_record(model, 22_000, seed=seed) for model in ("lstm-s", "lstm-z", "lstm-z-w") for seed in (2, 3)]
    records += [make_record(model, 50_000, group="more words", factor=0.7) for model in ("lstm-z", "lstm-z-w")]
    for table, setting, model, factor in CONTROLS:
        control = {"table": table, "setting": setting, "reference": f"{model}-v22000"}
        name = f"{table}-{setting}-{model}-v22000".replace(" ", "-")
        records.append(make_record(model, 22_000, group="control", factor=factor, control=control, name=name))
    return records


@pytest.fixture
def records() -> list[dict[str, Any]]:
    """`all_records`."""
    return all_records()


@pytest.fixture(scope="session")
def make_records() -> Callable[[], list[dict[str, Any]]]:
    """`all_records`, for those who keep what they make of it."""
    return all_records


@pytest.fixture
def record() -> Callable[..., dict[str, Any]]:
    """`make_record`."""
    return make_record


@pytest.fixture(scope="session")
def corpus() -> dict[str, Any]:
    """What `corpus.json` says."""
    return {
        "parts": {
            "train": {"words": 92_973_509, "sentences": 3_718_220},
            "dev": {"words": 100_000, "sentences": 3_998},
            "test": {"words": 4_898_621, "sentences": 196_044},
        },
        "types": 775_716,
        "coverage": {str(size): {"train": 0.94, "dev": 0.94, "test": 0.94} for size in SIZES},
        "sha256": {"train.tokens": "ab" * 32},
    }


@pytest.fixture(scope="session")
def about() -> dict[str, Any]:
    """What the caller says of the whole; one value with characters that HTML must not take for markup."""
    return {"command": "fewwords paper --work work", "version": "0.1.0", "note": 'a <b>bold</b> & "quoted" note'}


@pytest.fixture(scope="session")
def explanations() -> list[Explanation]:
    """Three pairs, a base word and a rare one, with a word that XML must escape."""
    pairs = []
    for number, word in enumerate(("algorithm", "secret", "debate")):
        rank = 3_000 + 900 * number
        pairs.append(Explanation(word, rank, True, [word], [rank], [1.0]))
        words = [word, "methods", "<unk>", "data", "search", "theory", "tools", "a&b"]
        weights = [0.42, 0.2, 0.15, 0.1, 0.08, 0.05, 0.04, 0.03]
        ranks = [rank, 640, 0, 455, 1_200, 2_100, 5_400, 7_900]
        pairs.append(Explanation(f"{word}s", 11_000 + number, False, words, ranks, weights))
    return pairs
