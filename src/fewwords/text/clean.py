"""Cleaning of running text, before it is cut into sentences and words.

Two steps, because text is long and its vocabulary short: `clean_text` removes what spans several words
(entities, tags, templates, links, empty brackets), applying a rule only where its mark occurs;
`clean_chunk` brings a chunk without spaces into one form (Unicode NFKC, one kind of quote, dash and
hyphen, no invisible characters), and the caller caches its results.
"""

import html
import re
import unicodedata

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_COMMENT = re.compile(r"<!--.*?-->")
_REFERENCE = re.compile(r"<ref\b[^<>\n]*/>|<ref\b[^<>\n]*>[^\n]*?</ref[^\S\n]*>", re.IGNORECASE)
_FORMULA = re.compile(r"<math\b[^<>\n]*>[^\n]*?</math[^\S\n]*>", re.IGNORECASE)
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
_EXTERNAL_LINK = re.compile(r"\[(?:https?|ftp)://[^\s\]]*(?:[^\S\n]+([^\]\n]*))?\]")
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
        text = _COMMENT.sub("", text)
        text = _REFERENCE.sub("", text)
        text = _FORMULA.sub("formula", text)
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
        text = _EXTERNAL_LINK.sub(r"\1", text)
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
