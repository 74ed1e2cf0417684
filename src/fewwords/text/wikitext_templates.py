"""What inline templates show: `{{convert|5|km|mi}}` reads "5 km", most others read as nothing.

An article's templates are boxes, notes and citations, which are removed; a few carry a word or number of their
sentence. INLINE lists those as format strings, where {1} and {2} are the template's first and second
argument; a missing argument is empty. To keep another template, add a line.
"""

from collections.abc import Callable

from fewwords.text.wikitext_lines import APOSTROPHE

NUM_ARGUMENTS = 8

INLINE = {
    "'": APOSTROPHE,
    "'s": APOSTROPHE + "s",
    "s'": "s" + APOSTROPHE,
    "!": "|",
    "=": "=",
    "abbr": "{1}",
    "blockquote": "\n{1}\n",
    "c.": "c. {1}",
    "ca.": "c. {1}",
    "circa": "c. {1}",
    "em": "{1}",
    "em dash": "—",
    "emdash": "—",
    "en dash": "–",
    "endash": "–",
    "flag": "{1}",
    "flagcountry": "{1}",
    "hms": "HMS {1}",
    "ill": "{1}",
    "interlanguage link": "{1}",
    "lang": "{2}",
    "linktext": "{1}",
    "mdash": "—",
    "mvar": "{1}",
    "nbsp": " ",
    "ndash": "–",
    "nihongo": "{1}",
    "nobold": "{1}",
    "nobr": "{1}",
    "nowrap": "{1}",
    "okina": "ʻ",
    "quote": "\n{1}\n",
    "ship": "{1} {2}",
    "sic": "{1}{2}",
    "small": "{1}",
    "snd": " – ",
    "sndash": " – ",
    "space": " ",
    "spaced en dash": " – ",
    "spaced ndash": " – ",
    "spnd": " – ",
    "strong": "{1}",
    "sub": "{1}",
    "sup": "{1}",
    "transl": "{2}",
    "transliteration": "{2}",
    "uss": "USS {1}",
    "val": "{1}",
    "visible anchor": "{1}",
}

_MONTH_NAMES = "January February March April May June July August September October November December"
_BETWEEN = {"-": "–", "–": "–", "and": " and ", "by": " by ", "or": " or ", "to": " to ", "x": " by ", "×": " by "}


def _convert(arguments: list[str]) -> str:
    """Give the measure in the unit it was written in: 5 km; 5 to 10 km; 6 ft 2 in."""
    first, second, third, fourth = arguments[1:5]
    if second in _BETWEEN:
        return f"{first}{_BETWEEN[second]}{third} {fourth}"
    if third[:1].isdigit() and fourth:
        return f"{first} {second} {third} {fourth}"
    return f"{first} {second}"


def _fraction(arguments: list[str]) -> str:
    """Write 2 as 1/2, 1 and 2 as 1/2, and 3, 1 and 2 as 3 1/2."""
    first, second, third = arguments[1:4]
    if third:
        return f"{first} {second}/{third}"
    return f"{first}/{second}" if second else f"1/{first}"


def _as_of(arguments: list[str]) -> str:
    """Write the date that a statement was true at: As of 5 May 2010."""
    year, month, day = arguments[1:4]
    if month.isdecimal() and 1 <= int(month) <= 12:
        month = _MONTH_NAMES.split()[int(month) - 1]
    return " ".join(word for word in ("As of", day, month, year) if word)


WORKED: dict[str, Callable[[list[str]], str]] = {
    "as of": _as_of,
    "convert": _convert,
    "cvt": _convert,
    "frac": _fraction,
    "fraction": _fraction,
    "sfrac": _fraction,
}


def _arguments(parts: list[str]) -> list[str]:
    """Order a template's arguments by number, padded to NUM_ARGUMENTS; place 0 is empty."""
    numbered = [""] * (NUM_ARGUMENTS + 1)
    position = 0
    for part in parts:
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals:
            position += 1
            place, value = position, part
        elif name == "text":
            place = 1
        else:
            place = int(name) if len(name) == 1 and name in "12345678" else 0
        if 1 <= place <= NUM_ARGUMENTS:
            numbered[place] = value.strip()
    return numbered


def template_text(body: str) -> str:
    """Return what the template `{{body}}` shows in its sentence; the markup inside it is already plain text."""
    head, *parts = body.split("|")
    name = head.strip().lower().replace("_", " ")
    if name in INLINE:
        return INLINE[name].format(*_arguments(parts))
    if name in WORKED:
        return WORKED[name](_arguments(parts))
    return head.partition(":")[2].strip() if name.startswith("formatnum:") else ""
