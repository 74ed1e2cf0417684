"""Cleaning of running text, before it is cut into sentences and words.

Two steps, because text is long and its vocabulary short: `clean_text` removes what spans several words
(entities, tags, templates, links, empty brackets), applying a rule only where its mark occurs;
`clean_chunk` brings a chunk without spaces into one form (Unicode NFKC, one kind of quote, dash and
hyphen, no invisible characters), and the caller caches its results.
"""

import html
import re
import unicodedata
from collections.abc import Callable

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_COMMENT = re.compile("<!--"), re.compile("-->")
_REFERENCE = re.compile(r"<ref\b[^<>\n]*>", re.IGNORECASE), re.compile(r"</ref[^\S\n]*>", re.IGNORECASE)
_FORMULA = re.compile(r"<math\b[^<>\n]*>", re.IGNORECASE), re.compile(r"</math[^\S\n]*>", re.IGNORECASE)
_BREAKING_TAG = re.compile(
    r"</?(?:br|p|div|li|ul|ol|dl|dd|dt|td|th|tr|table|hr|blockquote|poem|gallery)\b[^<>\n]*>", re.I
)
# Only names that HTML and MediaWiki know: `x<y and z>w` is arithmetic.
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|center|cite|code|del|em|font|h[1-6]|i|img|imagemap|includeonly|ins|kbd|math|mapframe|noinclude|"
    r"nowiki|onlyinclude|pre|q|ref|references|rp|rt|ruby|s|samp|score|section|small|source|span|strike|strong|sub|sup|"
    r"syntaxhighlight|timeline|tt|u|var)\b[^<>\n]*>",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\{\{[^{}\n]*\}\}")
_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
_EXTERNAL_LINK = re.compile(r"\[(?:https?|ftp)://"), re.compile(r"\]")
_AFTER_ADDRESS = re.compile(r"\S*\s*(.*)")
_TEX_QUOTES = re.compile(r"``([^`\n]*?)''")
_WIKI_QUOTES = re.compile(r"''+")
_FORMULA_PLACEHOLDER = re.compile(r"formula_\d+")
_EMPTY_BRACKETS = re.compile(r"\((?:[^\S\n]*[,;:])*[^\S\n]*\)")
_EMPTY_SQUARE_BRACKETS = re.compile(r"\[[^\S\n]*\]")
_BRACKET_BEFORE_COMMA = re.compile(r"\((?:[^\S\n]*[,;:])+[^\S\n]*")
_TEMPLATE_DEPTH = 4


def clean_text(text: str) -> str:
    """Decode entities and remove left-over markup; line ends stay where they are."""
    for _ in range(2):  # dumps escape twice: &amp;nbsp;
        if "&" in text:
            text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    if "<" in text:
        text = _replace_pairs(text, *_COMMENT, lambda _: "")
        text = _replace_pairs(text, *_REFERENCE, lambda _: "")
        text = _replace_pairs(text, *_FORMULA, lambda _: "formula")
        text = _BREAKING_TAG.sub(" ", text)
        text = _TAG.sub("", text)
    if "{{" in text:
        for _ in range(_TEMPLATE_DEPTH):
            text = _TEMPLATE.sub("", text)
    if "{{" in text or "}}" in text:
        text = text.replace("{{", "").replace("}}", "")
    if "[[" in text:
        text = _LINK.sub(r"\1", text).replace("[[", "")
    if "]]" in text:
        text = text.replace("]]", "")
    if "[http" in text or "[ftp" in text:
        text = _replace_pairs(text, *_EXTERNAL_LINK, _label)
    if "``" in text:
        text = _TEX_QUOTES.sub(r'"\1"', text)
    if "''" in text:
        text = _WIKI_QUOTES.sub("", text)
    if "formula_" in text:
        text = _FORMULA_PLACEHOLDER.sub("formula", text)
    if "(" in text:
        text = _EMPTY_BRACKETS.sub("", text)
        text = _BRACKET_BEFORE_COMMA.sub("(", text)
    if "[" in text:
        text = _EMPTY_SQUARE_BRACKETS.sub("", text)
    return text


def _replace_pairs(
    text: str, opening: re.Pattern[str], closing: re.Pattern[str], replacement: Callable[[str], str]
) -> str:
    """Replace each opening mark, the first closing one after it on its line, and what is between them.

    The replacement gets what is between. A mark `<…/>` closes itself. Time grows with the length of the text, however many
    marks are never closed; a regular expression over the pair would look for the end of the line from each of them.
    """
    closers = closing.finditer(text)
    closer = next(closers, None)
    pieces: list[str] = []
    done = line_end = 0
    for mark in opening.finditer(text):
        if mark.start() < done:
            continue
        if mark[0].endswith("/>"):
            pieces += [text[done : mark.start()], replacement("")]
            done = mark.end()
            continue
        while closer is not None and closer.start() < mark.end():
            closer = next(closers, None)
        if closer is None:
            continue  # marks that close themselves may follow
        if mark.start() >= line_end:
            found = text.find("\n", mark.end())
            line_end = len(text) if found < 0 else found
        if closer.start() < line_end:
            pieces += [text[done : mark.start()], replacement(text[mark.end() : closer.start()])]
            done = closer.end()
    return "".join([*pieces, text[done:]]) if pieces else text


def _label(link: str) -> str:
    """What an external link shows: all after its address."""
    match = _AFTER_ADDRESS.match(link)
    return match[1] if match else ""


def _character_map() -> dict[int, str | None]:
    characters: dict[int, str | None] = {}
    # Invisible: controls, soft hyphens, zero-width and directional marks, variation selectors, byte-order marks.
    for code in range(0x20000):
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs"):
            characters[code] = None
    for code in (*range(0xFE00, 0xFE10), *range(0xE0000, 0xE0200)):
        characters[code] = None
    characters.update(dict.fromkeys(map(ord, "“”„‟«»″〝〞"), '"'))
    characters.update(dict.fromkeys(map(ord, "‘’‚‛‹›′`´ʼ"), "'"))
    characters.update(dict.fromkeys(map(ord, "‐‑⁃−"), "-"))
    characters.update(dict.fromkeys(map(ord, "—―⸺⸻"), "--"))
    return characters


_CHARACTERS = _character_map()


def clean_chunk(chunk: str) -> str:
    """Bring a chunk without spaces into its one form; the result may have spaces, or be empty."""
    if chunk.isascii():
        if chunk.isprintable() and "`" not in chunk:
            return chunk
    else:
        # Acute accents and primes stand for quotes when alone, but NFKC would turn them into a space and a mark.
        chunk = unicodedata.normalize("NFKC", chunk.replace("``", '"').translate(_CHARACTERS))
    chunk = chunk.replace("``", '"').translate(_CHARACTERS)
    if "–" in chunk:
        chunk = "--" if chunk.strip("–") == "" else chunk.replace("–", "-")
    return chunk
