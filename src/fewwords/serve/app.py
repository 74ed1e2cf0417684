"""The routes of the service: suggest, score, rescore, explain, health, and a page to type on.

Texts come in the body of a POST request, so that they stay out of logs and histories. Model calls run in threads
(`workers`). Errors have one form (`errors`).
"""

from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from fewwords import __version__
from fewwords.cores import available_cores
from fewwords.serve import messages
from fewwords.serve.body_limit import BodyLimit
from fewwords.serve.errors import add_error_handlers, error_answers
from fewwords.serve.workers import Workers
from fewwords.use.nbest import Hypothesis, NBest
from fewwords.use.rescore import Weights, reorder, score_lists
from fewwords.use.text_model import TextModel

_DESCRIPTION = "Suggestions, scores and explanations of a small word-level language model. There is no authentication."
_PAGE_RULES = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:"
)


@dataclass(frozen=True)
class Limits:
    """What a service takes on: bytes of a request; seconds for its head, for its body and for the model, each; seconds from
    the head until the client has the answer; requests that may wait; open connections (`connection`)."""

    body_bytes: int = 1 << 16
    seconds: float = 10.0
    whole_seconds: float = 60.0
    most_waiting: int = 256
    most_connections: int = 300


def make_app(model: TextModel, limits: Limits | None = None, page: str | None = None) -> FastAPI:
    """The service as an ASGI application; `page` is the HTML at /, or else a small one that asks /suggest."""
    limits = limits or Limits()
    workers = Workers(available_cores(), limits.most_waiting, limits.seconds)
    # The usual pages of documentation load scripts from elsewhere; /openapi.json needs nobody.
    app = FastAPI(title="fewwords", version=__version__, description=_DESCRIPTION, docs_url=None, redoc_url=None)
    app.add_middleware(BodyLimit, most_bytes=limits.body_bytes, seconds=limits.seconds)
    add_error_handlers(app)
    errors = error_answers(400, 408, 413, 422, 503)
    shown = page or Path(__file__).with_name("page.html").read_text(encoding="utf-8")

    @app.post("/suggest", responses=errors)
    async def suggest(asked: messages.SuggestRequest) -> messages.SuggestAnswer:
        """The most probable next words, or ways to go on with the word under the cursor."""
        found = await workers.run(lambda: model.suggest(asked.text, asked.k))
        return messages.SuggestAnswer(suggestions=[messages.SuggestedWord(**vars(each)) for each in found])

    @app.post("/score", responses=errors)
    async def score(asked: messages.ScoreRequest) -> messages.ScoreAnswer:
        """The log10 probability of sentences."""
        found = await workers.run(lambda: model.full_scores_all(asked.texts))
        scores = []
        for each in found:
            words = [messages.ScoredWord(**vars(word)) for word in each] if asked.words else None
            scores.append(messages.ScoredText(log10_prob=sum(word.log10_prob for word in each), words=words))
        return messages.ScoreAnswer(scores=scores)

    @app.post("/rescore", responses=errors)
    async def rescore(asked: messages.RescoreRequest) -> messages.RescoreAnswer:
        """The hypotheses of a recogniser in a new order, the best first."""
        given = [Hypothesis(each.text, each.score, str(place)) for place, each in enumerate(asked.hypotheses)]
        lists = [NBest("", tuple(given))]
        scores = await workers.run(lambda: score_lists(model, lists))
        weights = Weights(asked.acoustic_weight, asked.lm_weight, asked.word_bonus)
        (best,), (ordered,) = reorder(lists, scores, weights)
        return messages.RescoreAnswer(
            hypotheses=[
                messages.RescoredText(text=each.text, place=int(each.name), score=each.acoustic, log10_prob=log10_prob)
                for each, log10_prob in zip(best.hypotheses, ordered)
            ]
        )

    @app.post("/explain", responses={**errors, **error_answers(404)})
    async def explain(asked: messages.ExplainRequest) -> messages.ExplainAnswer:
        """A word in a few common ones."""
        found = await workers.run(lambda: model.explain(asked.word))
        parts = [messages.BaseWord(word=word, weight=weight) for word, weight in zip(found.base_words, found.weights)]
        return messages.ExplainAnswer(word=found.word, is_base=found.is_base, parts=parts)

    @app.get("/health")
    async def health() -> messages.HealthAnswer:
        """Whether the service is up, and with which model."""
        return messages.HealthAnswer(status="ok", model=model.model.variant, words=model.model.num_words)

    @app.get("/", include_in_schema=False)
    async def show_page() -> HTMLResponse:
        return HTMLResponse(shown, headers={"Content-Security-Policy": _PAGE_RULES})

    return app
