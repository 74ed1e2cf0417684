"""A connection with limits that uvicorn lacks: on the time of a request, and on how many connections are open.

uvicorn waits for the head of a request for ever, and `BodyLimit` begins only after it. Here every connection has a deadline
at all times: the next head is due `seconds` after the connection or the last answer, and the client has to have read the
answer `whole_seconds` after the head.
"""

import asyncio
from http import HTTPStatus

import h11
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from fewwords.serve.app import Limits
from fewwords.serve.body_limit import BodyLimit
from fewwords.serve.errors import busy_answer, error_answer, late_answer


class LimitedConnection(H11Protocol):
    """Answers a head that is too slow with 408, and a request on a connection too many with 503, and closes them.

    Twice `most_connections` are closed at once: to answer, one has to wait for the request.
    """

    limits = Limits()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set the first deadline, and who answers."""
        others = len(self.connections)
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.limits.seconds, self._end)
        if others >= 2 * self.limits.most_connections:
            transport.abort()
        elif others >= self.limits.most_connections:
            busy = busy_answer("too many connections are open")
            busy.headers["connection"] = "close"
            self.app = BodyLimit(busy, self.limits.body_bytes, self.limits.seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._deadline.cancel()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Read what has come; a whole head moves the deadline."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._end_after(self.limits.whole_seconds)

    def on_response_complete(self) -> None:
        """Wait for the next head, unless the client has still to read this answer."""
        if not self.transport.get_write_buffer_size():
            self._end_after(self.limits.seconds)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, in the form of all errors."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._refuse(error_answer(400, "the request is not HTTP, or its head is too long", "send another"))
        else:  # it has its answer
            self.transport.abort()

    def _end_after(self, seconds: float) -> None:
        self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self._refuse(late_answer(self.limits.seconds))
        else:
            self.transport.abort()  # closing would wait for a client that does not read

    def _refuse(self, answer: Response) -> None:
        headers = [*answer.raw_headers, (b"connection", b"close")]
        reason = HTTPStatus(answer.status_code).phrase.encode()
        head = h11.Response(status_code=answer.status_code, headers=headers, reason=reason)
        events = (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage())
        self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()
        self._end_after(self.limits.seconds)
