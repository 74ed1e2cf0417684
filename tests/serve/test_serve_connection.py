"""Connections that do not send, do not read, or are too many: each ends, and the others are served. The clock is the test's."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from fewwords.serve.app import Limits, make_app
from fewwords.serve.connection import LimitedConnection
from fewwords.use.text_model import TextModel

HEALTH = b"GET /health HTTP/1.1\r\nHost: here\r\n\r\n"
LIMITS = Limits(seconds=1000, whole_seconds=5000, most_connections=2)
PATIENT = Limits(seconds=1e6)  # of the application
Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class Clock(asyncio.SelectorEventLoop):
    """Waits for as long as the test says, however busy the machine is."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def run(check: Callable[[Clock], Coroutine[Any, Any, None]]) -> None:
    clock = Clock()
    try:
        clock.run_until_complete(check(clock))
    finally:
        clock.close()


async def soon(reading: Coroutine[Any, Any, bytes]) -> bytes:
    return await asyncio.wait_for(reading, 60)


async def until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        await asyncio.sleep(0.001)


@asynccontextmanager
async def listening(model: TextModel, page: str | None = None) -> AsyncIterator[tuple[Connect, ServerState]]:
    """A way to connect, and what the server knows of its connections."""

    class Connection(LimitedConnection):
        limits = LIMITS

    config = uvicorn.Config(
        make_app(model, PATIENT, page), log_config=None, lifespan="off", ws="none", timeout_keep_alive=600
    )
    state = ServerState()
    create = asyncio.get_running_loop().create_server
    server = await create(lambda: Connection(config, state, {}), "127.0.0.1", 0)
    writers = []

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writers.append(writer)
        return reader, writer

    try:
        yield connect, state
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await until(lambda: not state.connections)


def has_read(state: ServerState, ending: bytes) -> bool:
    """Whether the server has all that was sent of a head."""
    return any(each.conn.trailing_data[0].endswith(ending) for each in state.connections)  # type: ignore[union-attr]


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, object]]:
    """Status and body of one answer."""
    head = (await soon(reader.readuntil(b"\r\n\r\n"))).decode().lower()
    length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
    return int(head.split()[1]), json.loads(await soon(reader.readexactly(length)))


async def answered_before(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_second: bool) -> None:
    """For a connection that is to be used a second time: a request, and its answer."""
    if is_second:
        writer.write(HEALTH)
        assert (await read_answer(reader))[0] == 200


@pytest.mark.parametrize("is_second", [False, True])
def test_a_connection_without_a_request_is_closed(coded: TextModel, is_second: bool) -> None:
    async def check(clock: Clock) -> None:
        async with listening(coded) as (connect, state):
            reader, writer = await connect()
            await answered_before(reader, writer, is_second)
            await until(lambda: state.connections)
            clock.ahead += 1001
            assert await soon(reader.read()) == b""

    run(check)


@pytest.mark.parametrize("is_second", [False, True])
def test_a_head_that_comes_in_drops_is_not_waited_for(coded: TextModel, is_second: bool) -> None:
    async def check(clock: Clock) -> None:
        async with listening(coded) as (connect, state):
            reader, writer = await connect()
            await answered_before(reader, writer, is_second)
            writer.write(HEALTH[:-2])
            for number in range(9):
                line = f"drop: {number}\r\n".encode()
                writer.write(line)
                await until(lambda line=line: has_read(state, line))
                clock.ahead += 100
            assert state.connections
            clock.ahead += 101
            status, body = await read_answer(reader)
            assert status == 408
            assert set(body) == {"error"}
            assert await soon(reader.read()) == b""

    run(check)


def test_the_rest_of_a_refused_body_is_not_waited_for(coded: TextModel) -> None:
    """The answer is there before the body, and each byte more sets uvicorn's own clock back."""

    async def check(clock: Clock) -> None:
        async with listening(coded) as (connect, state):
            reader, writer = await connect()
            writer.write(b"POST /suggest HTTP/1.1\r\nHost: here\r\nContent-Length: 999999\r\n\r\n")
            assert (await read_answer(reader))[0] == 413
            for _ in range(11):
                writer.write(b" ")
                await asyncio.sleep(0.02)
                clock.ahead += 100
            await until(lambda: not state.connections)

    run(check)


@pytest.mark.parametrize("num_requests", [1, 3])
def test_an_answer_that_is_not_read_is_not_kept(coded: TextModel, num_requests: int) -> None:
    async def check(clock: Clock) -> None:
        page = "a" * 50_000_000  # more than the buffers of the system
        async with listening(coded, page) as (connect, state):
            _, writer = await connect()
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(HEALTH.replace(b"/health", b"/") * num_requests)
            await until(lambda: state.total_requests)
            clock.ahead += 4900
            await asyncio.sleep(0.02)
            assert state.connections
            clock.ahead += 101
            await until(lambda: not state.connections and not state.tasks)

    run(check)


def test_connections_too_many(coded: TextModel) -> None:
    async def check(clock: Clock) -> None:
        async with listening(coded) as (connect, state):
            opened = []
            for number in range(1, 5):
                opened.append(await connect())
                await until(lambda number=number: len(state.connections) == number)
            fifth, _ = await connect()
            assert await soon(fifth.read()) == b""
            for place, expected in ((2, 503), (0, 200)):
                reader, writer = opened[place]
                writer.write(HEALTH)
                status, body = await read_answer(reader)
                assert status == expected
                assert ("error" in body) == (expected == 503)
            assert await soon(opened[2][0].read()) == b""
            for place in (1, 3):
                opened[place][1].close()
            await until(lambda: len(state.connections) == 1)
            reader, writer = await connect()
            writer.write(HEALTH)
            assert (await read_answer(reader))[0] == 200

    run(check)


@pytest.mark.parametrize("sent", [b"nonsense\r\n\r\n", HEALTH[:-2] + b"a: " + b"b" * 70_000])
def test_what_is_not_http_is_refused_in_the_form_of_all_errors(coded: TextModel, sent: bytes) -> None:
    async def check(clock: Clock) -> None:
        async with listening(coded) as (connect, _):
            reader, writer = await connect()
            writer.write(sent)
            status, body = await read_answer(reader)
            assert status == 400
            assert set(body) == {"error"}

    run(check)


def test_nonsense_after_the_answer_ends_the_connection(coded: TextModel, caplog: pytest.LogCaptureFixture) -> None:
    async def check(clock: Clock) -> None:
        async with listening(coded) as (connect, state):
            reader, writer = await connect()
            writer.write(b"POST /suggest HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n")
            writer.write(b"11170\r\n" + b" " * 0x11170 + b"\r\n")
            assert (await read_answer(reader))[0] == 413
            writer.write(b"nonsense\r\n")
            await until(lambda: not state.connections)

    run(check)
    assert "Traceback" not in caplog.text
