"""`serve`: answers over HTTP until it is stopped; requests that have begun are answered first."""

import signal
import socket
import sys
from pathlib import Path
from types import FrameType

import uvicorn

from fewwords.errors import InputError
from fewwords.page.make import page_of
from fewwords.progress import say
from fewwords.serve import HOST, PORT
from fewwords.serve.app import make_app
from fewwords.serve.connection import LimitedConnection
from fewwords.use.text_model import TextModel, load

_STOP_SECONDS = 15  # for requests that have begun
_BACKLOG = 128  # asyncio accepts as many before it looks at the limits, and a process may often have only 1024 files


def serve(model: TextModel | str | Path, host: str = HOST, port: int = PORT) -> None:
    """Serve a model, a model folder or a packed file, until SIGINT or SIGTERM; a `port` of 0 takes any that is free.

    Anybody who can reach `host` can use it: there is no authentication. Raises InputError if it cannot listen there.
    """
    with _listen(host, port) as listener:
        loaded, page = (model, None) if isinstance(model, TextModel) else (load(model), page_of(Path(model)))
        _one_thread_for_each_call()
        config = uvicorn.Config(
            make_app(loaded, page=page),
            http=LimitedConnection,
            ws="none",
            backlog=_BACKLOG,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=_STOP_SECONDS,
        )
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}/"
        told = (
            f"serve: {loaded.model.variant}, {loaded.model.num_words:,} words, at {address} "
            "(no authentication: whoever can reach this address can use it; Ctrl-C stops it)"
        )
        _Server(config, told).run(sockets=[listener])
    say("serve: stopped")


class _Server(uvicorn.Server):
    """Tells where it listens once a signal would stop it in order, and returns then; uvicorn's own raises the signal again."""

    def __init__(self, config: uvicorn.Config, told: str) -> None:
        super().__init__(config)
        self._told = told

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        say(self._told)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit |= self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InputError(f"`port` {port}: choose a number from 0 to 65535")
    try:
        family, *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise InputError(
            f"`host` {host}, `port` {port}: cannot listen there ({error.strerror or error}); choose others"
        ) from None


def _one_thread_for_each_call() -> None:
    """There is a thread for each core already, and more within each would only get in each other's way."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
