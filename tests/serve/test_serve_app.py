"""The service against the model it serves, what it refuses, and its OpenAPI document as schemathesis reads it."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from pydantic import BaseModel
from schemathesis.schemas import BaseSchema
from starlette.applications import Starlette

from fewwords.serve import messages
from fewwords.serve.app import Limits, make_app
from fewwords.serve.body_limit import BodyLimit
from fewwords.serve.workers import BusyError, Workers
from fewwords.use.text_model import TextModel


@pytest.fixture(scope="module")
def client(coded: TextModel) -> Iterator[TestClient]:
    with TestClient(make_app(coded), raise_server_exceptions=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def schema(coded: TextModel) -> BaseSchema:
    # bytes and time are limited as well, which the document cannot say
    return schemathesis.openapi.from_asgi("/openapi.json", make_app(coded, Limits(body_bytes=1 << 24, seconds=600)))


def error_of(answer: Any) -> dict[str, str]:
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"problem", "remedy"}
    assert all(body["error"].values())
    return body["error"]


def test_suggest(client: TestClient, coded: TextModel) -> None:
    for text, k in (("The cat ", 3), ("the c", 5), ("", 2), ("zzzz", 2)):
        answer = client.post("/suggest", json={"text": text, "k": k})
        assert answer.status_code == 200
        assert answer.json()["suggestions"] == [vars(each) for each in coded.suggest(text, k)]


def test_score(client: TestClient, coded: TextModel) -> None:
    texts = ["The cat saw it.", "", "A zebra."]
    scores = client.post("/score", json={"texts": texts, "words": True}).json()["scores"]
    for text, found in zip(texts, scores, strict=True):
        assert found["log10_prob"] == pytest.approx(coded.score(text), abs=1e-5)
        assert [each["word"] for each in found["words"]] == [each.word for each in coded.full_scores(text)]
    assert client.post("/score", json={"texts": texts}).json()["scores"][0]["words"] is None


def test_rescore(client: TestClient, coded: TextModel) -> None:
    texts = ["the cat saw the food", "cat the the fish saw", "a dog found it"]
    hypotheses = [{"text": text, "score": -place} for place, text in enumerate(texts)]
    asked = {"hypotheses": hypotheses, "lm_weight": 2.0, "acoustic_weight": 0.5, "word_bonus": 0.1}
    found = client.post("/rescore", json=asked).json()["hypotheses"]
    totals = [-0.5 * place + 2 * coded.score(text) + 0.1 * len(text.split()) for place, text in enumerate(texts)]
    assert [each["place"] for each in found] == sorted(range(3), key=lambda place: -totals[place])
    assert found[0]["text"] == texts[found[0]["place"]]
    assert found[0]["log10_prob"] == pytest.approx(coded.score(found[0]["text"]), abs=1e-5)


def test_explain(client: TestClient, coded: TextModel) -> None:
    word = coded.vocabulary.words[-1]
    expected = coded.explain(word)
    found = client.post("/explain", json={"word": word}).json()
    assert [(each["word"], each["weight"]) for each in found["parts"]] == list(
        zip(expected.base_words, expected.weights)
    )
    missing = client.post("/explain", json={"word": "zebra"})
    assert missing.status_code == 404
    assert "zebra" in error_of(missing)["problem"]


def test_a_model_without_codes_explains_nothing(n_gram: TextModel) -> None:
    with TestClient(make_app(n_gram)) as client:
        answer = client.post("/explain", json={"word": "cat"})
        assert answer.status_code == 404
        assert "choose a coded model" in error_of(answer)["remedy"]
        assert client.post("/suggest", json={"text": "The cat "}).json()["suggestions"]


def test_health_and_page(client: TestClient, coded: TextModel, schema: BaseSchema) -> None:
    assert set(schema) == {"/suggest", "/score", "/rescore", "/explain", "/health"}
    health = schema["/health"]["GET"].Case().call_and_validate().json()
    assert health == {"status": "ok", "model": "lstm-z-w", "words": coded.model.num_words}
    page = client.get("/")
    assert "<textarea" in page.text
    assert "://" not in page.text, "the page needs nobody else"


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("/suggest", [messages.SuggestRequest, messages.SuggestedWord]),
        ("/score", [messages.ScoreRequest, messages.ScoredText]),
        ("/rescore", [messages.RescoreRequest, messages.RecognisedText, messages.RescoredText]),
        ("/explain", [messages.ExplainRequest, messages.ExplainAnswer, messages.BaseWord]),
        ("/health", [messages.HealthAnswer]),
    ],
)
def test_the_how_to_names_every_field(path: str, kinds: list[type[BaseModel]]) -> None:
    lines = (Path(__file__).parents[2] / "docs/how-to/serve.md").read_text(encoding="utf-8").splitlines()
    (row,) = (line for line in lines if line.startswith("| ") and f" `{path}` |" in line)
    for kind in kinds:
        assert [name for name in kind.model_fields if f"`{name}`" not in row] == []


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (404, {"url": "/nothing"}),
        (405, {"url": "/suggest", "method": "GET"}),
        (422, {"url": "/suggest", "json": {"text": "a", "k": 0}}),
        (422, {"url": "/suggest", "json": {"text": "a" * 5001}}),
        (422, {"url": "/suggest", "json": {"text": "a", "n": 3}}),
        (422, {"url": "/suggest", "json": {"text": 3}}),
        (422, {"url": "/suggest", "json": {"text": "a", "k": "3"}}),
        (422, {"url": "/suggest", "json": {"text": "a", "k": True}}),
        (422, {"url": "/suggest", "content": b'{"text": "\\ud800"}', "headers": {"content-type": "application/json"}}),
        (422, {"url": "/suggest", "content": b'{"text": ', "headers": {"content-type": "application/json"}}),
        (400, {"url": "/suggest", "content": b'{"text": "\xff"}', "headers": {"content-type": "application/json"}}),
        (400, {"url": "/suggest", "content": b"[" * 60_000, "headers": {"content-type": "application/json"}}),
        (422, {"url": "/score", "json": {"texts": []}}),
        (422, {"url": "/score", "json": {"texts": ["a"] * 101}}),
        (
            422,
            {
                "url": "/rescore",
                "content": b'{"hypotheses": [{"text": "a", "score": 1e999}]}',
                "headers": {"content-type": "application/json"},
            },
        ),
        (413, {"url": "/score", "json": {"texts": ["ä" * 5000] * 20}}),
    ],
)
def test_what_is_refused(client: TestClient, status: int, request_: dict[str, Any]) -> None:
    answer = client.request(**{"method": "POST", **request_})
    assert answer.status_code == status
    error_of(answer)


def test_a_body_of_no_stated_length_is_cut_off(client: TestClient) -> None:
    answer = client.post("/suggest", content=(b" " * 1000 for _ in range(1000)))
    assert answer.status_code == 413
    error_of(answer)


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.sleep(30)

    async def send(message: Any) -> None:
        sent.append(message)

    app = BodyLimit(Starlette(), most_bytes=10, seconds=0.05)
    asyncio.run(app({"type": "http", "method": "POST", "path": "/suggest", "headers": []}, never, send))
    assert sent[0]["status"] == 408


def test_an_error_of_the_service_itself(client: TestClient, coded: TextModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded, "suggest", lambda text, k: 1 / 0)
    answer = client.post("/suggest", json={"text": "The "})
    assert answer.status_code == 500
    assert "division" not in str(error_of(answer)), "what went wrong inside is for the log"


def test_a_busy_service_says_so_and_recovers(coded: TextModel, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    suggest = coded.suggest

    def slow(text: str, k: int) -> Any:
        begun.set()
        go_on.wait(30)
        return suggest(text, k)

    monkeypatch.setattr(coded, "suggest", slow)
    monkeypatch.setattr("fewwords.serve.app.available_cores", lambda: 1)
    with TestClient(make_app(coded, Limits(most_waiting=0))) as client, ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, "/suggest", json={"text": "The "})
        begun.wait(30)
        second = client.post("/suggest", json={"text": "The "})
        assert client.get("/health").status_code == 200, "health is answered whatever the model does"
        go_on.set()
        assert first.result().status_code == 200
        assert second.status_code == 503
        assert second.headers["retry-after"] == "1"
        error_of(second)
        assert client.post("/suggest", json={"text": "The "}).status_code == 200


def test_a_call_that_takes_too_long_keeps_its_place() -> None:
    go_on = threading.Event()
    workers = Workers(1, 0, 0.05)

    async def ask() -> None:
        with pytest.raises(BusyError, match=r"within 0\.05 seconds"):
            await workers.run(lambda: go_on.wait(30))
        with pytest.raises(BusyError, match="too many"):
            await workers.run(lambda: 1)
        go_on.set()
        for _ in range(1000):
            try:
                assert await workers.run(lambda: 7) == 7
                return
            except BusyError:
                await asyncio.sleep(0.01)
        raise AssertionError("the place was not given back")

    asyncio.run(ask())


@pytest.mark.parametrize("mode", schemathesis.GenerationMode)
@pytest.mark.parametrize("path", ["/suggest", "/score", "/rescore", "/explain"])
def test_the_service_does_what_its_openapi_document_says(
    schema: BaseSchema, path: str, mode: schemathesis.GenerationMode
) -> None:
    """schemathesis makes up requests, valid or not, and compares the answers with the document."""
    seen = set()

    @settings(
        max_examples=30,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(schema[path]["POST"].as_strategy(generation_mode=mode))
    def check(case: schemathesis.Case) -> None:
        seen.add(case.call_and_validate(timeout=600).status_code)

    check()
    if mode is schemathesis.GenerationMode.POSITIVE:
        assert seen <= {200, 404}
        assert seen
    else:
        assert 422 in seen
