"""The second half of reading wikitext: marks that live within a line, and tidying.

Reads text whose links, templates, tables and tags are gone; drops headings, the marks of lists, bold and italics,
and magic words, decodes HTML entities, tidies what removed templates left behind, such as `( , )`, and returns
one paragraph or list item per line. Each step looks at a character a bounded number of times.
"""

import re
from html import unescape
from html.entities import html5

# Private marks that the first half leaves in the text.
CUT = "\x00"  # the rest of the line belongs to something that never closed
LABEL = "\x01"  # an external link's label runs from here to the next ]
APOSTROPHE = "\x02"  # an apostrophe that does not mark bold or italics
NOTHING = "\x03"  # keeps the apostrophes on its two sides apart
PRIVATE = CUT + LABEL + APOSTROPHE + NOTHING

LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,})*|simple")

_LIST_MARKS = "*#:; \t"
_RULE = "----"
_MAGIC_WORD = re.compile(r"__[A-Z]+(?:_[A-Z]+)*__")
_VARIANTS = re.compile(r"-\{([^{}\n]*)\}-")
_EXTERNAL = re.compile(rf"{LABEL}([^{LABEL}\]]*)\]?")
_QUOTES = re.compile(r"('{2,})")
# Unlike html.unescape, MediaWiki wants the semicolon: "&notes" stays.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});|&([a-zA-Z][a-zA-Z0-9]{1,31};)")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
_EMPTY = re.compile(r"\([ \t\xa0,;:–-]*\)")
_EMPTY_AFTER_SPACE = re.compile(r" \([ \t\xa0,;:–-]*\)")
_AFTER_OPENING = re.compile(r"\([ \xa0,;]+")
_DOUBLED = re.compile(r"([,;])(?: +[,;])+")
_LEFT_OVER = re.compile(r"\[\[+|\]\]+|\{\{+\|?|\{\||\}\}+|</?[rR][eE][fF]")


def _character(match: re.Match[str]) -> str:
    """Return what an HTML entity stands for, or the entity itself if its name is unknown."""
    return unescape(match[0]) if match[1] is None or match[1] in html5 else match[0]


def _first_variant(match: re.Match[str]) -> str:
    """Return the first spelling that `-{zh-hans:a; zh-hant:b}-` offers."""
    flags, _, rules = match[1].rpartition("|")
    if flags.strip() in ("-", "D", "H", "T"):
        return ""
    code, colon, first = rules.split(";")[0].partition(":")
    return first if colon and LANGUAGE.fullmatch(code.strip()) else rules


def _without_quotes(line: str) -> str:
    """Drop the marks of bold and italics, keeping apostrophes: `''Titanic'''s crew` reads Titanic's crew."""
    if "'''" not in line:
        return line.replace("''", "")
    parts = _QUOTES.split(line)
    lengths = [len(run) for run in parts[1::2]]
    # Two marks are italics, three bold, five both; a fourth, or what exceeds five, is an apostrophe before the mark.
    shown = ["'" if length == 4 or length > 5 else "" for length in lengths]
    num_bold = sum(length != 2 for length in lengths)
    num_italics = sum(length == 2 or length >= 5 for length in lengths)
    if num_bold % 2 and num_italics % 2 and 3 in lengths:
        # One of the threes must be an apostrophe before or after italics.
        threes = [number for number, length in enumerate(lengths) if length == 3]
        shown[min(threes, key=lambda number: _rank(parts[2 * number], parts[2 * number + 2]))] = "'"
    parts[1::2] = shown
    return "".join(parts)


def _rank(before: str, after: str) -> int:
    """Order the places where three quote marks may hold an apostrophe: within a word, after a word, elsewhere."""
    if not before[-1:].isalnum():
        return 2
    return 0 if after[:1].isalpha() else 1


def _kept_lines(text: str) -> list[str]:
    """Return the lines that are prose or list items, without their marks."""
    kept = []
    for line in text.split("\n"):
        if CUT in line:
            line = line[: line.index(CUT)]
        line = line.lstrip(_LIST_MARKS).rstrip()
        # A line that starts with a bar is a row of a table or box that never began or never closed.
        if not line or line[0] == "|" or line.startswith("! ") or (line[0] == line[-1] == "="):
            continue
        if line.startswith(_RULE):
            line = line.lstrip("-")
        if LABEL in line:
            line = _EXTERNAL.sub(r"\1", line)
        if "''" in line:
            line = _without_quotes(line)
        kept.append(line)
    return kept


def tidy_lines(text: str) -> str:
    """Return the paragraphs of a text whose constructs are gone, separated by single line breaks."""
    if "__" in text:
        text = _MAGIC_WORD.sub("", text)
    if "-{" in text:
        text = _VARIANTS.sub(_first_variant, text)
    text = "\n".join(_kept_lines(text))
    if "&" in text:
        text = _ENTITY.sub(_character, text)
    text = text.replace(APOSTROPHE, "'").replace(NOTHING, "")
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    if "(" in text:
        text = _EMPTY.sub("", _EMPTY_AFTER_SPACE.sub("", text))
        text = _AFTER_OPENING.sub("(", text)
        *inside, after = text.split(")")
        text = ")".join([*(part.rstrip(" \xa0,;") for part in inside), after])
    text = _LEFT_OVER.sub(" ", _DOUBLED.sub(r"\1", text))
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))
