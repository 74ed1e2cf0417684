"""The names of Kneser-Ney models: `kn` and the length of their longest n-grams."""

import re

NAMES = ("kn2", "kn3", "kn4", "kn5")


def order_of(name: str) -> int | None:
    """The order of the Kneser-Ney model of that name; None for another kind of model."""
    match = re.fullmatch(r"kn([1-9]\d*)", name)
    return int(match[1]) if match else None
