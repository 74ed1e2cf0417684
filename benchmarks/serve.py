"""`fewwords serve` under load: 64 connections that ask for suggestions one after another for 30 seconds, on loopback.

Prints a card and, as its last line, one JSON object. The service is a process of its own; the clients are in this one and share
the machine with it. `--model` names a model as `fewwords serve` does; otherwise it is made up, coded, V = 50k. Texts are starts of
sentences of words drawn by rank, each ending in a blank. Memory is that of the service after 200 requests and at the end;
its processor time for a request does not depend on what else the machine does.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import fewwords
from export import made_up_model

CONNECTIONS = 64
WARM_UP_REQUESTS = 200


def start(model: str) -> tuple[subprocess.Popen[str], int]:
    """A service, and its port."""
    command = [sys.executable, "-m", "fewwords", "serve", model, "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    told = process.stderr.readline()
    address = next(word for word in told.split() if word.startswith("http://"))
    return process, urlsplit(address).port or 0


def rss_mib(pid: int) -> float:
    """The resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def cpu_seconds(pid: int) -> float:
    """The processor time of a process and its threads so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def made_up_texts(words: Sequence[str]) -> list[str]:
    """Starts of sentences."""
    random = np.random.default_rng(1)
    ids = np.minimum(random.zipf(1.2, (2000, 12)) + 2, len(words) - 1)
    return [" ".join(words[word] for word in row[: random.integers(1, 12)]) + " " for row in ids]


async def ask_until(
    port: int, texts: list[str], first: int, end: float, seconds: list[float], failed: list[str]
) -> None:
    """One connection: request after request until `end`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    place = first
    while time.perf_counter() < end:
        body = json.dumps({"text": texts[place % len(texts)], "k": 5}).encode()
        place += 1
        head = f"POST /suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        begun = time.perf_counter()
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in answer.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        found = await reader.readexactly(int(length.split(b":")[1]))
        seconds.append(time.perf_counter() - begun)
        if not answer.startswith(b"HTTP/1.1 200") or b"suggestions" not in found:
            failed.append(found.decode())
    writer.close()


async def load(port: int, texts: list[str], connections: int, duration: float) -> tuple[list[float], list[str]]:
    """Seconds of each request, and the errors."""
    seconds: list[float] = []
    failed: list[str] = []
    end = time.perf_counter() + duration
    clients = [ask_until(port, texts, 37 * place, end, seconds, failed) for place in range(connections)]
    outcomes = await asyncio.gather(*clients, return_exceptions=True)
    return seconds, failed + [repr(each) for each in outcomes if each is not None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 seconds instead of 30")
    parser.add_argument("--model", help="a model folder, a packed file, or english")
    options = parser.parse_args()
    duration = 5.0 if options.quick else 30.0
    with tempfile.TemporaryDirectory() as place:
        model = options.model or str(Path(place) / "model")
        if options.model is None:
            from fewwords.models.neural.folder import save_neural

            save_neural(Path(model), made_up_model("lstm-z-w", ""), "")
        words = fewwords.load(model).vocabulary.words
        process, port = start(model)
        try:
            texts = made_up_texts(words)
            seconds: list[float] = []
            while len(seconds) < WARM_UP_REQUESTS:
                seconds += asyncio.run(load(port, texts, CONNECTIONS, 0.5))[0]
            before, cpu_before = rss_mib(process.pid), cpu_seconds(process.pid)
            begun = time.perf_counter()
            seconds, failed = asyncio.run(load(port, texts, CONNECTIONS, duration))
            rate = len(seconds) / (time.perf_counter() - begun)
            after, cpu_after = rss_mib(process.pid), cpu_seconds(process.pid)
        finally:
            process.terminate()
            process.wait()
    cpu_ms = 1000 * (cpu_after - cpu_before) / len(seconds)
    p50, p99 = (1000 * float(np.quantile(seconds, share)) for share in (0.5, 0.99))
    print(f"fewwords serve, /suggest, V = {len(words):,}, {CONNECTIONS} connections, {duration:g} s")
    print(f"  {rate:,.0f} requests/s; p50 {p50:.0f} ms, p99 {p99:.0f} ms; {len(failed)} errors {failed[:1] or ''}")
    print(f"  {cpu_ms:.1f} ms of processor time for a request")
    print(f"  resident memory {before:.0f} MiB before, {after:.0f} MiB after")
    figures = {"requests_per_second": rate, "p50_ms": p50, "p99_ms": p99, "errors": len(failed), "cpu_ms": cpu_ms}
    memory = {"rss_before_mib": before, "rss_after_mib": after}
    print(json.dumps({name: round(value, 1) for name, value in {**figures, **memory}.items()}))


if __name__ == "__main__":
    main()
