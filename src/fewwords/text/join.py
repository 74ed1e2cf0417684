"""From words back to text as a person would write it: the reverse of `words.py`.

No space before a comma or a possessive, none around a hyphen, quotation marks in pairs, a capital at the start of a
sentence, and `I`. What splitting and lower-casing lost (names, the direction of quotation marks) is guessed or left.
"""

from collections.abc import Iterable, Sequence

CLOSING = frozenset(", . ! ? ; : ) ] } % ... 's ' ” ’ …".split())
OPENING = frozenset("( [ { $ £ € # “ ‘ @".split())
JOINING = frozenset("- / – _".split())
_QUOTE = '"'


def join_words(words: Sequence[str], *, capitalise: bool = True) -> str:
    """The text of a sentence's words; with `capitalise` it starts with a capital.

    >>> join_words(["it", "'s", "mary", "'s", "turn", ",", "is", "n't", "it", "?"])
    "It's mary's turn, is n't it?"
    """
    parts: list[str] = []
    for place, word in enumerate(words):
        written = write_word(word, is_first=capitalise and place == 0)
        parts.append(written if not place or not blank_between(words[:place], word) else f" {written}")
    return "".join(parts)


def write_word(word: str, *, is_first: bool = False) -> str:
    """One word as it is written: capitalised at the start of a sentence; `I` always is."""
    if word == "i" or word.startswith("i'"):
        return "I" + word[1:]
    return word[:1].upper() + word[1:] if is_first else word


def blank_between(before: Sequence[str], word: str) -> bool:
    """Whether there is a space between the words before, of the same sentence, and the next one."""
    if not before:
        return False
    if word in CLOSING or word in JOINING or before[-1] in OPENING or before[-1] in JOINING:
        return False
    if word == _QUOTE:
        return not _is_open(before)  # a closing mark joins the word before
    if before[-1] == _QUOTE:
        return not _is_open(before)  # an opening mark joins the next word
    return True


def _is_open(words: Iterable[str]) -> bool:
    return sum(word == _QUOTE for word in words) % 2 == 1
