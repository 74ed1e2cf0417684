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
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.model import NeuralModel
from fewwords.page.make import page_html
from fewwords.use.text_model import TextModel, load
from packed_models import make_neural, packed_model


@pytest.fixture(scope="module")
def folder(coded: TextModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("served") / "model"
    assert isinstance(coded.model, NeuralModel)
    save_neural(place, coded.model, "")
    return place


_SERVE = """
import sys, time
from pathlib import Path
from fewwords.cli import main
{changes}
main(["serve", sys.argv[1], "--port", "0"])
"""
# Before it answers, the model tells of the request, and waits until the test has sent the signal.
_SLOW = """
from fewwords.use.text_model import TextModel

suggest = TextModel.suggest

def slow(self, text, k):
    Path(sys.argv[2], "begun").touch()
    while not Path(sys.argv[2], "signalled").exists():
        time.sleep(0.01)
    time.sleep(0.2)
    return suggest(self, text, k)

TextModel.suggest = slow
"""
_FULL = """
from fewwords.serve.app import Limits
from fewwords.serve.connection import LimitedConnection

LimitedConnection.limits = Limits(most_connections=0)
"""


@contextmanager
def running(model: Path, changes: str = "", *arguments: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service, and its address."""
    command = [sys.executable, "-c", _SERVE.format(changes=changes), *map(str, [model, *arguments])]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "300"})
    assert process.stderr is not None
    line = process.stderr.readline()
    assert "no authentication" in line
    try:
        yield process, next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
    finally:
        process.kill()
        process.communicate()


def ask(address: str, text: str) -> list[str]:
    body = json.dumps({"text": text, "k": 3}).encode()
    request = urllib.request.Request(f"{address}suggest", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return [each["text"] for each in json.load(answer)["suggestions"]]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_request_that_has_begun_is_answered(folder: Path, tmp_path: Path, stop: signal.Signals) -> None:
    with running(folder, _SLOW, tmp_path) as (process, address):
        found: list[str] = []
        thread = threading.Thread(target=lambda: found.extend(ask(address, "The cat ")))
        thread.start()
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
        process.send_signal(stop)
        (tmp_path / "signalled").touch()
        thread.join(60)
        assert found == [each.text for each in load(folder).suggest("The cat ", 3)]
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == "serve: stopped\n"
        with pytest.raises(OSError, match="refused"):
            ask(address, "The cat ")


def test_a_service_with_nothing_to_do_stops_in_order(folder: Path) -> None:
    with running(folder) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_connections_are_limited(folder: Path) -> None:
    with running(folder, _FULL) as (_, address):
        place = urlsplit(address)
        with socket.create_connection((place.hostname, place.port), timeout=60) as client:
            assert client.recv(1) == b""


def test_the_page_is_the_packed_model_itself(tmp_path: Path) -> None:
    packed_model(make_neural("lstm-z-w"), tmp_path, 4)
    with running(tmp_path / "model.few") as (_, address), urllib.request.urlopen(address, timeout=60) as answer:
        assert answer.read().decode() == page_html(tmp_path / "model.few")


def test_a_model_that_cannot_be_packed_has_a_page_that_asks(n_gram: TextModel, tmp_path: Path) -> None:
    n_gram.model.save(tmp_path / "kn3")  # type: ignore[attr-defined]
    with running(tmp_path / "kn3") as (_, address), urllib.request.urlopen(address, timeout=60) as answer:
        assert 'fetch("suggest"' in answer.read().decode()


@pytest.mark.slow
def test_the_benchmark_takes_a_packed_file(tmp_path: Path) -> None:
    packed_model(make_neural("lstm-z-w"), tmp_path, 4)
    program = Path(__file__).parents[2] / "benchmarks" / "serve.py"
    command = [sys.executable, program, "--quick", "--model", tmp_path / "model.few"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["errors"] == 0


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
