"""Words: how a chunk of text without spaces is split into words (paper section 4.1, "tokenization").

The rules, in the order they are tried: web and e-mail addresses are one word; so are dotted
abbreviations (`u.s.`), numbers with inner commas, points and colons (`47,379`, `3.5m`, `10:30`), and runs of
letters, marks and digits of any script (`górne`, `mp3`), inside which an apostrophe or an ampersand stays
(`don't`, `at&t`). A possessive `'s` is split off, because it would give every noun a second entry in the
vocabulary, and so are hyphens. Any other character is a word by itself, except in `...` and `--`.
"""

import re
import unicodedata
from typing import Literal

Numbers = Literal["keep", "digits", "token"]
NUMBER_WORD = "<num>"

# Python's \w leaves out combining marks, without which words of many scripts (and some accents) fall apart.
_MARKS = "".join(chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code)) in ("Mn", "Mc", "Me"))
_ANY_MARK = re.compile(f"[{_MARKS}]")


def _word_pattern(letter: str) -> re.Pattern[str]:
    return re.compile(
        rf"""
        (?:https?|ftp)://[^\s<>"]*[\w/]
      | www\.[^\s<>"]*[\w/]
      | [\w.+-]{{0,63}}\w@\w[\w-]*(?:\.\w[\w-]*)+
      | [^\W\d_](?:\.[^\W\d_])+(?!{letter})\.?
      | [Pp]h\.[Dd]\.?
      | \d+(?:[.,:]\d+)+{letter}*
      | {letter}+(?:(?!'[sS](?!{letter}))['&]{letter}+)*
      | '[sS](?!{letter})
      | \.\.+
      | --+
      | \S
        """,
        re.VERBOSE,
    )


_WORD = _word_pattern(r"[^\W_]")
_WORD_WITH_MARKS = _word_pattern(rf"(?:[^\W_]|[{_MARKS}])")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_DIGIT = re.compile(r"\d")


def split_words(chunk: str) -> list[str]:
    """The words of one cleaned chunk, in order, in their own case; full stops are words of their own.

    >>> split_words("Mary's")
    ['Mary', "'s"]
    >>> split_words("north-eastern,")
    ['north', '-', 'eastern', ',']
    """
    pattern = _WORD if chunk.isascii() or not _ANY_MARK.search(chunk) else _WORD_WITH_MARKS
    words: list[str] = pattern.findall(chunk)
    for index, word in enumerate(words):
        if len(word) > 2 and word[0] in ".-" and word[1] in ".-":
            words[index] = "--" if word[0] == "-" else "..."
        elif word == "..":
            words[index] = "..."
    return words


def fold_number(word: str, numbers: Numbers) -> str:
    """The word as `numbers` asks: unchanged, with every digit 0, or `<num>` for a word that is a number."""
    if numbers == "digits":
        return _DIGIT.sub("0", word)
    if numbers == "token" and _NUMBER.fullmatch(word):
        return NUMBER_WORD
    return word
