"""The kernel of the exact solver: the search for one word's code, atom by atom.

The atom that violates the optimality conditions most joins the support and the weights settle, until none violates
them or the limit is reached. At the limit, the atoms that violate most are tried in place of the one that matters
least, as long as the loss falls. Atoms and words have unit length here.
On a support the weights y solve one positive definite system M y = b (Lawson and Hanson 1974). Without the sum, M
holds the products of the atoms and b their products with the word. With the sum, M holds the products of the
differences atom - word, plus one, and b = 1; y divided by its sum is then the point of least length on the affine
hull (Wolfe 1976), so one Cholesky factor serves both. All of it is in one file, because the compiler's cache watches
one file.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

# How the search for one word ended.
OPTIMAL, LIMITED, WITHOUT_NEIGHBOUR, UNFINISHED = 0, 1, 2, 3

# A pivot below this share of its diagonal means that the new atom lies in the span of the support.
SMALLEST_PIVOT = 1e-14
# A swap must lower the loss by more than rounding, or two supports could alternate forever.
SMALLEST_GAIN = 1e-9
# The rounding of a float32 product of two unit vectors, with room to spare.
PRODUCT_ROUNDING = 4e-7
# Shares of the tolerance: the search stops at violations below the first; the second allows for rounding.
# The optimality residual is twice a violation: 2 * (0.4 + 0.1) = 1.
STOP_SHARE, ROUNDING_SHARE = 0.4, 0.1
# Atoms per piece of the gradient, so that a piece stays in the L1 cache while the rows are subtracted.
TILE = 2000

# To the compiler a literal 0 is its own type, for which it would compile every callee again.
ZERO: Any = np.int64(0)

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Function = TypeVar("Function", bound=Callable[..., Any])


def _compiled(function: Function) -> Function:
    """Compile without the interpreter lock; sums may be reordered, so that dot products use vector instructions."""
    flags = {"contract", "nnan", "nsz", "reassoc"}
    return cast(Function, numba.njit(nogil=True, cache=True, error_model="numpy", fastmath=flags)(function))


class Support(NamedTuple):
    """The chosen atoms of one word, with room for one more than the limit; the first `count` entries are in use."""

    atoms: NDArray[np.int64]  # [room]
    scales: Doubles  # [room] length of the atom over the word's with the sum, else 1
    target: Doubles  # [room] b
    weights: Doubles  # [room] non-negative, of the last support that was settled
    solution: Doubles  # [room] y, signs free
    system: Doubles  # [room, room] M
    factor: Doubles  # [room, room] its Cholesky factor, lower triangle


@_compiled
def _new_support(room: int) -> Support:
    """An empty support for up to `room` atoms."""
    vectors, squares = np.zeros((4, room)), np.zeros((2, room, room))
    return Support(np.zeros(room, np.int64), vectors[0], vectors[1], vectors[2], vectors[3], squares[0], squares[1])


@_compiled
def _copy_support(source: Support, count: int, copy: Support) -> None:
    """Make `copy` hold the same atoms, weights and system as `source`."""
    for i in range(count):
        copy.atoms[i] = source.atoms[i]
        copy.scales[i] = source.scales[i]
        copy.target[i] = source.target[i]
        copy.weights[i] = source.weights[i]
        for k in range(count):
            copy.system[i, k] = source.system[i, k]
            copy.factor[i, k] = source.factor[i, k]


@_compiled
def _dot(first: Floats, second: Floats) -> float:
    """The product of two float32 vectors, summed in float64."""
    total = 0.0
    for e in range(first.shape[0]):
        total += np.float64(first[e]) * np.float64(second[e])
    return total


@_compiled
def _extend_factor(support: Support, row: int) -> bool:
    """Add one row to the Cholesky factor; False when its atom depends on those before it."""
    system, factor = support.system, support.factor
    pivot = system[row, row]
    for i in range(row):
        total = system[row, i]
        for k in range(i):
            total -= factor[row, k] * factor[i, k]
        factor[row, i] = total / factor[i, i]
        pivot -= factor[row, i] * factor[row, i]
    if pivot <= SMALLEST_PIVOT * system[row, row]:
        return False
    factor[row, row] = np.sqrt(pivot)
    return True


@_compiled
def _append_atom(
    support: Support, count: int, atom: int, scale: float, atoms: Floats, word: Floats, sum_to_one: bool
) -> bool:
    """Put an atom, of weight zero, at place `count`; False when it lies in the span of the others."""
    product = _dot(atoms[atom], word)
    support.atoms[count] = atom
    support.scales[count] = scale
    support.weights[count] = 0.0
    support.target[count] = 1.0 if sum_to_one else product
    for k in range(count + 1):
        entry = scale * support.scales[k] * _dot(atoms[atom], atoms[support.atoms[k]])
        if sum_to_one:
            entry += _dot(word, word) + 1.0 - scale * product - support.scales[k] * _dot(atoms[support.atoms[k]], word)
        support.system[count, k] = entry
        support.system[k, count] = entry
    return _extend_factor(support, count)


@_compiled
def _remove_atom(support: Support, count: int, place: int) -> int:
    """Remove the atom at `place`; returns the new count."""
    for i in range(place, count - 1):
        support.atoms[i] = support.atoms[i + 1]
        support.scales[i] = support.scales[i + 1]
        support.target[i] = support.target[i + 1]
        support.weights[i] = support.weights[i + 1]
        for k in range(count):
            support.system[i, k] = support.system[i + 1, k]
    for i in range(count - 1):
        for k in range(place, count - 1):
            support.system[i, k] = support.system[i, k + 1]
    for i in range(place, count - 1):
        _extend_factor(support, i)
    return count - 1


@_compiled
def _solve_support(support: Support, count: int, sum_to_one: bool, squared_length: float) -> float:
    """The best weights on the support, signs free, into `solution`; returns their fitting loss."""
    factor, solution = support.factor, support.solution
    for i in range(count):
        total = support.target[i]
        for k in range(i):
            total -= factor[i, k] * solution[k]
        solution[i] = total / factor[i, i]
    for i in range(count - 1, -1, -1):
        total = solution[i]
        for k in range(i + 1, count):
            total -= factor[k, i] * solution[k]
        solution[i] = total / factor[i, i]
    total = 0.0
    for i in range(count):
        total += support.target[i] * solution[i]
    if not sum_to_one:
        return float(squared_length - total)
    for i in range(count):
        solution[i] /= total
    return float(1.0 / total - 1.0)


@_compiled
def _settle(support: Support, count: int, sum_to_one: bool, squared_length: float) -> tuple[int, float]:
    """Make the weights best among the non-negative ones; atoms that reach zero leave. Returns count and loss."""
    while True:
        loss = _solve_support(support, count, sum_to_one, squared_length)
        weights, solution = support.weights, support.solution
        # Move from the present weights towards the solution until the first weight is zero.
        step, leaving = 1.0, ZERO - 1
        for k in range(count):
            if solution[k] <= 0.0:
                share = weights[k] / (weights[k] - solution[k]) if weights[k] > 0.0 else 0.0
                if leaving < 0 or share < step:
                    step, leaving = share, k
        for k in range(count):
            weights[k] += step * (solution[k] - weights[k])
        if leaving < 0:
            return count, loss
        count = _remove_atom(support, count, leaving)


@_compiled
def _cheapest_removal(support: Support, count: int) -> int:
    """The place whose atom matters least: smallest y_k^2 / (M^-1)_kk, with and without the sum."""
    factor, solution = support.factor, support.solution
    column = np.empty(count)
    best, smallest = ZERO, np.inf
    for k in range(count):
        diagonal = 0.0
        for i in range(k, count):
            total = 1.0 if i == k else 0.0
            for m in range(k, i):
                total -= factor[i, m] * column[m]
            column[i] = total / factor[i, i]
            diagonal += column[i] * column[i]
        rise = solution[k] * solution[k] / diagonal
        if rise < smallest:
            best, smallest = k, rise
    return int(best)


@_compiled
def _descent_from_gram(correlations: Floats, gram: Floats, support: Support, count: int, descent: Floats) -> None:
    """descent [atoms] = correlations - weights @ gram[support]."""
    size = correlations.shape[0]
    for start in range(0, size, TILE):
        stop = min(size, start + TILE)
        target, source = descent[start:stop], correlations[start:stop]
        for j in range(stop - start):
            target[j] = source[j]
        for k in range(0, count, 4):
            # Four rows in one pass; a place past the end repeats the last row with weight zero.
            k0, k1, k2, k3 = k, min(k + 1, count - 1), min(k + 2, count - 1), min(k + 3, count - 1)
            x0 = np.float32(support.weights[k0] * support.scales[k0])
            x1 = np.float32(support.weights[k1] * support.scales[k1] if k + 1 < count else 0.0)
            x2 = np.float32(support.weights[k2] * support.scales[k2] if k + 2 < count else 0.0)
            x3 = np.float32(support.weights[k3] * support.scales[k3] if k + 3 < count else 0.0)
            row0, row1 = gram[support.atoms[k0], start:stop], gram[support.atoms[k1], start:stop]
            row2, row3 = gram[support.atoms[k2], start:stop], gram[support.atoms[k3], start:stop]
            for j in range(stop - start):
                target[j] -= x0 * row0[j] + x1 * row1[j] + x2 * row2[j] + x3 * row3[j]


@_compiled
def _descent_from_vectors(word: Floats, atoms: Floats, support: Support, count: int, descent: Floats) -> None:
    """descent [atoms] = atoms @ (word - weights @ atoms[support]), in float64: slower, with almost no rounding."""
    residual = word.astype(np.float64)
    for k in range(count):
        weight = support.weights[k] * support.scales[k]
        atom = atoms[support.atoms[k]]
        for e in range(residual.shape[0]):
            residual[e] -= weight * atom[e]
    for j in range(atoms.shape[0]):
        total = 0.0
        atom = atoms[j]
        for e in range(residual.shape[0]):
            total += residual[e] * atom[e]
        descent[j] = total


@_compiled
def _largest_positive(values: Floats) -> int:
    """The first place of the largest value if that is positive, else -1.

    Positive floats sort like their bits, and the maximum of integers is a vector instruction.
    """
    bits = values.view(np.int32)
    best = np.int32(0)
    place = -1
    for start in range(0, bits.shape[0], 512):
        part = bits[start : start + 512]
        largest = np.int32(0)
        for j in range(part.shape[0]):
            largest = max(largest, part[j])
        if largest > best:
            best = largest
            for j in range(part.shape[0]):
                if part[j] == largest:
                    place = start + j
                    break
    return place


@_compiled
def _nearest(correlations: Floats, ratios: Floats, by_angle: bool) -> int:
    """The atom at the smallest angle to the word, or at the smallest distance; ratios: its length over the word's."""
    best, smallest = 0, np.inf
    for j in range(correlations.shape[0]):
        distance = -correlations[j] if by_angle else ratios[j] * (ratios[j] - np.float32(2.0) * correlations[j])
        if distance < smallest:
            best, smallest = j, distance
    return best


