"""From word vectors to sparse codes (section 3.1), by either solver.

Row i of the vectors is the vector of the word of rank i: special words first, then the other base words, then the
rare words, which are coded. `exact` finds the best non-negative weights directly; `adam` is the paper's method.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.codes.allocation import choose_codes, lengths_up_to
from fewwords.codes.atoms import check_vectors, unit_rows
from fewwords.codes.objective import fitting_loss
from fewwords.codes.settings import CodingSettings
from fewwords.codes.sparse_codes import SparseCodes
from fewwords.cores import available_cores
from fewwords.errors import InputError

# Below this the rounding of float32 vectors is larger than the tolerance.
SMALLEST_TOLERANCE = 1e-6


@dataclass(frozen=True)
class CodingTrace:
    """How the coding went.

    `endings` counts words: for `exact` optimal, limited, without_neighbour and unfinished, for `adam` rescued.
    `steps` holds the means of loss, sum and non-zeros at intervals, for `adam` only.
    """

    solver: str
    seconds: float
    endings: dict[str, int]
    steps: list[dict[str, float]] = field(default_factory=list)


def solve_codes(
    vectors: NDArray[Any],
    num_base: int,
    settings: CodingSettings | None = None,
    *,
    normalise: bool = True,
    tolerance: float = 1e-4,
    jobs: int | None = None,
    num_special: int = 3,
    counts: NDArray[Any] | None = None,
    made_from: Mapping[str, Any] | None = None,
) -> tuple[SparseCodes, CodingTrace]:
    """Code the words from row num_base on of vectors [V, E] over the first num_base rows, special words included.

    With `normalise` the codes reproduce unit vectors from unit vectors. `jobs` None uses all cores. `counts` [V] say
    which words deserve more non-zeros, where the settings have a mean; without them all count alike. `made_from` is
    stored with the codes, beside the settings. Raises InputError for vectors or settings that cannot be used.
    """
    settings = settings or CodingSettings()
    if not SMALLEST_TOLERANCE <= tolerance < 1:
        raise InputError(f"`tolerance` {tolerance}: give {SMALLEST_TOLERANCE} or more, and less than 1")
    if jobs is not None and jobs < 1:
        raise InputError(f"`jobs` {jobs}: give at least 1")
    checked = check_vectors(vectors, num_base, num_special)
    base, rare = checked[:num_base], checked[num_base:]
    record: dict[str, Any] = {
        "solver": settings.solver,
        "max_nonzeros": settings.max_nonzeros,
        "normalise": normalise,
    }
    started = time.monotonic()
    if settings.solver == "exact":
        from fewwords.codes.exact import solve_exact

        mean, limit = settings.mean_nonzeros, settings.max_nonzeros
        solved = [
            solve_exact(
                base,
                rare,
                max_nonzeros=most,
                sum_to_one=settings.sum_to_one,
                normalise=normalise,
                tolerance=tolerance,
                jobs=jobs or available_cores(),
                num_special=num_special,
            )
            for most in ([limit] if mean is None or limit is None or mean >= limit else lengths_up_to(limit))
        ]
        codes, endings = solved[-1]
        if mean is not None:
            fitted = unit_rows(checked) if normalise else checked
            losses = np.stack([fitting_loss(each, fitted[:num_base], fitted[num_base:]) for each, _ in solved])
            weights = np.ones(len(rare)) if counts is None else np.asarray(counts, np.float64)[num_base:]
            codes = choose_codes([each for each, _ in solved], losses, weights, mean)
            record |= {"mean_nonzeros": mean}
        record |= {"sum_to_one": settings.sum_to_one, "tolerance": tolerance}
        steps: list[dict[str, float]] = []
    else:
        from fewwords.codes.adam import solve_adam

        codes, steps, rescued = solve_adam(
            base,
            rare,
            max_nonzeros=settings.max_nonzeros,
            normalise=normalise,
            num_special=num_special,
            settings=settings.adam,
        )
        record |= {"adam": asdict(settings.adam)}
        endings = {"rescued": rescued}
    record |= {"num_special": num_special, "endings": endings}
    codes.made_from.update(record, **(made_from or {}))
    return codes, CodingTrace(settings.solver, time.monotonic() - started, endings, steps)
