"""The live prompt: suggestions and the probability of what was typed, which change with every key.

The model answers in a thread, always about the newest text, so that a slow one never holds up typing: what is shown may then be
a key behind. Taking a suggestion waits for the answer about the text as it is.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, Dimension, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from fewwords.use.suggest import Suggestion
from fewwords.use.text_model import TextModel, WordScore, perplexity_of

MOST_SUGGESTIONS = 9  # as many as there are digits to take them with
MARK = "> "
STYLE = Style.from_dict(
    {"key": "bold", "dim": "ansibrightblack", "likely": "ansigreen", "usual": "", "unlikely": "ansired"}
)
WIDEST_WORD = 24


@dataclass(frozen=True)
class Answer:
    """What the model says of a text."""

    text: str
    suggestions: list[Suggestion]
    scores: list[WordScore]


class LivePrompt:
    """Reads one line after another from the terminal."""

    def __init__(self, model: TextModel, k: int = 5) -> None:
        self.model, self.k = model, min(k, MOST_SUGGESTIONS)
        self._thread = ThreadPoolExecutor(1)
        self._history: History = InMemoryHistory()
        self.answer = self._ask("")

    def read_line(self) -> str | None:
        """The next line; None after Ctrl-D or Ctrl-C."""
        changed = asyncio.Event()
        changed.set()
        buffer = Buffer(history=self._history, multiline=False)
        buffer.on_text_changed += lambda _: changed.set()
        buffer.on_cursor_position_changed += lambda _: changed.set()
        line = Window(
            BufferControl(buffer, input_processors=[BeforeInput(MARK, style="class:key")]),
            wrap_lines=True,
            dont_extend_height=True,
        )
        below = Window(FormattedTextControl(self._below), height=Dimension(min=1), dont_extend_height=True)
        self._app: Application[str | None] = Application(
            layout=Layout(HSplit([line, below])),
            key_bindings=self._keys(buffer),
            style=STYLE,
            erase_when_done=True,
        )
        return self._app.run(pre_run=lambda: self._start(buffer, changed))

    def _start(self, buffer: Buffer, changed: asyncio.Event) -> None:
        self._app.create_background_task(self._follow(buffer, changed))

    async def _follow(self, buffer: Buffer, changed: asyncio.Event) -> None:
        """Ask the model again whenever the text before the cursor is another."""
        while True:
            await changed.wait()
            changed.clear()
            try:
                text = buffer.document.text_before_cursor
                self.answer = await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, text)
            except Exception as error:
                self._app.exit(exception=error)
                return
            self._app.invalidate()

    def _ask(self, text: str) -> Answer:
        return Answer(text, self.model.suggest(text, self.k), self.model.scores_so_far(text))

    def _keys(self, buffer: Buffer) -> KeyBindings:
        keys = KeyBindings()

        def take(number: int) -> None:
            document = buffer.document
            text = document.text_before_cursor
            answer = self.answer if self.answer.text == text else self._ask(text)
            if number < len(answer.suggestions):
                before = answer.suggestions[number].take(text)
                buffer.document = Document(before + document.text_after_cursor, len(before))

        keys.add("tab")(lambda event: take(0))
        for number in range(self.k):
            for sequence in ((f"f{number + 1}",), ("escape", str(number + 1))):
                keys.add(*sequence)(lambda event, number=number: take(number))

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            buffer.append_to_history()
            event.app.exit(result=buffer.text)

        @keys.add("c-c")
        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=None)

        return keys

    def _below(self) -> StyleAndTextTuples:
        return show_answer(self.answer, self.k, self._app.output.get_size().columns)


def show_answer(answer: Answer, k: int, width: int) -> StyleAndTextTuples:
    """What stands below the line, no wider than `width`: suggestions with their keys, words typed, what the keys do."""
    shown: StyleAndTextTuples = []
    column = max(1, min(WIDEST_WORD, width - 11))
    for number in range(k):  # always as many lines, so that nothing jumps
        if number < len(answer.suggestions):
            found = answer.suggestions[number]
            key = "Tab" if number == 0 else f"F{number + 1}"
            shown += [
                ("class:key", f" {key:<4}"),
                ("", _fit(found.text, column)),
                ("class:dim", f" {_short(found.probability)}"),
            ]
        shown.append(("", "\n"))
    return [*shown, *_words(answer.scores, width), ("", "\n"), ("class:dim", _help(k, width))]


def _words(scores: list[WordScore], width: int) -> StyleAndTextTuples:
    """The perplexity so far, and the last words that fit with their probabilities."""
    if not scores:
        return []
    told = f" perplexity {perplexity_of(scores):,.1f} "
    left = width - len(told)
    if left < 0:
        return []
    parts: StyleAndTextTuples = []
    for score in reversed(scores):
        probability = 10**score.log10_prob
        text = f" {score.word} {'unknown' if score.is_unknown else _short(probability)} "
        left -= get_cwidth(text)
        if left < 0:
            break
        shade = "likely" if probability >= 0.1 else "unlikely" if probability < 0.001 or score.is_unknown else "usual"
        parts.insert(0, (f"class:{shade}", text))
    return [("class:dim", told), *parts]


def _short(probability: float) -> str:
    return f"{probability:.2f}".lstrip("0") if probability >= 0.01 else f"{probability:.0e}".replace("e-0", "e-")


def _fit(text: str, width: int) -> str:
    """A text cut or filled up to a width on the screen."""
    if get_cwidth(text) > width:
        while text and get_cwidth(text) >= width:
            text = text[:-1]
        text += "…"
    return text + " " * (width - get_cwidth(text))


def _help(k: int, width: int) -> str:
    """What the keys do, as much of it as fits."""
    others = f" · F2-F{k} or Esc 2-{k}: another" if k > 1 else ""
    texts = (f" Tab: first word{others} · Enter: next line · Ctrl-D: end", " Tab: take · Ctrl-D: end", "")
    return next(text for text in texts if len(text) <= width)
