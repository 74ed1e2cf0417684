"""Cleaning against the regular expressions that say what it means, and in time that grows with the text."""

import random
import re
import time

import pytest

from fewwords.text.clean import clean_text
from fewwords.text.formats import BlockReader
from fewwords.text.rules import TextRules
from fewwords.text.segment import Segmenter

# What is meant, in the plainest words; each is quadratic where its mark is never closed.
MEANT = [
    (re.compile(r"<!--.*?-->"), ""),
    (re.compile(r"<ref\b[^<>\n]*/>|<ref\b[^<>\n]*>[^\n]*?</ref[^\S\n]*>", re.IGNORECASE), ""),
    (re.compile(r"<math\b[^<>\n]*>[^\n]*?</math[^\S\n]*>", re.IGNORECASE), "formula"),
    (re.compile(r"\[(?:https?|ftp)://[^\s\]]*(?:[^\S\n]+([^\]\n]*))?\]"), r"\1"),
]
PIECES = [
    "<ref>",
    "</ref>",
    "<ref name=a />",
    '<REF group="n">',
    "</ref >",
    "<math>",
    "</math>",
    "<!--",
    "-->",
    "\n",
    "a",
    " b ",
]
LINKS = ["[http://x.y", "[ftp://z", "]", " ", "label", "\n", "http://", "\u00a0"]


@pytest.mark.parametrize("pieces", [PIECES, LINKS])
def test_pairs_of_marks_are_replaced_as_the_plain_expressions_say(pieces: list[str]) -> None:
    chance = random.Random(1)
    for _ in range(3_000):
        text = "".join(chance.choices(pieces, k=chance.randint(1, 12)))
        if "[[" in text or "]]" in text:
            continue  # the marks of inner links, which go first
        expected = text
        for pattern, replacement in MEANT:
            if pieces is LINKS or replacement != r"\1":
                expected = pattern.sub(replacement, expected)
        found = clean_text(text)
        # tags that are left over go in a later step, links do not
        assert found == (expected if pieces is LINKS else clean_text(expected)), text


@pytest.mark.parametrize(
    "mark", ["[http://a ", '<doc title="x" ', "<math>", "<ref>", "<!--", "<ref name=a ", "{{", "[[a|"]
)
def test_time_grows_with_the_text_and_no_faster(mark: str) -> None:
    def seconds(number: int) -> float:
        block = f'<doc id="1" url="u" title="t">\n{mark * number}\n</doc>\n'.encode()
        best = float("inf")
        for _ in range(5):
            started = time.process_time()
            for each in BlockReader("text", iter([block]), False).blocks(0):
                Segmenter(TextRules()).segment(each)
            best = min(best, time.process_time() - started)
        return best

    assert seconds(32_000) < 24 * seconds(4_000) + 0.05  # 8 times the text; quadratic time would be 64 times
