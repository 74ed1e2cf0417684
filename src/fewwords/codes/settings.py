"""The settings of the coding (section 3.1): the solver, the base words allowed per word, the paper's Adam."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from fewwords.errors import InputError
from fewwords.option import Option, check_choices

DEFAULT_BASE_SIZE = 8000

SolverName = Literal["exact", "adam"]


@dataclass(frozen=True)
class AdamSettings:
    """The paper's settings (w_alpha, w_beta, threshold), and those it leaves open."""

    steps: Annotated[int, Option("Steps of adam.")] = 800
    learning_rate: Annotated[float, Option("Learning rate of adam.")] = 0.001
    w_alpha: float = 1.0
    w_beta: float = 0.1
    threshold: float = 0.015
    cap: float = 0.1
    num_start: int = 32
    trace_every: int = 50


@dataclass(frozen=True)
class CodingSettings:
    """How rare words are coded; raises InputError for values that cannot be used. `max_nonzeros` None sets no limit.

    With `mean_nonzeros` frequent words have more of them than rare ones, up to `max_nonzeros`, and as many on average.
    """

    solver: Annotated[
        SolverName, Option("exact: the best weights by an active set; adam: the paper's optimisation.")
    ] = "exact"
    max_nonzeros: Annotated[int | None, Option("Common words in a code, at most; 0 sets no limit.")] = 8
    mean_nonzeros: Annotated[
        float | None,
        Option("Common words in a code, on average; frequent words get more of them.", default="as many for all words"),
    ] = None
    sum_to_one: Annotated[bool, Option("Weights that sum to 1 (exact solver).")] = False
    adam: AdamSettings = field(default_factory=AdamSettings)

    def __post_init__(self) -> None:
        check_choices(self)
        if self.max_nonzeros is not None and self.max_nonzeros < 1:
            raise InputError(f"`max_nonzeros` {self.max_nonzeros}: give at least 1")
        if self.mean_nonzeros is not None:
            if self.max_nonzeros is None or not 1 <= self.mean_nonzeros <= self.max_nonzeros:
                told = (
                    "a limit, `max_nonzeros`"
                    if self.max_nonzeros is None
                    else f"1 to {self.max_nonzeros}, which is `max_nonzeros`"
                )
                raise InputError(f"`mean_nonzeros` {self.mean_nonzeros:g}: give {told}")
            if self.solver == "adam":
                raise InputError("`mean_nonzeros` is for the exact solver: leave it out, or choose exact")
        if self.solver == "adam" and self.sum_to_one:
            raise InputError(
                "`sum_to_one` is for the exact solver; with adam the objective decides the sum: leave it out"
            )
