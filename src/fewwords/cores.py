"""How many cores this process may use, and how its threads wait for each other."""

import os
import time

# How often a thread of OpenMP looks before it sleeps. By default it spins for milliseconds: the fastest way to wait on a quiet
# machine, but where another process wants the core, every step waits for a thread that cannot run (docs/decisions.md).
_SPINS_WHEN_BUSY = "0"
_LOOKS, _SECONDS_BETWEEN_LOOKS = 5, 0.002


def available_cores() -> int:
    """The cores that the system gives this process, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_cores() -> None:
    """Where other processes are running, let OpenMP's threads sleep soon when they wait.

    What the user has set stays. This must come before torch is imported, which reads it once; it changes no result.
    """
    if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & set(os.environ) and _others_are_running():
        os.environ["GOMP_SPINCOUNT"] = _SPINS_WHEN_BUSY


def _others_are_running() -> bool:
    """Whether another process than this one wants a core at every look; False where the system does not tell."""
    for look in range(_LOOKS):
        try:
            with open("/proc/loadavg") as file:  # noqa: PTH123  # pathlib would slow every import of fewwords
                running = int(file.read().split()[3].partition("/")[0])
        except (OSError, ValueError, IndexError):
            return False
        if running <= 1:
            return False
        time.sleep(_SECONDS_BETWEEN_LOOKS if look < _LOOKS - 1 else 0)
    return True
