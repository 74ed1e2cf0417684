"""Codes that show what learned codes are worth: random base words, and the single nearest base word."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.atoms import check_vectors, unit_vectors, usable_atoms
from fewwords.codes.sparse_codes import CodedBlock, SparseCodes, pack_codes
from fewwords.errors import InputError

WORDS_PER_BLOCK = 2048


def random_codes(num_words: int, base_size: int, nonzeros: int, seed: int, num_special: int = 3) -> SparseCodes:
    """Each rare word is `nonzeros` different random base words, none special, with values 1 / nonzeros."""
    if not num_special < base_size < num_words:
        raise InputError(
            f"base size {base_size}: give one over {num_special} and under the {num_words} words there are"
        )
    if not 1 <= nonzeros <= base_size - num_special:
        raise InputError(f"{nonzeros} non-zeros a word: give 1 to {base_size - num_special}")
    random = np.random.default_rng(seed)
    num_rare = num_words - base_size
    choices = [random.choice(base_size - num_special, nonzeros, replace=False) for _ in range(num_rare)]
    values = np.full((num_rare, nonzeros), 1 / nonzeros, np.float32)
    counts = np.full(num_rare, nonzeros, np.int64)
    made_from = {"solver": "random", "nonzeros": nonzeros, "seed": seed, "num_special": num_special}
    return pack_codes([(np.stack(choices) + num_special, values, counts)], base_size, made_from)


def nearest_codes(vectors: NDArray[Any], base_size: int, num_special: int = 3) -> SparseCodes:
    """Each rare word of vectors [V, E] is the base word of largest cosine, special words left out, with the value 1."""
    checked = check_vectors(vectors, base_size, num_special)
    rows = usable_atoms(checked[:base_size], num_special)
    atoms, _ = unit_vectors(checked[rows])

    def coded_blocks() -> Iterator[CodedBlock]:
        for start in range(base_size, len(checked), WORDS_PER_BLOCK):
            words, _ = unit_vectors(checked[start : start + WORDS_PER_BLOCK])
            nearest = (words @ atoms.T).argmax(axis=1)
            yield rows[nearest][:, None], np.ones((len(words), 1), np.float32), np.ones(len(words), np.int64)

    return pack_codes(coded_blocks(), base_size, {"solver": "nearest", "num_special": num_special})
