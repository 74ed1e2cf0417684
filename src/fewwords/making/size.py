"""The model that is made for a size in megabytes: vocabulary, base, codes and LSTM that fit it in 4 bits or more.

`SHAPES` goes from large to small; the first that fits is taken, and the packer then uses as many bits as fit. The sizes
are arithmetic, checked against packed models of 50,000 words. The shapes of 1, 2 and 3.1 MB are the best that the frontier has
found (results/frontier.md: 20 M words, 106.1, 92.2 and 88.9); the others lie between or below them and are not measured.
"""

import math
from dataclasses import dataclass

from fewwords.errors import InputError
from fewwords.packing.make_parts import head_rows
from fewwords.packing.quantise import num_groups
from fewwords.packing.recipe import TRAINED
from fewwords.vocabulary import NUM_SPECIAL

SPARE = 0.02  # of the size, for what the arithmetic does not know
_BYTES_PER_WORD = 4.2  # letters and rank: 3.9 among 50,000 words of enwiki
_HEADER = 8_000  # the card and what the model was made from are most of it
_SCALE_BITS = 6
MAX_NONZEROS = 8  # of a code; frequent words get more of them than rare ones


@dataclass(frozen=True)
class Shape:
    """What decides the size of a packed model; `size` is that of a row of the table and of the LSTM's state."""

    vocabulary_size: int
    base_size: int
    mean_nonzeros: float
    size: int
    cell_size: int | None = None

    @property
    def told(self) -> str:
        """The LSTM and the codes in words."""
        cells = "" if self.cell_size is None else f" and {self.cell_size} cells"
        return f"vectors of {self.size} values{cells}, codes of {self.mean_nonzeros:g} base words on average"


SHAPES = (
    Shape(50_000, 16_000, 5, 200, 800),
    Shape(50_000, 11_500, 5, 200, 600),
    Shape(50_000, 7_000, 4, 200, 600),
    Shape(50_000, 6_000, 4, 200, 400),
    Shape(50_000, 4_000, 3, 200, 400),
    Shape(50_000, 4_000, 2, 128, 400),
    Shape(50_000, 2_000, 2, 128, 300),
    Shape(30_000, 2_000, 2, 128, 300),
    Shape(20_000, 2_000, 2, 128, 256),
    Shape(20_000, 2_000, 2, 100),
    Shape(10_000, 1_000, 2, 100),
    Shape(5_000, 1_000, 2, 50),
    Shape(2_000, 500, 2, 50),
)


def packed_bytes(shape: Shape) -> float:
    """About how many bytes a model of a shape has after a last stretch with weights of 4 bits, words included."""
    recipe = TRAINED
    words, rows, size = shape.vocabulary_size, shape.base_size + NUM_SPECIAL, shape.size
    cells = shape.cell_size or size
    num_nonzeros = shape.mean_nonzeros * (words - rows)
    length_bits = MAX_NONZEROS.bit_length() if shape.mean_nonzeros < MAX_NONZEROS else 0
    # the gaps between the base words of a code, in Rice's code
    index_bits = math.log2(max(2, rows / shape.mean_nonzeros)) + 1.5
    parts = [
        _matrix_bits(rows, size, recipe.tables)
        + head_rows(rows, recipe) * size * recipe.tables,  # which have twice the bits
        2 * _matrix_bits(4 * cells, size, recipe.encoder),
        _matrix_bits(size, cells, recipe.encoder) if shape.cell_size else 0.0,
        8 * cells * 9,  # two bias vectors in 8 bits with their blocks
        num_nonzeros * (index_bits + recipe.values),
        words * (recipe.biases + 1) + length_bits * (words - rows),
    ]
    return sum(parts) / 8 + _BYTES_PER_WORD * words + _HEADER


def _matrix_bits(rows: int, columns: int, bits: int) -> float:
    return rows * (columns * bits + num_groups(columns, bits) * _SCALE_BITS)


def choose_shape(size_mb: float, most_words: int, vocabulary_size: int | None, base_size: int | None) -> Shape:
    """The first shape that fits into `size_mb`, of a text with `most_words` words worth having; what is given stays.

    Raises InputError if not even the smallest fits.
    """
    tried = []
    for shape in SHAPES:
        words = vocabulary_size or min(shape.vocabulary_size, most_words)
        base = base_size or max(1, min(shape.base_size, (words - NUM_SPECIAL) // 3))
        fitted = Shape(words, base, min(shape.mean_nonzeros, base), shape.size, shape.cell_size)
        tried.append(packed_bytes(fitted))
        if tried[-1] <= (1 - SPARE) * 1e6 * size_mb:
            return fitted
    least = min(tried) / (1 - SPARE) / 1e6
    raise InputError(
        f"`size_mb` {size_mb:g}: the smallest model of this text has about {least:.2f} MB; allow that much"
    )
