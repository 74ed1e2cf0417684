"""How fast and how good are the solvers of the sparse codes, on real word vectors?

Times all rare words with `exact`, samples of them with `adam` (the paper's) and with scikit-learn, and the floor: the
one matrix product U^T W that any solver must start with. All in one run, in turns, medians. Losses are of the same
words at the same limit of non-zeros. Prints a card and, as its last line, one JSON object. `--million` codes a million
synthetic words instead.
"""

import argparse
import json
import os
import resource
import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes import CodingSettings, SparseCodes, solve_codes
from fewwords.codes.atoms import unit_vectors
from fewwords.codes.exact import WORDS_PER_BLOCK
from fewwords.codes.objective import fitting_loss, optimality_residual
from fewwords.corpus import TokenCorpus, prepare
from fewwords.text.sources import BUILTIN
from fewwords.vectors import SkipGramSettings, WordVectors, train_skip_gram
from fewwords.vocabulary import NUM_SPECIAL

LIMIT = 8


def seconds(function: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def load_vectors(work: Path | None, quick: bool) -> NDArray[np.float32]:
    """Unit vectors of the words that have one, special words first; without a folder, from the built-in corpus."""
    if work is not None:
        vectors = WordVectors.load(work)
    else:
        with tempfile.TemporaryDirectory() as folder:
            prepare([BUILTIN], folder)
            vectors = train_skip_gram(TokenCorpus.open(folder), SkipGramSettings(epochs=1 if quick else 5))
    units = unit_vectors(vectors.values[vectors.has_vector])[0]
    return np.concatenate([np.zeros((NUM_SPECIAL, vectors.size), np.float32), units])


def floor(base: NDArray[np.float32], rare: NDArray[np.float32]) -> None:
    products = np.empty((min(WORDS_PER_BLOCK, len(rare)), len(base)), np.float32)
    for start in range(0, len(rare), WORDS_PER_BLOCK):
        block = rare[start : start + WORDS_PER_BLOCK]
        np.matmul(block, base.T, out=products[: len(block)])


def solve_with_sklearn(base: NDArray[np.float32], rare: NDArray[np.float32]) -> float:
    """Non-negative LARS to the limit, weights refitted on its support; returns the mean loss."""
    from scipy.optimize import nnls
    from sklearn.linear_model import lars_path

    atoms = base[NUM_SPECIAL:].T.astype(np.float64)
    losses = []
    for word in rare.astype(np.float64):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, support, _ = lars_path(atoms, word, positive=True, method="lasso", max_iter=LIMIT)
        losses.append(nnls(atoms[:, support[:LIMIT]], word)[1] ** 2)
    return float(np.mean(losses))


def limited(vectors: NDArray[np.float32], num_base: int, limit: int | None, solver: Any = "exact") -> SparseCodes:
    return solve_codes(vectors, num_base, CodingSettings(solver, limit))[0]


def keep_largest(codes: SparseCodes, limit: int) -> SparseCodes:
    """The same codes with only the `limit` largest weights per word."""
    matrix = codes.to_csr().tolil()
    for row in range(codes.num_base, codes.num_words):
        order = np.argsort(matrix.data[row])[::-1][:limit]
        matrix.rows[row], matrix.data[row] = map(
            list, zip(*sorted((matrix.rows[row][place], matrix.data[row][place]) for place in order), strict=True)
        )
    return SparseCodes.from_csr(matrix.tocsr())


def million(num_words: int) -> None:
    """Code synthetic words, each a mixture of a few base words and noise, and print time and memory."""
    random = np.random.default_rng(1)
    num_base, size = NUM_SPECIAL + 8000, 200
    vectors = np.empty((num_base + num_words, size), np.float32)
    vectors[:num_base] = random.normal(size=(num_base, size))
    for start in range(num_base, len(vectors), 50_000):
        block = vectors[start : start + 50_000]
        block[:] = random.normal(size=block.shape) * 0.5
        for weight in (1.0, 0.7, 0.5):
            block += weight * vectors[random.integers(NUM_SPECIAL, num_base, len(block))]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    taken, codes = seconds(lambda: limited(vectors, num_base, LIMIT))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{num_words:,} words over 8,000 base words: {taken:.0f} s, {codes.nonzeros_per_rare_word:.1f} non-zeros per word"
    )
    print(f"peak memory {peak:,.0f} MiB, of which {before:,.0f} were there before (the vectors themselves)")
    print(
        json.dumps(
            {"words": num_words, "seconds": round(taken, 1), "peak_mib": round(peak), "before_mib": round(before)}
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute: smaller samples, fewer repetitions")
    parser.add_argument("--work", type=Path, help="a folder with vectors (default: the built-in corpus)")
    parser.add_argument("--million", action="store_true", help="code a million synthetic words and do nothing else")
    options = parser.parse_args()
    if options.million:
        million(1_000_000)
        return
    vectors = load_vectors(options.work, options.quick)
    num_base = NUM_SPECIAL + min(8000, (len(vectors) - NUM_SPECIAL) // 2)
    if options.quick:
        vectors = vectors[: num_base + 12_000]
    base, rare = vectors[:num_base], vectors[num_base:]
    num_adam, num_sklearn = (32, 8) if options.quick else (256, 32)
    chosen = np.linspace(0, len(rare) - 1, num_adam).astype(np.int64)
    sample = np.concatenate([base, rare[chosen]])
    limited(sample, num_base, LIMIT)  # compiles

    times: dict[str, list[float]] = {"floor": [], "exact": []}
    for _ in range(3 if options.quick else 7):
        times["floor"].append(seconds(lambda: floor(base, rare))[0] / len(rare))
        taken, codes = seconds(lambda: limited(vectors, num_base, LIMIT))
        times["exact"].append(taken / len(rare))
    taken, adam = seconds(lambda: limited(sample, num_base, None, "adam"))
    adam_time = taken / num_adam
    adam_limited = keep_largest(adam, LIMIT)
    taken, sklearn_loss = seconds(lambda: solve_with_sklearn(base, rare[chosen[:num_sklearn]]))
    sklearn_time = taken / num_sklearn
    exact = limited(sample, num_base, LIMIT)
    exact_as_adam = limited(sample, num_base, round(adam.nonzeros_per_rare_word))

    def loss(codes: SparseCodes) -> float:
        return float(fitting_loss(codes, base, rare[chosen]).mean())

    # The best code of a word with no base word within a right angle is empty; it gets its nearest word, so is not optimal.
    alone = np.concatenate([(block @ base.T).max(axis=1) <= 0 for block in np.array_split(rare, len(rare) // 2048 + 1)])
    residual = optimality_residual(codes, base, rare, on_support=True)[~alone].max()
    exact_on_fewer = float(fitting_loss(exact, base, rare[chosen])[:num_sklearn].mean())
    exact_time, floor_time = statistics.median(times["exact"]), statistics.median(times["floor"])
    result = {
        "exact_seconds_per_1000_words": exact_time * 1000,
        "adam_seconds_per_1000_words": adam_time * 1000,
        "sklearn_seconds_per_1000_words": sklearn_time * 1000,
        "floor_seconds_per_1000_words": floor_time * 1000,
        "exact_loss": loss(exact),
        "adam_loss": loss(adam_limited),
        "sklearn_loss": sklearn_loss,
        "nonzeros_exact": exact.nonzeros_per_rare_word,
        "nonzeros_adam": adam_limited.nonzeros_per_rare_word,
        "adam_loss_without_limit": loss(adam),
        "nonzeros_adam_without_limit": adam.nonzeros_per_rare_word,
        "exact_loss_at_that_limit": loss(exact_as_adam),
        "exact_loss_on_the_words_of_sklearn": exact_on_fewer,
        "largest_optimality_residual": float(residual),
        "words_without_neighbour": int(alone.sum()),
        "base_words": num_base - NUM_SPECIAL,
        "rare_words": len(rare),
    }
    print(f"codes, {len(rare):,} rare words over {num_base - NUM_SPECIAL:,} base words, {os.cpu_count()} cores")
    print(f"  floor, the product U^T W   {floor_time * 1000:9.4f} s per 1,000 words")
    print(f"  exact                      {exact_time * 1000:9.4f} s, {exact_time / floor_time:.1f} times the floor")
    print(f"  adam, {num_adam} words           {adam_time * 1000:9.4f} s, {adam_time / exact_time:.0f} times exact")
    print(
        f"  scikit-learn, {num_sklearn} words    {sklearn_time * 1000:9.4f} s, {sklearn_time / exact_time:.0f} times exact"
    )
    print(f"  loss at {LIMIT} non-zeros: exact {result['exact_loss']:.4f}, adam {result['adam_loss']:.4f}")
    print(f"  on {num_sklearn} of them: exact {exact_on_fewer:.4f}, scikit-learn {sklearn_loss:.4f}")
    print(
        f"  adam without a limit: {result['adam_loss_without_limit']:.4f} with {adam.nonzeros_per_rare_word:.1f} non-zeros; "
        f"exact at that limit: {result['exact_loss_at_that_limit']:.4f}"
    )
    print(
        f"  largest optimality residual of exact on the support: {residual:.1e}; {alone.sum()} words without neighbour left out"
    )
    print(json.dumps({name: round(value, 6) if isinstance(value, float) else value for name, value in result.items()}))


if __name__ == "__main__":
    main()
