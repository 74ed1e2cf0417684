"""The paper's solver: Adam on L(x) + alpha_t R1(x) + beta_t R2(x), equations (4) to (7), clipped at zero.

alpha_t and beta_t are set again at every step, for every word, and are constants in the gradient. At the end, values
below 0.015 of a word's largest become zero. As it stands this collapses: where the sum is below 1, a smaller sum
makes a larger alpha_t, which makes the sum smaller, until x = 0. Three measures, which are ours and not in the paper,
keep every word alive:
- x starts at the `num_start` nearest base words, in proportion to their cosines, with sum 1;
- alpha_t and beta_t are at most `cap`, so that x = 0 pushes a word back to any base word of cosine over cap / 2;
- a word that still ends up empty gets its nearest base word, scaled to its length; `rescued` counts these.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from fewwords.codes.atoms import Vectors, unit_vectors, usable_atoms
from fewwords.codes.objective import balanced_weight
from fewwords.codes.settings import AdamSettings
from fewwords.codes.sparse_codes import CodedBlock, SparseCodes, pack_codes
from fewwords.progress import Progress

# x, its gradient and Adam's two moments of one block take 64 MB over 8,000 base words.
WORDS_PER_BLOCK = 512


def solve_adam(
    base_vectors: Vectors,
    rare_vectors: Vectors,
    *,
    max_nonzeros: int | None,
    normalise: bool,
    num_special: int,
    settings: AdamSettings,
) -> tuple[SparseCodes, list[dict[str, float]], int]:
    """Code rare vectors [num_rare, E] over base vectors [num_base, E], both as `check_vectors` returns them.

    With `normalise` all vectors count as unit vectors; `max_nonzeros` keeps only the largest values at the end.
    Also returns the trace, means over all words of loss, sum and non-zeros (above the threshold) at intervals, and
    the number of words rescued from an empty code.
    """
    import torch

    rows = usable_atoms(base_vectors, num_special)
    unit_atoms, atom_lengths = unit_vectors(base_vectors[rows])
    atoms = torch.from_numpy(unit_atoms if normalise else base_vectors[rows])
    traced: dict[int, Any] = {}
    rescued = 0

    def coded_blocks() -> Iterator[CodedBlock]:
        nonlocal rescued
        work = len(rare_vectors) * settings.steps
        with Progress("codes (adam)", work, "words x steps") as progress:
            for start in range(0, len(rare_vectors), WORDS_PER_BLOCK):
                raw = rare_vectors[start : start + WORDS_PER_BLOCK]
                unit_words, word_lengths = unit_vectors(raw)
                words = torch.from_numpy(unit_words if normalise else raw)
                cosines = torch.from_numpy(unit_words) @ torch.from_numpy(unit_atoms).T
                x = _start(cosines, settings.num_start)
                for step, losses in _descend(x, atoms, words, settings):
                    if losses is not None:
                        means = torch.stack([losses.sum(), x.sum(), _above(x, settings.threshold).sum().float()])
                        traced[step] = traced.get(step, 0.0) + means.double().numpy()
                    progress.advance(len(words) if step else 0)
                dense = torch.where(_above(x, settings.threshold), x, 0.0).numpy()
                empty = np.flatnonzero(~dense.any(axis=1))
                rescued += len(empty)
                nearest = cosines.numpy()[empty].argmax(axis=1)
                dense[empty, nearest] = 1.0 if normalise else word_lengths[empty] / atom_lengths[nearest]
                order = np.argsort(-dense, axis=1, kind="stable")[:, :max_nonzeros]
                values = np.take_along_axis(dense, order, axis=1)
                yield rows[order], values, np.count_nonzero(values, axis=1).astype(np.int64)

    codes = pack_codes(coded_blocks(), len(base_vectors), {})
    names = ("loss", "sum", "nonzeros")
    trace = [
        {"step": step, **dict(zip(names, (sums / codes.num_rare).tolist(), strict=True))}
        for step, sums in sorted(traced.items())
    ]
    return codes, trace, rescued


def _start(cosines: Any, num_start: int) -> Any:
    """x [n, atoms]: the nearest atoms in proportion to their cosines, summing to 1."""
    import torch

    near, places = cosines.topk(min(num_start, cosines.shape[1]), dim=1)
    # A word with no atom within a right angle starts at its nearest atom.
    near = near.clamp(min=0.0)
    near[:, 0] = near[:, 0].clamp(min=1e-3)
    return torch.zeros_like(cosines).scatter_(1, places, near / near.sum(dim=1, keepdim=True))


def _above(x: Any, threshold: float) -> Any:
    """Which values of x [n, atoms] count: positive, and not below this share of their word's largest."""
    return (x >= threshold * x.amax(dim=1, keepdim=True)) & (x > 0)


def _descend(x: Any, atoms: Any, words: Any, settings: AdamSettings) -> Iterator[tuple[int, Any]]:
    """Run Adam on x [n, atoms] in place; yields each step, with the losses [n] before it where it is traced."""
    import torch

    optimiser = torch.optim.Adam([x], lr=settings.learning_rate, fused=True)
    for step in range(settings.steps + 1):
        losses, gradient = loss_and_gradient(x, atoms, words, settings)
        traced = step % settings.trace_every == 0 or step == settings.steps
        yield step, losses if traced else None
        if step == settings.steps:
            return
        x.grad = gradient
        optimiser.step()
        x.clamp_(min=0.0)


def loss_and_gradient(x: Any, atoms: Any, words: Any, settings: AdamSettings) -> tuple[Any, Any]:
    """L [n] of x [n, atoms], and the gradient [n, atoms] of L + alpha_t R1 + beta_t R2 with both weights held fixed.

    `atoms` is [atoms, E], `words` [n, E].
    """
    import torch

    residual = x @ atoms - words
    losses = residual.square().sum(dim=1)
    sums = x.sum(dim=1)
    alpha = balanced_weight(losses, sums, settings.w_alpha, settings.cap)
    beta = balanced_weight(losses, (sums - 1).abs(), settings.w_beta, settings.cap)
    # x >= 0, so the gradient of R1 is 1 and that of R2 the sign of the sum minus 1.
    penalty = alpha + beta * (sums - 1).sign()
    return losses, torch.addmm(penalty[:, None].expand_as(x), residual, atoms.T, alpha=2.0)
