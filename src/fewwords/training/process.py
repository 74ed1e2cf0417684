"""The process that trains: threads, the memory allocator, deterministic kernels."""

import ctypes
import os
import platform
import sys

import torch

from fewwords.cores import available_cores

# Parameters of glibc's mallopt, and the largest threshold that all its versions accept.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_GIBIBYTE = 1 << 30
_LARGEST_OLD_MMAP_THRESHOLD = 32 << 20


def prepare_process(threads: int | None = None) -> torch.device:
    """Set up this process, perhaps one of several on its machine, for training; returns the device to train on."""
    torch.set_num_threads(threads or max(1, available_cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1"))))
    keep_freed_memory()
    if not torch.cuda.is_available():
        return torch.device("cpu")
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    torch.use_deterministic_algorithms(True, warn_only=True)
    return torch.device("cuda", torch.cuda.current_device())


def has_slow_bfloat16(device: torch.device) -> bool:
    """Whether PyTorch computes bfloat16 number by number on this device: on x86 processors without AVX-512."""
    return device.type == "cpu" and torch.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2") and _is_x86()


def _is_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")


def keep_freed_memory() -> bool:
    """Let the allocator keep large freed blocks for the next step; returns whether that worked.

    By default glibc asks the system for each large block and gives it back when it is freed. A training step frees what
    the next one needs again, so much of its time would be spent on page faults.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    kept = mallopt(_MMAP_THRESHOLD, _GIBIBYTE) or mallopt(_MMAP_THRESHOLD, _LARGEST_OLD_MMAP_THRESHOLD)
    return bool(kept and mallopt(_TRIM_THRESHOLD, _GIBIBYTE))
