"""The nearest words of a word: a first look at whether vectors are any good."""

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice

from fewwords.errors import InputError, Stage
from fewwords.vectors.word_vectors import WordVectors
from fewwords.vocabulary import NUM_SPECIAL, Vocabulary

PAPER_WORDS = ("algorithms", "secrets", "debates")
LARGEST_LENGTH_DIFFERENCE = 2
MOST_CANDIDATES = 20_000


def nearest_words(vectors: WordVectors, vocabulary: Vocabulary, word: str, k: int = 10) -> list[tuple[str, float]]:
    """The k nearest words with their cosines; raises InputError when `word` has no vector.

    `vocabulary` may have more words than there are vectors, so that a word past them is not reported as unknown.
    """
    rank = _find(vectors, vocabulary, word)
    nearest, cosines = vectors.neighbours([rank], k)
    return [(vocabulary.words[other], float(cosine)) for other, cosine in zip(nearest[0], cosines[0])]


def choose_examples(vectors: WordVectors, vocabulary: Vocabulary, number: int = 3) -> list[str]:
    """Words to show the neighbours of: the paper's examples, else plain words from the frequent to the rare."""
    chosen = [word for word in PAPER_WORDS if _has_vector(vectors, vocabulary, word)]
    for share in (0.02, 0.1, 0.4, *(step / 10 for step in range(10))):
        for rank in range(int(share * len(vectors)), len(vectors)):
            word = vocabulary.words[rank]
            if vectors.has_vector[rank] and word.isalpha() and len(word) > 3 and word not in chosen:
                chosen.append(word)
                break
    return chosen[:number]


def _has_vector(vectors: WordVectors, vocabulary: Vocabulary, word: str) -> bool:
    rank = vocabulary.ids.get(word, len(vectors))
    return rank < len(vectors) and bool(vectors.has_vector[rank])


def _find(vectors: WordVectors, vocabulary: Vocabulary, word: str) -> int:
    rank = vocabulary.ids.get(word)
    if rank is None:
        near = near_spelling(word, vocabulary.words[NUM_SPECIAL : len(vectors)])
        raise InputError(f"{word}: not in the corpus; " + (f"did you mean {near}?" if near else "choose another"))
    if rank >= len(vectors):
        raise InputError(
            f"{word}: is word number {rank:,} of the corpus, and only the first {len(vectors):,} have vectors",
            remedy=Stage("vectors", vocabulary_size=rank + 1, force=True),
        )
    if rank < NUM_SPECIAL:
        raise InputError(f"{word}: special words have no vector; choose another")
    if not vectors.has_vector[rank]:
        raise InputError(f"{word}: has no vector (missing from the imported file, or never trained); choose another")
    return rank


def near_spelling(word: str, words: Sequence[str]) -> str | None:
    """The one of some words that a misspelt word is most like; None if none is alike."""
    folded = word.lower()
    # difflib is slow: try only words of about the same length with the same first letter
    candidates = (
        other
        for other in words
        if other[:1].lower() == folded[:1] and abs(len(other) - len(word)) <= LARGEST_LENGTH_DIFFERENCE
    )
    close = get_close_matches(folded, islice(candidates, MOST_CANDIDATES), n=1)
    return close[0] if close else None
