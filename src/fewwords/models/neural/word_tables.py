"""The word table that a model's settings name, other than dense and coded ones."""

from fewwords.errors import InputError
from fewwords.layers.tables.adaptive import AdaptiveTable
from fewwords.layers.tables.hashed import HashedTable
from fewwords.layers.tables.low_rank import LowRankTable
from fewwords.layers.tables.quotient import QuotientTable
from fewwords.layers.tables.word_table import WordTable
from fewwords.models.neural.variants import ModelSettings, Storage


def make_table(settings: ModelSettings, storage: Storage, num_words: int, size: int) -> WordTable:
    """A new table of rows of `size` values for `num_words` words."""
    if storage == "low-rank" and settings.rank is not None:
        return LowRankTable(num_words, size, settings.rank)
    if storage == "hashed" and settings.num_buckets is not None:
        return HashedTable(num_words, size, _fewer(settings.num_buckets, num_words), settings.num_hashes or 2)
    if storage == "quotient" and settings.num_buckets is not None:
        buckets = _fewer(settings.num_buckets, num_words)
        return QuotientTable(num_words, size, buckets, product=settings.combination != "sum")
    if storage == "adaptive" and settings.band_words is not None and settings.band_ranks is not None:
        if sum(settings.band_words) >= num_words:
            raise InputError(f"`band_words` {settings.band_words}: choose fewer than the {num_words:,} words there are")
        return AdaptiveTable(num_words, size, settings.band_words, settings.band_ranks)
    raise InputError(f"{storage}: no word table")


def _fewer(num_buckets: int, num_words: int) -> int:
    if num_buckets >= num_words:
        raise InputError(f"`num_buckets` {num_buckets:,}: choose fewer than the {num_words:,} words there are")
    return num_buckets
