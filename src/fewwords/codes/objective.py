"""What a code should achieve: the objective of equations (4) to (7) and its optimality conditions.

L(x) = ||U x - w||^2 is the fitting loss, R1(x) = ||x||_1 and R2(x) = |sum(x) - 1| the regularisers, and their
weights alpha_t = w_alpha L / R1 and beta_t = w_beta L / R2 are set again at every step.
The exact solver minimises L over x >= 0, with sum(x) = 1 if asked; `optimality_residual` measures how nearly.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.atoms import usable_atoms
from fewwords.codes.sparse_codes import SparseCodes

# Rare words per block: the gradients of a block over 8,000 base words take 64 MB in float64.
WORDS_PER_BLOCK = 1024


def l1_norm(codes: SparseCodes) -> NDArray[np.float64]:
    """R1 of each rare word [num_rare]; for non-negative codes it is their sum."""
    return np.add.reduceat(codes.values.astype(np.float64), codes.offsets[:-1]) if codes.num_rare else np.zeros(0)


def distance_from_sum_one(codes: SparseCodes) -> NDArray[np.float64]:
    """R2 of each rare word [num_rare]."""
    return np.abs(l1_norm(codes) - 1.0)


def balanced_weight(loss: Any, regulariser: Any, ratio: float, cap: float) -> Any:
    """The alpha_t or beta_t that makes weight * regulariser = ratio * loss, at most `cap`; numpy or torch, [n].

    Where the regulariser is zero, it is the cap.
    """
    return (ratio * loss / (regulariser + 1e-30)).clip(max=cap)


def fitting_loss(
    codes: SparseCodes, base_vectors: NDArray[np.float32], rare_vectors: NDArray[np.float32]
) -> NDArray[np.float64]:
    """L of each rare word [num_rare], from vectors [num_base, E] and [num_rare, E]."""
    losses = [np.square(residual).sum(axis=1) for _, _, residual in _residuals(codes, base_vectors, rare_vectors)]
    return np.concatenate([*losses, np.zeros(0)])


def optimality_residual(
    codes: SparseCodes,
    base_vectors: NDArray[np.float32],
    rare_vectors: NDArray[np.float32],
    *,
    sum_to_one: bool = False,
    on_support: bool = False,
    num_special: int = 3,
) -> NDArray[np.float64]:
    """By how much each rare word [num_rare] misses the optimality (Karush-Kuhn-Tucker) conditions.

    With g = 2 U^T (U x - w), the gradient of L, and m = x^T g the multiplier of sum(x) = 1 (0 without the sum), an
    optimal code has g_j = m where x_j > 0 and g_j >= m elsewhere. The residual is the largest violation, for atom j
    in units of |u_j| |w|, so that it does not depend on the scale of the vectors. With `on_support` only the first
    condition counts: the weights are the best for the chosen words, whatever the other words could add.
    """
    atoms = usable_atoms(base_vectors, num_special)
    atom_vectors = base_vectors[atoms].astype(np.float64)
    atom_lengths = np.linalg.norm(atom_vectors, axis=1)
    worst = [np.zeros(0)]
    for rows, code_block, residual in _residuals(codes, base_vectors, rare_vectors):
        dense = code_block.toarray()[:, atoms]
        gradient = 2.0 * residual @ atom_vectors.T
        if sum_to_one:
            gradient -= np.sum(dense * gradient, axis=1, keepdims=True)
        violation = np.where(dense > 0, np.abs(gradient), 0.0 if on_support else -gradient)
        word_lengths = np.linalg.norm(rare_vectors[rows].astype(np.float64), axis=1)
        worst.append(np.max(violation / atom_lengths, axis=1, initial=0.0) / word_lengths)
    return np.concatenate(worst)


def _residuals(
    codes: SparseCodes, base_vectors: NDArray[np.float32], rare_vectors: NDArray[np.float32]
) -> Iterator[tuple[slice, Any, NDArray[np.float64]]]:
    """Per block of rare words: which, their codes as a scipy matrix [n, num_base], and U x - w [n, E]."""
    rare_codes = codes.to_csr()[codes.num_base :].astype(np.float64)
    base = base_vectors.astype(np.float64)
    for start in range(0, codes.num_rare, WORDS_PER_BLOCK):
        rows = slice(start, start + WORDS_PER_BLOCK)
        block = rare_codes[rows]
        yield rows, block, block @ base - rare_vectors[rows]
