"""Codes that show what learned codes are worth: random base words, and the single nearest base word."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.atoms import check_vectors, unit_vectors, usable_atoms
from fewwords.codes.sparse_codes import CodedBlock, SparseCodes, pack_codes
from fewwords.errors import InputError

WORDS_PER_BLOCK = 2048


def random_codes(num_words: int, num_base: int, nonzeros: int, seed: int, num_special: int = 3) -> SparseCodes:
    """Each rare word is `nonzeros` different random base words, none special, with values 1 / nonzeros."""
    if not num_special < num_base < num_words:
        raise InputError(
            f"{num_base} base words: give more than {num_special} and fewer than the {num_words} words there are"
        )
    if not 1 <= nonzeros <= num_base - num_special:
        raise InputError(f"{nonzeros} non-zeros per word: give 1 to {num_base - num_special}")
    random = np.random.default_rng(seed)
    num_rare = num_words - num_base
    choices = [random.choice(num_base - num_special, nonzeros, replace=False) for _ in range(num_rare)]
    values = np.full((num_rare, nonzeros), 1 / nonzeros, np.float32)
    counts = np.full(num_rare, nonzeros, np.int64)
    made_from = {"solver": "random", "nonzeros": nonzeros, "seed": seed, "num_special": num_special}
    return pack_codes([(np.stack(choices) + num_special, values, counts)], num_base, made_from)


def nearest_codes(vectors: NDArray[Any], num_base: int, num_special: int = 3) -> SparseCodes:
    """Each rare word of vectors [V, E] is the base word of largest cosine, special words excluded, with the value 1."""
    checked = check_vectors(vectors, num_base, num_special)
    rows = usable_atoms(checked[:num_base], num_special)
    atoms, _ = unit_vectors(checked[rows])

    def coded_blocks() -> Iterator[CodedBlock]:
        for start in range(num_base, len(checked), WORDS_PER_BLOCK):
            words, _ = unit_vectors(checked[start : start + WORDS_PER_BLOCK])
            nearest = (words @ atoms.T).argmax(axis=1)
            yield rows[nearest][:, None], np.ones((len(words), 1), np.float32), np.ones(len(words), np.int64)

    return pack_codes(coded_blocks(), num_base, {"solver": "nearest", "num_special": num_special})
