"""From word vectors to sparse codes (section 3.1), by either solver.

Row i of the vectors is the vector of the word of rank i: special words first, then the other base words, then the
rare words, which are coded. `exact` gives the best non-negative weights directly; `adam` is the paper's way.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from fewwords.codes.atoms import check_vectors
from fewwords.codes.sparse_codes import SparseCodes
from fewwords.cores import available_cores
from fewwords.errors import InputError

if TYPE_CHECKING:
    from fewwords.codes.adam import AdamSettings

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
    *,
    solver: Literal["exact", "adam"] = "exact",
    max_nonzeros: int | None = 8,
    sum_to_one: bool = False,
    normalise: bool = True,
    tolerance: float = 1e-4,
    jobs: int | None = None,
    num_special: int = 3,
    adam: "AdamSettings | None" = None,
    made_from: Mapping[str, Any] | None = None,
) -> tuple[SparseCodes, CodingTrace]:
    """Code the words from row num_base on of vectors [V, E] over the first num_base rows, special words included.

    With `normalise` the codes reproduce unit vectors from unit vectors. `max_nonzeros` None sets no limit, `jobs`
    None uses all cores; `adam` holds that solver's settings. `made_from` is kept with the codes, beside the settings.
    Raises InputError for vectors or settings that cannot be used.
    """
    if max_nonzeros is not None and max_nonzeros < 1:
        raise InputError(f"at most {max_nonzeros} non-zeros a word: give at least 1")
    if not SMALLEST_TOLERANCE <= tolerance < 1:
        raise InputError(f"tolerance {tolerance}: give {SMALLEST_TOLERANCE} or more, and less than 1")
    if jobs is not None and jobs < 1:
        raise InputError(f"{jobs} jobs: give at least 1")
    if solver == "adam" and sum_to_one:
        raise InputError("solver adam: its sum is a matter of the objective; sum-to-one belongs to the exact solver")
    checked = check_vectors(vectors, num_base, num_special)
    base, rare = checked[:num_base], checked[num_base:]
    settings: dict[str, Any] = {"solver": solver, "max_nonzeros": max_nonzeros, "normalise": normalise}
    started = time.monotonic()
    if solver == "exact":
        from fewwords.codes.exact import solve_exact

        codes, endings = solve_exact(
            base,
            rare,
            max_nonzeros=max_nonzeros,
            sum_to_one=sum_to_one,
            normalise=normalise,
            tolerance=tolerance,
            jobs=jobs or available_cores(),
            num_special=num_special,
        )
        settings |= {"sum_to_one": sum_to_one, "tolerance": tolerance}
        steps: list[dict[str, float]] = []
    elif solver == "adam":
        from fewwords.codes.adam import AdamSettings, solve_adam

        adam = adam or AdamSettings()
        codes, steps, rescued = solve_adam(
            base, rare, max_nonzeros=max_nonzeros, normalise=normalise, num_special=num_special, settings=adam
        )
        settings |= {"adam": asdict(adam)}
        endings = {"rescued": rescued}
    else:
        raise InputError(f"solver {solver}: there are exact and adam")
    settings |= {"num_special": num_special, "endings": endings}
    codes.made_from.update(settings, **(made_from or {}))
    return codes, CodingTrace(solver, time.monotonic() - started, endings, steps)
