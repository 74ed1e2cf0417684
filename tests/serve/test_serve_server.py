"""`fewwords serve` as a process: it tells where it listens, answers, and finishes what it has begun when it is stopped."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.model import NeuralModel
from fewwords.use.text_model import TextModel, load


@pytest.fixture(scope="module")
def folder(coded: TextModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("served") / "model"
    assert isinstance(coded.model, NeuralModel)
    save_neural(place, coded.model, "")
    return place


# Before it answers, the model tells of the request, and waits until the test has sent the signal.
_SLOW = """
import sys, time
from pathlib import Path
from fewwords.cli import main
from fewwords.use.text_model import TextModel

suggest = TextModel.suggest

def slow(self, text, k):
    Path(sys.argv[1], "begun").touch()
    while not Path(sys.argv[1], "signalled").exists():
        time.sleep(0.01)
    time.sleep(0.2)
    return suggest(self, text, k)

TextModel.suggest = slow
main(["serve", sys.argv[2], "--port", "0"])
"""


@pytest.fixture
def service(folder: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running service, and its address."""
    command = [sys.executable, "-c", _SLOW, str(tmp_path), str(folder)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "300"})
    assert process.stderr is not None
    line = process.stderr.readline()
    assert "no authentication" in line
    yield process, next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
    process.kill()
    process.communicate()


def ask(address: str, text: str) -> list[str]:
    body = json.dumps({"text": text, "k": 3}).encode()
    request = urllib.request.Request(f"{address}suggest", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return [each["text"] for each in json.load(answer)["suggestions"]]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_request_that_has_begun_is_answered(
    service: tuple[subprocess.Popen[str], str], folder: Path, tmp_path: Path, stop: signal.Signals
) -> None:
    process, address = service
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.extend(ask(address, "The cat ")))
    thread.start()
    while not (tmp_path / "begun").exists():
        assert process.poll() is None
    process.send_signal(stop)
    (tmp_path / "signalled").touch()
    thread.join(60)
    assert found == [each.text for each in load(folder).suggest("The cat ", 3)]
    assert process.wait(60) in (0, -signal.SIGTERM)
    with pytest.raises(OSError, match="refused"):
        ask(address, "The cat ")


def test_bad_input_is_one_line(folder: Path, command: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        failed = command("serve", folder, "--port", port)
        assert failed.code == 2
        assert f"--port {port}: cannot listen there" in failed.errors[0]
    for arguments, told in (
        ([folder, "--port", 70000], "choose a number from 0 to 65535"),
        ([folder, "--port", 0, "--host", "nowhere.invalid"], "cannot listen"),
        (["nowhere", "--port", 0], "no such model"),
    ):
        failed = command("serve", *arguments)
        assert failed.code == 2
        assert told in failed.errors[0]
