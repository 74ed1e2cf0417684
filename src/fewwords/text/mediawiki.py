"""From a MediaWiki dump (`pages-articles.xml`) to the plain text of its articles.

Reads blocks of whole `<page>` elements, as cut from the stream; takes the last revision of every page in the
article namespace that is not a redirect. In a dump every `<` of the text itself is written `&lt;`, so the elements
are found by plain search, without an XML tree.
"""

import re
from collections.abc import Iterator

from fewwords.errors import InputError
from fewwords.text.wikitext import plain_text

_PAGE = "<page>"
_PAGE_END = "</page>"

# Dumps from before 2011 name the namespace only in the title.
_NOT_ARTICLES = """
    book category draft file help image media mediawiki module portal project special talk template timedtext user
    wikipedia wp
"""
_NAMESPACES = frozenset(_NOT_ARTICLES.split())

_ENTITY = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}))|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def _character(match: re.Match[str]) -> str:
    """Return the character that an entity stands for, or nothing if no character has that number."""
    if match[3]:
        return _NAMED[match[3]]
    code = int(match[1], 16) if match[1] else int(match[2])
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else ""


def _decoded(text: str) -> str:
    """Decode the XML entities once: `&amp;lt;` becomes `&lt;`."""
    if "&#" in text:
        return _ENTITY.sub(_character, text)
    # The ampersand comes last, so that nothing is decoded twice; far faster than one substitution per entity.
    for name in ("lt", "gt", "quot", "apos", "amp"):
        text = text.replace(f"&{name};", _NAMED[name])
    return text


def _inside(page: str, name: str) -> str | None:
    """Return what is between `<name>` and `</name>`, or None if there is no such element."""
    start = page.find(f"<{name}>")
    end = page.find(f"</{name}>", start)
    return page[start + len(name) + 2 : end] if 0 <= start < end else None


def _title(page: str) -> str:
    """Return the page's title, or a question mark if the page has none."""
    return " ".join(_decoded(_inside(page, "title") or "?").split())


def _is_article(head: str) -> bool:
    """Tell from the part before its revisions whether a page is an article and not a redirect."""
    if "<redirect" in head:
        return False
    namespace = _inside(head, "ns")
    if namespace is not None:
        return namespace.strip() == "0"
    prefix, colon, _ = _title(head).replace("_", " ").lower().partition(":")
    return not colon or (prefix not in _NAMESPACES and not prefix.endswith(" talk"))


def _revision_text(revision: str, title: str) -> str:
    """Return the wikitext of a revision, empty if it was deleted."""
    start = revision.find("<text")
    if start < 0:
        return ""
    inside = revision.find(">", start) + 1
    if revision[inside - 2] == "/":
        return ""
    end = revision.find("</text>", inside)
    if end < 0:
        raise InputError(f"the text of page '{title}' has no end; the dump is damaged: download it again")
    return _decoded(revision[inside:end])


def page_texts(block: str) -> Iterator[str]:
    """Yield the plain text of every article in a block of whole pages, paragraphs separated by line breaks.

    Raises InputError if a page does not end.
    """
    position = 0
    while (start := block.find(_PAGE, position)) >= 0:
        end = block.find(_PAGE_END, start)
        following = block.find(_PAGE, start + len(_PAGE), end if end >= 0 else len(block))
        if end < 0 or following >= 0:
            title = _title(block[start : following if following >= 0 else len(block)])
            raise InputError(
                f"the dump ends in the middle of page '{title}'; download it again or cut it after {_PAGE_END}"
            )
        position = end + len(_PAGE_END)
        page = block[start:end]
        if not _is_article(page[: page.find("<revision")]):
            continue
        wikitext = _revision_text(page[page.rfind("<revision") :], _title(page))
        if not wikitext.lstrip()[:9].upper().startswith("#REDIRECT") and (text := plain_text(wikitext)):
            yield text
