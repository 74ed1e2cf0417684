"""Rare words in a few common ones (section 3.1): each a sparse, non-negative combination of base words.

`solve_codes` makes codes from word vectors, by the exact solver or by the paper's; `SparseCodes` holds them;
`random_codes` and `nearest_codes` are controls. Importing this loads neither torch, scipy nor numba.
"""

from fewwords.codes.controls import nearest_codes, random_codes
from fewwords.codes.solve import CodingTrace, solve_codes
from fewwords.codes.sparse_codes import SparseCodes

__all__ = ["CodingTrace", "SparseCodes", "nearest_codes", "random_codes", "solve_codes"]
