"""The page of a packed model in a headless Chromium: time per key, size, and whether it computes what Python does.

    python benchmarks/page.py --model english.few --work work
    python benchmarks/page.py --quick
    python benchmarks/page.py --model english.few --screenshot docs/page.png

Types sentences of the test part letter by letter. `key_p50_ms`, `key_p95_ms`: from a key to new suggestions. `page_ratio`: the
page's bytes over the packed file's. `difference`: the largest of ln p of any word, over 200 contexts, from the numpy runtime's.
`--quick` makes a small model of random weights and types made-up words. `--screenshot` measures nothing: it takes the picture for
the documents, with suggestions, shaded words, and the rarest of them explained.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.evaluation.text import read_part
from fewwords.models.packed.model import PackedModel
from fewwords.page.make import make_page
from fewwords.runtime import load
from fewwords.text.join import join_words

NUM_CONTEXTS = 200
TEXT = "She was born in Vienna. The astronomers of the royal observatory were "  # in the picture
MOST_PICTURE_BYTES = 250_000
_TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "page")]  # for the browser that the tests drive
_TYPE = """const box = document.getElementById('text'); page.times = []; const times = [];
for (const text of arguments[0]) for (let end = 1; end <= text.length; end++) {
  box.value = text.slice(0, end); box.setSelectionRange(end, end);
  const began = performance.now(); page.update(); times.push(performance.now() - began); }
return times;"""
_CONTEXTS = """const { model } = page; const found = []; for (const words of arguments[0]) { let state = model.start();
for (const word of words) state = model.feed(state, word); found.push(Array.from(model.logProbs(state))); } return found;"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a packed file")
    parser.add_argument("--work", type=Path, help="a work folder with a corpus")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--screenshot", type=Path, metavar="FILE", help="take a picture of the page instead")
    options = parser.parse_args()
    from browser import WHY_NOT, is_here, open_browser

    if not is_here():
        print(f"page: {WHY_NOT}")
        print(json.dumps({"browser": None}))
        return
    with tempfile.TemporaryDirectory() as folder:
        packed = options.model or _small_model(Path(folder))
        page = make_page(packed, Path(folder, "page.html"))
        model = load(packed)
        sentences = _sentences(model, options.work)
        ratio = page.stat().st_size / packed.stat().st_size
        with open_browser() as browser:
            browser.resize(1100, 700)
            browser.open(page)
            browser.wait_for("window.page")
            if options.screenshot:
                _take_picture(browser, options.screenshot)
                return
            texts = [join_words(model.vocabulary.decode(each)) for each in sentences[:20]]
            times = [time for text in texts for time in browser.run(_TYPE, [text])]
            difference = _difference(browser, model, sentences)
    found = {
        "key_p50_ms": round(float(np.median(times)), 2),
        "key_p95_ms": round(float(np.quantile(times, 0.95)), 2),
        "keys": len(times),
        "page_ratio": round(ratio, 3),
        "difference": float(f"{difference:.1e}"),
        "words": model.num_words,
    }
    print("  ".join(f"{name} {value}" for name, value in found.items()))
    print(json.dumps(found))


def _take_picture(browser: Any, path: Path) -> None:
    browser.type("#text", TEXT)
    browser.wait_for("page.shown.every(({ logProb }) => logProb !== undefined)")
    ranks = browser.run("return page.shown.map(({ word }) => page.model.ids.get(word) ?? 0)")
    browser.click(f"#words .word:nth-child({ranks.index(max(ranks)) + 1})")
    browser.run("scrollTo(0, 0)")
    browser.screenshot(path)
    num_bytes = path.stat().st_size
    if num_bytes > MOST_PICTURE_BYTES:
        sys.exit(f"{path}: {num_bytes:,} bytes, more than {MOST_PICTURE_BYTES:,}")
    print(f"{path}: {num_bytes:,} bytes")
    print(json.dumps({"screenshot": str(path), "bytes": num_bytes}))


def _small_model(folder: Path) -> Path:
    """Random weights over 3,000 words."""
    from packed_models import make_neural, packed_model

    packed_model(make_neural("lstm-z-w", 3_000, 40), folder, 4)
    return folder / "model.few"


def _sentences(model: PackedModel, work: Path | None) -> list[list[int]]:
    if work is None:
        return np.random.default_rng(1).integers(3, model.num_words, (40, 12)).tolist()
    return [each.ids.tolist() for each in read_part(TokenCorpus.open(work), "test", model.vocabulary, 1_500)]


def _difference(browser: Any, model: PackedModel, sentences: list[list[int]]) -> float:
    """Over contexts of all lengths; a few at a time, because the answers are long."""
    contexts = [each[:end] for each in sentences for end in range(len(each))][:NUM_CONTEXTS]
    largest = 0.0
    for first in range(0, len(contexts), 10):
        found = browser.run(_CONTEXTS, contexts[first : first + 10])
        for words, row in zip(contexts[first : first + 10], found):
            expected = model.log_probs(model.read(model.start(), words))
            largest = max(largest, float(np.abs(np.array(row) - expected).max()))
    return largest


if __name__ == "__main__":
    main()
