"""Plain forms of English words by simple suffix rules: algorithms -> algorithm, studied -> study.

The paper shows that a plural's largest weight is on its singular (section 4.2, figure 3). These rules find, for any
rare word, the base words that it should then be built on, so the claim becomes a number.
"""

from collections.abc import Iterator

_SHORTEST_STEM = 3


def stems(word: str) -> Iterator[str]:
    """The forms that `word` may be derived from; some are not words, which a look into the vocabulary sorts out.

    >>> list(stems("studies"))
    ['studie', 'studi', 'study']
    """
    for suffix, replacements in _RULES:
        if word.endswith(suffix):
            stem = word[: len(word) - len(suffix)]
            if len(stem) < _SHORTEST_STEM:
                continue
            for replacement in replacements:
                yield stem + replacement
            if len(suffix) > 1 and stem[-1] == stem[-2] and "" in replacements and suffix != "es":
                yield stem[:-1]  # stopped -> stop


_RULES = (
    ("s", ("",)),
    ("es", ("",)),
    ("ies", ("y",)),
    ("ed", ("", "e")),
    ("ied", ("y",)),
    ("ing", ("", "e")),
    ("er", ("", "e")),
    ("ers", ("", "e")),
    ("est", ("", "e")),
    ("ly", ("",)),
    ("ily", ("y",)),
    ("ness", ("",)),
)
