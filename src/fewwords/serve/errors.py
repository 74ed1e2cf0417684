"""The one form of all errors: a status, and `{"error": {"problem": …, "remedy": …}}`."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from fewwords.errors import InputError
from fewwords.serve.messages import ErrorAnswer, Problem
from fewwords.serve.workers import BusyError

_SEE_DOCUMENT = "change it as /openapi.json says"
_RETRY_SECONDS = 1


def error_answer(status: int, problem: str, remedy: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error as it is sent."""
    body = ErrorAnswer(error=Problem(problem=problem, remedy=remedy))
    return JSONResponse(body.model_dump(), status, headers)


def late_answer(seconds: float) -> JSONResponse:
    """The answer to a request that did not come in time."""
    return error_answer(408, "the request did not come in time", f"send it within {seconds:g} seconds")


def busy_answer(problem: str) -> JSONResponse:
    """The answer when there is too much to do."""
    remedy = "try again a little later, or with fewer or shorter texts"
    return error_answer(503, problem, remedy, {"Retry-After": str(_RETRY_SECONDS)})


def error_answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI document."""
    return {status: {"model": ErrorAnswer, "description": HTTPStatus(status).phrase} for status in statuses}


def add_error_handlers(app: FastAPI) -> None:
    """Give every exception that a route can raise its answer."""

    @app.exception_handler(InputError)
    async def bad_input(request: Request, error: InputError) -> JSONResponse:
        # What can be told from a request alone is refused with 422; this is about words that the model does not have.
        problem, _, remedy = str(error).partition("; ")
        return error_answer(404, problem, remedy or _SEE_DOCUMENT)

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(each) for each in first["loc"] if each != "body")
        return error_answer(422, f"{place or 'the body'}: {first['msg']}", _SEE_DOCUMENT)

    @app.exception_handler(BusyError)
    async def busy(request: Request, error: BusyError) -> JSONResponse:
        return busy_answer(str(error))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        return error_answer(error.status_code, str(error.detail), "see /openapi.json for what there is", error.headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        return error_answer(500, "an error within the service", "look into its log, and report it")
