"""How many cores this process may use, and how its threads wait for each other."""

import os

# How often a thread of OpenMP looks before it sleeps. Its own default keeps a waiting thread spinning for milliseconds, and where
# another process wants the core, every step of training then waits for a thread that cannot run (docs/decisions.md).
_SPINS = "1000"


def available_cores() -> int:
    """The cores that the system gives this process, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_cores() -> None:
    """Let OpenMP's threads sleep soon when they wait, unless the user says how; only before torch is imported."""
    if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & set(os.environ):
        os.environ["GOMP_SPINCOUNT"] = _SPINS
