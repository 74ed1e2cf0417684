"""How many bits each part of a packed model has: a value, from the best to the smallest."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """The bits of a weight in embedding and output, of one in the encoder, of a code's value and of a bias.

    The rows of the `head` most frequent words have 8 bits in any case: they are half of all predictions, and few.
    """

    tables: int
    encoder: int
    values: int
    biases: int
    head: int = 0


RECIPES = {8: Recipe(8, 8, 6, 8), 4: Recipe(4, 4, 3, 6, 512)}
# Of a model that was trained with rounded weights, which needs fewer rows of 8 bits.
TRAINED = Recipe(4, 4, 3, 5, 128)
# From the best to the smallest, for a size that is asked for.
LADDER = (
    RECIPES[8],
    Recipe(4, 8, 4, 8, 1024),
    Recipe(4, 4, 4, 6, 512),
    RECIPES[4],
    Recipe(4, 4, 3, 6, 256),
    TRAINED,
    Recipe(4, 4, 3, 5, 64),
    Recipe(4, 4, 2, 5, 0),
)
ENCODER_BIASES = 8
