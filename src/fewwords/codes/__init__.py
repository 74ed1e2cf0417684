"""Rare words as a few common ones (section 3.1): each a sparse, non-negative combination of base words.

`solve_codes` makes codes from word vectors, by the exact solver or by the paper's; `SparseCodes` holds them;
`random_codes` and `nearest_codes` are controls. Importing this loads neither torch, scipy nor numba.
"""

from typing import TYPE_CHECKING

from fewwords.lazy import lazy_names

if TYPE_CHECKING:
    from fewwords.codes.controls import nearest_codes as nearest_codes
    from fewwords.codes.controls import random_codes as random_codes
    from fewwords.codes.settings import CodingSettings as CodingSettings
    from fewwords.codes.solve import CodingTrace as CodingTrace
    from fewwords.codes.solve import solve_codes as solve_codes
    from fewwords.codes.sparse_codes import SparseCodes as SparseCodes

__getattr__ = lazy_names(
    __name__,
    {
        "CodingSettings": "settings",
        "CodingTrace": "solve",
        "SparseCodes": "sparse_codes",
        "nearest_codes": "controls",
        "random_codes": "controls",
        "solve_codes": "solve",
    },
)
