"""The exact solver: min ||U x - w||^2 over x >= 0, with sum(x) = 1 if asked, at most `max_nonzeros` non-zeros.

Without a limit, or where the limit does not bind, the result is the global optimum to the stated tolerance (plus
the rounding of float32 values, 1.2e-7 times their sum, which only shows where base words nearly oppose each other).
At the limit the problem is combinatorial, and the guarantee is weaker: the weights are the best for the chosen
words, and swapping any of the `MAX_TRIES` words that violate the conditions most for the chosen one that matters
least does not lower the loss. The search itself is in active_set.py; here its input is prepared block by block, and
threads share the words of a block. The result does not depend on the number of threads.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.active_set import search_words
from fewwords.codes.atoms import Vectors, unit_vectors, usable_atoms
from fewwords.codes.sparse_codes import CodedBlock, SparseCodes, pack_codes
from fewwords.progress import Progress

# One block's products with 8,000 atoms take 64 MB; a thread takes a few words of the block at a time.
WORDS_PER_BLOCK = 2048
WORDS_PER_TASK = 64
# Past this size of the base (23,000 words) the Gram matrix is left out: slower, but bounded in memory.
LARGEST_GRAM_BYTES = 2 << 30
# A Gram matrix costs as much as searching for this many words per thousand atoms without one.
WORDS_PER_THOUSAND_ATOMS = 25
# More tries lower the loss a little further: on clustered vectors 1 gains 0.4 %, 4 gain 0.6 %, 32 gain 0.9 %.
MAX_TRIES = 4

ENDINGS = ("optimal", "limited", "without_neighbour", "unfinished")


def solve_exact(
    base_vectors: Vectors,
    rare_vectors: Vectors,
    *,
    max_nonzeros: int | None,
    sum_to_one: bool,
    normalise: bool,
    tolerance: float,
    jobs: int,
    num_special: int,
    max_tries: int = MAX_TRIES,
) -> tuple[SparseCodes, dict[str, int]]:
    """Code rare vectors [num_rare, E] over base vectors [num_base, E], both as `check_vectors` returns them.

    With `normalise` all vectors count as unit vectors. Also returns how the searches ended, in words: optimal;
    limited by max_nonzeros; without_neighbour (no base word within a right angle, so the best code would be empty:
    the base word of largest cosine, scaled to the word's length); unfinished (best on its support, but stopped by
    rounding).
    """
    rows = usable_atoms(base_vectors, num_special)
    atoms, atom_lengths = unit_vectors(base_vectors[rows])
    if normalise:
        atom_lengths = np.ones_like(atom_lengths)
    num_atoms, dimensions = atoms.shape
    # An optimal code needs no more atoms than are independent.
    most = min(num_atoms, dimensions + 1 if sum_to_one else dimensions)
    limit = most if max_nonzeros is None else min(max_nonzeros, most)
    gram = np.zeros((0, 0), np.float32)
    enough_words = 1000 * len(rare_vectors) >= WORDS_PER_THOUSAND_ATOMS * num_atoms
    if enough_words and 4 * num_atoms**2 <= LARGEST_GRAM_BYTES:
        # The copy makes this a plain product: of U U^T half would be computed and mirrored, which takes longer.
        gram = atoms @ np.ascontiguousarray(atoms.T)
    settings = (limit, sum_to_one, tolerance, max_tries)
    endings = np.zeros(len(ENDINGS), np.int64)

    def coded_blocks() -> Iterator[CodedBlock]:
        products = np.empty((min(WORDS_PER_BLOCK, len(rare_vectors)), num_atoms), np.float32)
        with Progress("codes", len(rare_vectors), "words") as progress, ThreadPoolExecutor(jobs) as threads:
            for start in range(0, len(rare_vectors), WORDS_PER_BLOCK):
                words, word_lengths = unit_vectors(rare_vectors[start : start + WORDS_PER_BLOCK])
                if normalise:
                    word_lengths = np.ones_like(word_lengths)
                correlations = np.matmul(words, atoms.T, out=products[: len(words)])
                code_atoms = np.zeros((len(words), limit), np.int32)
                values = np.zeros((len(words), limit), np.float32)
                counts = np.zeros(len(words), np.int64)
                ended = np.zeros(len(words), np.int8)
                per_word = (words, word_lengths, correlations, code_atoms, values, counts, ended)
                tasks = [
                    threads.submit(_search_some, first, per_word, (atoms, atom_lengths, gram), settings)
                    for first in range(0, len(words), WORDS_PER_TASK)
                ]
                for task in tasks:
                    task.result()
                endings[:] += np.bincount(ended, minlength=len(ENDINGS))
                progress.advance(len(words))
                yield rows[code_atoms], values, counts

    codes = pack_codes(coded_blocks(), len(base_vectors), {})
    return codes, dict(zip(ENDINGS, endings.tolist(), strict=True))


def _search_some(
    first: int,
    per_word: tuple[NDArray[Any], ...],
    dictionary: tuple[Any, ...],
    settings: tuple[Any, ...],
) -> None:
    """Code the words of one task: a slice of every array that has a row per word."""
    words, lengths, correlations, *outputs = (array[first : first + WORDS_PER_TASK] for array in per_word)
    search_words(words, lengths, correlations, *dictionary, *settings, *outputs)
