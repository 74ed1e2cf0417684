"""A limit on the bytes of a request and on the time that they may take, before anything is made of them."""

import asyncio

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fewwords.serve.errors import error_answer, late_answer


class BodyLimit:
    """Reads the body of each request as a whole; one of more than `most_bytes` is answered with 413, a slow one with 408."""

    def __init__(self, app: ASGIApp, most_bytes: int, seconds: float) -> None:
        self.app, self.most_bytes, self.seconds = app, most_bytes, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        app: ASGIApp = self.app
        waiting: list[Message] = []
        try:
            body = await asyncio.wait_for(self._read(Request(scope, receive)), self.seconds)
            waiting.append({"type": "http.request", "body": body, "more_body": False})
        except ClientDisconnect:
            return
        except asyncio.TimeoutError:
            app = late_answer(self.seconds)
        except _TooLongError:
            app = error_answer(413, "the request is too long", f"send at most {self.most_bytes:,} bytes at a time")

        async def read_again() -> Message:
            return waiting.pop() if waiting else await receive()

        await app(scope, read_again, send)

    async def _read(self, request: Request) -> bytes:
        told = request.headers.get("content-length", "")
        if told.isdecimal() and int(told) > self.most_bytes:
            raise _TooLongError
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > self.most_bytes:
                raise _TooLongError
        return bytes(body)


class _TooLongError(Exception):
    pass