@_compiled
def _search(
    word: Floats,
    atoms: Floats,
    ratios: Floats,
    correlations: Floats,
    gram: Floats,
    support: Support,
    trial: Support,
    descent: Floats,
    limit: int,
    sum_to_one: bool,
    tolerance: float,
    max_tries: int,
) -> tuple[int, int]:
    """Fill `support` with the code of one word; returns the number of atoms and how the search ended."""
    squared_length = _dot(word, word)
    stop = STOP_SHARE * tolerance
    if sum_to_one:
        candidate = _nearest(correlations, ratios, False)
    else:
        candidate = _largest_positive(correlations)
        if candidate < 0 or correlations[candidate] <= stop:
            # The best code is empty, but a word must have one: the nearest atom, scaled to the length of the word.
            support.atoms[0] = _nearest(correlations, ratios, True)
            support.scales[0] = support.weights[0] = 1.0
            return 1, WITHOUT_NEIGHBOUR
    count, loss, tries = ZERO, squared_length, 0
    for _ in range(10 * limit + 100):
        scale = np.float64(ratios[candidate]) if sum_to_one else 1.0
        if count < limit:
            if not _append_atom(support, count, candidate, scale, atoms, word, sum_to_one):
                return count, UNFINISHED
            count, loss = _settle(support, count + 1, sum_to_one, squared_length)
            improved = True
        else:
            _copy_support(support, count, trial)
            improved = _append_atom(trial, count, candidate, scale, atoms, word, sum_to_one)
            if improved:
                _solve_support(trial, count + 1, sum_to_one, squared_length)
                leaving = _cheapest_removal(trial, count + 1)
                improved = bool(leaving < count)
            if improved:
                _remove_atom(trial, count + 1, leaving)
                trial_count, trial_loss = _settle(trial, count, sum_to_one, squared_length)
                improved = trial_loss < loss - SMALLEST_GAIN
            if improved:
                _copy_support(trial, trial_count, support)
                count, loss = trial_count, trial_loss
        if improved:
            tries = 0
            if count == limit and max_tries == 0:
                return count, LIMITED
            total, projection = 0.0, 0.0
            for k in range(count):
                total += support.weights[k] * support.scales[k]
                projection += support.weights[k] * support.scales[k] * _dot(atoms[support.atoms[k]], word)
            if gram.shape[0] == 0 or PRODUCT_ROUNDING * (1.0 + total) > ROUNDING_SHARE * tolerance:
                _descent_from_vectors(word, atoms, support, count, descent)
            else:
                _descent_from_gram(correlations, gram, support, count, descent)
            if sum_to_one:
                multiplier = np.float32(squared_length - projection - loss)
                for j in range(descent.shape[0]):
                    descent[j] -= multiplier / ratios[j]
            for k in range(count):
                descent[support.atoms[k]] = 0.0
        else:
            tries += 1
            if tries == max_tries:
                return count, LIMITED
            descent[candidate] = 0.0
        candidate = _largest_positive(descent)
        if candidate < 0 or descent[candidate] <= stop:
            return count, OPTIMAL if improved else LIMITED
    return count, UNFINISHED


