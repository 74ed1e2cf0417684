"""What all figures share: colours, fonts, and how a figure becomes a PNG and an SVG for light and dark pages.

The PNG is on white. The SVG is transparent, its text is text, and its ink is `currentColor`: inside a page it takes the
page's colour, as a separate file it follows the reader's colour scheme. Series have colours that are visible on white
and on near-black and that colour-blind readers can tell apart (Okabe and Ito's, without the light ones), and markers
too.
"""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewwords.errors import InputError
from fewwords.store.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072b2", "#d55e00", "#009e73", "#b8609a", "#808080"
STYLES = {
    "kn3": (GREY, "s"),
    "kn5": (GREY, "D"),
    "lbl5": (PURPLE, "v"),
    "lstm-s": (PURPLE, "^"),
    "lstm-z": (BLUE, "o"),
    "lstm-z-wb": (GREEN, "P"),
    "lstm-z-w": (ORANGE, "X"),
}
_INK = "#010203"  # a colour that nothing else has, so that it can be found in the SVG
_SETTINGS: dict[str, Any] = {
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GREY,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "legend.labelcolor": _INK,
    "svg.fonttype": "none",
    "svg.hashsalt": "fewwords",  # the same figure gives the same file
}
_SCHEME = "<style>:root{color:#1b1f24}@media(prefers-color-scheme:dark){:root{color:#e8eaed}}</style>"


@contextmanager
def drawing(**more: Any) -> Iterator[None]:
    """Draw within this block to get the project's style; raises InputError if matplotlib is missing."""
    try:
        import matplotlib
    except ImportError:
        raise InputError('figures need matplotlib; run: pip install "fewwords[plot]"') from None
    looks: Any = _SETTINGS | more
    with matplotlib.rc_context(looks):
        yield


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure that needs no screen; width and height in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def write_figure(figure: "Figure", folder: Path, name: str) -> list[Path]:
    """Write `name.png` and `name.svg` atomically."""

    def picture(format: str, **options: Any) -> bytes:
        file = io.BytesIO()
        figure.savefig(file, format=format, **options)
        return file.getvalue()

    return write_pictures(
        folder,
        name,
        lambda: picture("png", dpi=160, facecolor="white"),
        lambda: picture("svg", transparent=True, metadata={"Date": None}),
    )


def write_pictures(folder: Path, name: str, png: Callable[[], bytes], svg: Callable[[], bytes]) -> list[Path]:
    """Write the bytes of both pictures, the SVG adapted to light and dark pages."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    for path, content in zip(paths, (png(), adapt_svg(svg().decode(), name).encode())):
        with atomic_write(path) as file:
            file.write(content)
    return paths


def adapt_svg(text: str, name: str) -> str:
    """The SVG with ink that follows the page, and unique ids, so that several can be in one page."""
    text = text.replace(_INK, "currentColor")
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    return re.sub(r"(<svg\b[^>]*>)", rf"\1{_SCHEME}", text, count=1)


def inline_svg(text: str, title: str) -> str:
    """The `<svg>` element alone, with its size left to the page and a label for screen readers."""
    text = text[text.index("<svg") :].replace(_SCHEME, "", 1)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)

    def head(match: re.Match[str]) -> str:
        return re.sub(r'\s(?:width|height)="[^"]*"', "", match[0])[:-1] + f' role="img" aria-label="{title}">'

    return re.sub(r"<svg\b[^>]*>", head, text, count=1).strip()
