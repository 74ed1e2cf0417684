"""The names of the normalisers, which settings can use without loading torch."""

from typing import Literal

NormaliserName = Literal["one", "constant", "z-regression"]
