"""Check before training that it fits into memory: weights, gradient, two moments, and the largest scores."""

import os
from pathlib import Path

import torch

from fewwords.errors import InputError
from fewwords.models.neural.memory import settings_memory
from fewwords.models.neural.variants import ModelSettings
from fewwords.training.settings import TrainingSettings

_BYTES = 4
_COPIES = 4  # weights, gradient, two moments
_SCORE_COPIES = 3  # scores, their exponentials, their gradient
_CGROUP_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def needed_bytes(
    model_settings: ModelSettings, settings: TrainingSettings, num_words: int, num_base: int, num_code_values: int = 0
) -> int:
    """Roughly the peak memory of training."""
    tuned = num_code_values if model_settings.tune_codes else 0
    parameters = settings_memory(model_settings, num_words, num_base).parameters + tuned
    sizes = model_settings.embedding_size + 8 * model_settings.num_cells * model_settings.num_layers
    scores = num_words if settings.loss == "softmax" else settings.num_noise_words
    activations = 2 * settings.batch_words * (2 * sizes + _SCORE_COPIES * scores)
    return _BYTES * (_COPIES * parameters + num_code_values * 2 + activations)


def available_bytes() -> int | None:
    """Memory still available to this process, or None if the system does not say."""
    if torch.cuda.is_available():
        return int(torch.cuda.mem_get_info()[0])
    found = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    except (OSError, ValueError):
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in _CGROUP_FILES:
        try:
            found.append(int(Path(name).read_text()))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return min(found, default=None)


def check_memory(needed: int, loss: str) -> None:
    """Raise InputError if fewer than `needed` bytes are available."""
    available = available_bytes()
    if available is not None and needed > available:
        larger = "`batch_words` or another `loss`, " if loss == "softmax" else ""
        raise InputError(
            f"training would need about {needed / 1e9:,.1f} GB of memory and {available / 1e9:,.1f} GB are free; lower "
            f"{larger}`vocabulary_size`, `embedding_size` or `hidden_size`, or train a coded model (lstm-z-w)"
        )
