"""How the loops of this package are compiled: once, cached on disk, without the interpreter lock."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function of arrays and numbers when it is first called."""
    return cast(Function, numba.njit(nogil=True, cache=True, error_model="numpy")(function))
