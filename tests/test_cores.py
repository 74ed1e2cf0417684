"""How threads wait: quickly asleep where other processes are running, and as the user says otherwise."""

import os
import subprocess
import sys

import pytest

from fewwords import cores


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("busy", [False, True])
def test_threads_sleep_soon_on_a_busy_machine_only(environment: pytest.MonkeyPatch, busy: bool) -> None:
    environment.setattr(cores, "_others_are_running", lambda: busy)
    cores.share_cores()
    assert os.environ.get("GOMP_SPINCOUNT") == ("0" if busy else None)


@pytest.mark.parametrize("name", ["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"])
def test_what_the_user_has_set_stays(environment: pytest.MonkeyPatch, name: str) -> None:
    environment.setattr(cores, "_others_are_running", lambda: True)
    environment.setenv(name, "user's")
    cores.share_cores()
    assert os.environ[name] == "user's"
    assert {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & set(os.environ) == {name}


@pytest.mark.skipif(not os.path.exists("/proc/loadavg"), reason="the system does not tell what is running")  # noqa: PTH110
def test_a_busy_process_is_seen() -> None:
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        assert any(cores._others_are_running() for _ in range(50))
    finally:
        for other in others:
            other.kill()
            other.wait()
