"""`make_page`: one self-contained HTML page that runs a packed model in any browser, from a file and without a network.

The page is `page.html` with the scripts of this folder and the packed file in it, as base64. The scripts read the file and
compute by themselves (`model.js`), cut text as Python does (`text.js`), and show the keyboard (`page.js`).
"""

import base64
import html
import json
import re
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fewwords.errors import InputError
from fewwords.models.packed.file import load_packed
from fewwords.models.packed.model import PackedModel
from fewwords.models.shipped import ENGLISH, find_model
from fewwords.packing.pack import pack
from fewwords.store.files import atomic_write
from fewwords.text import abbreviations, join

_SCRIPTS = ("text.js", "model.js", "page.js")


def make_page(packed: str | Path = ENGLISH, output: str | Path = "keyboard.html") -> Path:
    """Write the page of a packed model; raises InputError if the file is not one. Returns the path of the page."""
    packed, output = find_model(packed), Path(output)
    if not packed.is_file():
        raise InputError(f"{packed}: no such file; make one with fewwords pack")
    content = page_html(packed)
    with atomic_write(output) as file:
        file.write(content.encode())
    return output


def page_of(model: Path) -> str | None:
    """The page of a packed model, or of a neural model's folder, packed in 8 bits; None for a model of another kind."""
    model = find_model(model)
    if model.is_file():
        return page_html(model)
    with TemporaryDirectory() as folder:
        try:
            return page_html(pack(model, Path(folder, "model.few"), bits=8).path)
        except InputError:
            return None


def page_html(packed: Path) -> str:
    """The page of a packed model, which is checked first, because the page itself trusts what it carries."""
    model = load_packed(packed)
    tied = model.network.settings.tied
    parts = {
        "size": f"{packed.stat().st_size / 1e6:.2f} MB",
        "words": f"{model.num_words:,}",
        "dense": "Dense twin, tied, float32" if tied else "Dense twin, float32",
        "tables": ", in one table that reads and predicts" if tied else "",
        "card": html.escape(str(model.facts["card"])),
        "model": base64.b64encode(packed.read_bytes()).decode(),
        "scripts": _scripts(model),
    }
    return re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], _read("page.html"))


def _scripts(model: PackedModel) -> str:
    facts = {"perplexity": _perplexity(model), "dense_bytes": 4 * model.uncompressed_memory.total}
    constants = {"TEXT_LISTS": _text_lists(), "FACTS": facts}
    # `</` could end the script inside a string
    lines = [f"const {name} = {json.dumps(value)};".replace("</", "<\\/") for name, value in constants.items()]
    return "\n".join([*lines, *map(_read, _SCRIPTS)])


def _text_lists() -> dict[str, list[str]]:
    """The lists by which text is cut and joined, written once in Python."""
    lists = {
        "titles": abbreviations.TITLES,
        "may_end": abbreviations.MAY_END,
        "before_numbers": abbreviations.BEFORE_NUMBERS,
        "words_before_numbers": abbreviations.WORDS_BEFORE_NUMBERS,
        "sentence_starters": abbreviations.SENTENCE_STARTERS,
        "closing": join.CLOSING,
        "opening": join.OPENING,
        "joining": join.JOINING,
    }
    return {name: sorted(words) for name, words in lists.items()}


def _perplexity(model: PackedModel) -> float | None:
    """What packing measured, if it had a text, and otherwise what training did."""
    measured = (model.made_from.get("packed") or {}).get("perplexity") or {}
    found: Any = measured.get("after") or (model.made_from.get("result") or {}).get("dev_perplexity")
    return found if isinstance(found, float) else None


def _read(name: str) -> str:
    return files("fewwords.page").joinpath(name).read_text(encoding="utf-8")