@_compiled
def search_words(
    words: Floats,
    word_lengths: Doubles,
    correlations: Floats,
    atoms: Floats,
    atom_lengths: Doubles,
    gram: Floats,
    limit: int,
    sum_to_one: bool,
    tolerance: float,
    max_tries: int,
    code_atoms: NDArray[np.int32],
    code_values: Floats,
    counts: NDArray[np.int64],
    endings: NDArray[np.int8],
) -> None:
    """Code words [n, E] over atoms [B, E], both unit vectors, with their true lengths [n] and [B].

    `correlations` is words @ atoms.T [n, B]; `gram` is atoms @ atoms.T [B, B], or [0, 0] to do without.
    Fills code_atoms and code_values [n, limit], for vectors of the true lengths, and counts and endings [n].
    """
    support, trial = _new_support(limit + 1), _new_support(limit + 1)
    descent, ratios = np.empty(atoms.shape[0], np.float32), np.empty(atoms.shape[0], np.float32)
    for word in range(words.shape[0]):
        for j in range(ratios.shape[0]):
            ratios[j] = atom_lengths[j] / word_lengths[word]
        arrays = (words[word], atoms, ratios, correlations[word], gram, support, trial, descent)
        count, ending = _search(*arrays, limit, sum_to_one, tolerance, max_tries)
        for k in range(count):
            atom = support.atoms[k]
            length = 1.0 if sum_to_one else word_lengths[word] / atom_lengths[atom]
            code_atoms[word, k] = atom
            code_values[word, k] = support.weights[k] * length
        counts[word] = count
        endings[word] = ending
