"""A small share of `benchmarks/fuzz.py` and `benchmarks/faults.py`, and that they notice what they are there to notice."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limits and forks are those of Linux")


def run(*arguments: object, folder: Path) -> dict[str, Any]:
    """The JSON object in the last line of what a program prints."""
    path = os.pathsep.join([str(BENCHMARKS), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_nothing_hostile_gets_through(tmp_path: Path) -> None:
    found = run(BENCHMARKS / "fuzz.py", "--inputs", 300, "--seed", 7, folder=tmp_path)
    stories = "\n".join(path.read_text() for path in tmp_path.glob("fuzz-failures/*/story.txt"))
    assert found["inputs"] == 300 == sum(found.values()) - 300, found
    assert found["refused"] > 100
    assert found["exceptions"] == found["crashes"] == found["timeouts"] == 0, stories


def test_nothing_killed_is_lost(tmp_path: Path) -> None:
    commands = ("prepare", "codes", "train", "mix", "pack", "make")
    found = run(BENCHMARKS / "faults.py", "--kills", 10, "--seed", 7, "--commands", *commands, folder=tmp_path)
    stories = "\n".join(path.read_text() for path in tmp_path.glob("fault-failures/*/failure.json"))
    assert found["kills"] == found["recovered"] > 5, stories
    assert found["damaged"] == 0, stories


# Each number is an input that does something else to the process that tries it.
_TRIES = """
import json, os, signal, sys, time
from pathlib import Path
from reliability.workers import Limits, try_all

def try_one(number, folder):
    if number == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 2:
        while True:
            pass
    if number == 3:
        time.sleep(60)
    if number == 4:
        try:
            bytes(1 << 30)
        except MemoryError:
            return "exceptions", "no memory"
    return "same", ""

reports = try_all(try_one, range(7), Path.cwd(), Limits(seconds=0.5, mebibytes=256), workers=2)
print(json.dumps({number: outcome for number, outcome, _ in sorted(reports)}))
"""


def test_a_worker_may_die_and_nothing_is_lost(tmp_path: Path) -> None:
    found = run("-c", _TRIES, folder=tmp_path)
    failures = {"1": "crashes", "2": "timeouts", "3": "timeouts", "4": "exceptions"}
    assert found == {"0": "same", **failures, "5": "same", "6": "same"}


# A command that writes a file in place, and one that renames it into place, both killed at all their steps.
_COMMANDS = """
import json, os, shutil, sys
from pathlib import Path
import faults
from reliability import kills
from reliability.commands import Scenario

def careless(arguments):
    with open("result", "w") as file:
        file.write("half")
        file.flush()
        os.fsync(file.fileno())
        file.write(" and whole")

def careful(arguments):
    Path(".result").write_text("half and whole")
    os.replace(".result", "result")

def forgetful(arguments):
    if not Path("started").exists():
        Path("started").write_text("")
        os.replace("started", "started")
        Path("result").write_text("whole")

def num_damaged(command):
    kills.main = command
    here = Path.cwd()
    folder, log = here / "folder", here / "log"
    folder.mkdir()
    run = kills.run_command([], folder, log)
    each = faults.Undisturbed("", Scenario([]), {}, faults.read_files(folder), run)
    damaged = 0
    for step in range(len(run.steps)):
        shutil.rmtree(folder)
        folder.mkdir()
        num_kills, problem = faults.kill_and_recover(each, folder, log, kills.Kill(step), None)
        assert num_kills == 1
        damaged += problem is not None
    shutil.rmtree(folder)
    return damaged, len(run.steps)

print(json.dumps({each.__name__: num_damaged(each) for each in (careless, careful, forgetful)}))
"""


def test_damage_is_noticed(tmp_path: Path) -> None:
    found = run("-c", _COMMANDS, folder=tmp_path)
    assert found == {"careless": [2, 2], "careful": [0, 2], "forgetful": [2, 2]}
