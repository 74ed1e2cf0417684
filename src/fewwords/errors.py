"""The exception for what a user can fix: bad input, a wrong setting, a missing file; and that of a diverged training.

An `InputError` is a single line that names the file, the place and the remedy. Settings are named in backticks by their Python
names (`max_words`), and a remedy that is a stage of the pipeline is a `Stage`, so that the command line can show both as they
are typed there. The command line prints the line and exits with code 2; from Python it is an ordinary exception.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Union

LONGEST = 1000  # characters of a problem
# How each stage is called from Python, and what it needs first.
_CALLS = {"prepare": ("prepare", "sources"), "vectors": ("make_vectors",), "codes": ("make_codes",)}


class Stage:
    """A stage to run, with some of its arguments by their Python names; those that are None are left out."""

    def __init__(self, name: str, **arguments: Any) -> None:
        self.name = name
        self.arguments = {
            key: str(value) if isinstance(value, Path) else value
            for key, value in arguments.items()
            if value is not None
        }

    def __str__(self) -> str:
        function, *needed = _CALLS[self.name]
        return (
            f"fewwords.{function}({', '.join([*needed, *(f'{key}={arg!r}' for key, arg in self.arguments.items())])})"
        )


Remedy = Union[str, Stage]


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, where and what to do.

    `remedy` is what to do, unless `problem` says it already: a phrase, a stage to run, or a tuple of such alternatives.
    """

    def __init__(self, problem: str, *, remedy: Remedy | tuple[Remedy, ...] = ()) -> None:
        super().__init__(problem)
        self.problem = _one_line(problem)
        self.remedies = remedy if isinstance(remedy, tuple) else (remedy,)

    def message(self, show_stage: Callable[[Stage], str] = str) -> str:
        """The whole line, with stages shown as Python calls or in another way."""
        remedies = [f"run {show_stage(each)}" if isinstance(each, Stage) else each for each in self.remedies]
        return f"{self.problem}; {', or '.join(remedies)}" if remedies else self.problem

    def __str__(self) -> str:
        return self.message()


def _one_line(problem: str) -> str:
    """A problem without line ends, and without the middle of a long one: it may quote a file."""
    line = " ".join(problem.splitlines())
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"


class DivergedError(Exception):
    """Training diverged. Nothing is wrong with the input, so the command line exits with 1.

    The message says what was kept and what to try; `summary` is that of the weights that were kept, if there are any.
    """

    def __init__(self, message: str, summary: Any = None) -> None:
        super().__init__(message)
        self.summary = summary
