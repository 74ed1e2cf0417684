"""What the service is asked and what it answers, as the OpenAPI document shows it; unknown fields and wrong types are refused.

The limits here and that of a request's bytes bound the work that one request can cause.
"""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MOST_CHARACTERS = 5_000  # of a text
MOST_TEXTS = 100  # of a request
MOST_SUGGESTIONS = 100
MOST_LETTERS = 100  # of a word

Text = Annotated[str, Field(max_length=MOST_CHARACTERS)]
Weight = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]


def _as_int(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


WholeNumber = Annotated[int, BeforeValidator(_as_int)]  # 3.0 too, which is an integer in JSON


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SuggestRequest(_Message):
    """A text before the cursor. A blank at its end means that a new word begins."""

    text: Text = Field("", examples=["The state of the un"])
    k: WholeNumber = Field(5, ge=1, le=MOST_SUGGESTIONS, description="How many suggestions, at the most.", examples=[3])


class SuggestedWord(_Message):
    """A word of the vocabulary; `text` is how to show it, `insert` what to put in place of the last `replaces` characters."""

    word: str = Field(examples=["union"])
    text: str = Field(examples=["union"])
    insert: str = Field(examples=["union"])
    probability: float = Field(ge=0, le=1.001, examples=[0.31])
    replaces: int = Field(ge=0, examples=[2])


class SuggestAnswer(_Message):
    """The best first; empty if no word begins like that."""

    suggestions: list[SuggestedWord]


class ScoreRequest(_Message):
    """Sentences."""

    texts: list[Text] = Field(min_length=1, max_length=MOST_TEXTS, examples=[["The cat sat on the mat."]])
    words: bool = Field(False, description="Also the score of each word.")


class ScoredWord(_Message):
    """A word as the model read it, or `</s>`."""

    word: str = Field(examples=["cat"])
    log10_prob: float = Field(examples=[-3.52])
    is_unknown: bool = Field(examples=[False])


class ScoredText(_Message):
    """log10 of the probability of a sentence, its end included where the model predicts it."""

    log10_prob: float = Field(examples=[-17.4])
    words: list[ScoredWord] | None = None


class ScoreAnswer(_Message):
    """In the order of the texts."""

    scores: list[ScoredText]


class RecognisedText(_Message):
    """What may have been said, and the recogniser's own log score of it."""

    text: Text = Field(examples=["the cat sat"])
    score: float = Field(0.0, ge=-1e9, le=1e9, allow_inf_nan=False, examples=[-120.5])


class RescoreRequest(_Message):
    """A recogniser's hypotheses of one utterance, each of which scores acoustic_weight * score + lm_weight * log10 p +
    word_bonus * words."""

    hypotheses: list[RecognisedText] = Field(min_length=1, max_length=MOST_TEXTS)
    acoustic_weight: Weight = 1.0
    lm_weight: Weight = Field(1.0, examples=[8.0])
    word_bonus: Weight = 0.0


class RescoredText(_Message):
    """A hypothesis, its place in the request counted from 0, and the model's log10 probability of it."""

    text: str = Field(examples=["the cat sat"])
    place: int = Field(ge=0, examples=[1])
    score: float = Field(examples=[-120.5])
    log10_prob: float = Field(examples=[-9.1])


class RescoreAnswer(_Message):
    """The best first."""

    hypotheses: list[RescoredText]


class ExplainRequest(_Message):
    """A word of the vocabulary."""

    word: str = Field(min_length=1, max_length=MOST_LETTERS, examples=["senators"])


class BaseWord(_Message):
    """A common word and its weight."""

    word: str = Field(examples=["senator"])
    weight: float = Field(examples=[0.42])


class ExplainAnswer(_Message):
    """A word in a few common ones, the largest weight first; a common word is itself."""

    word: str = Field(examples=["senators"])
    is_base: bool = Field(examples=[False])
    parts: list[BaseWord]


class HealthAnswer(_Message):
    """The service is running with this model."""

    status: str = Field(examples=["ok"])
    model: str = Field(examples=["lstm-z-w"])
    words: int = Field(ge=1, examples=[50_000])


class Problem(_Message):
    """What is wrong, and what to do about it."""

    problem: str = Field(examples=["k: Input should be greater than or equal to 1"])
    remedy: str = Field(examples=["change it as /openapi.json says"])


class ErrorAnswer(_Message):
    """The answer to every request that fails."""

    error: Problem
