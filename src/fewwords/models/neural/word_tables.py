"""The word table that a model's settings name, other than dense and coded ones."""

from fewwords.errors import InputError
from fewwords.layers.tables.adaptive import AdaptiveTable
from fewwords.layers.tables.hashed import HashedTable
from fewwords.layers.tables.low_rank import LowRankTable
from fewwords.layers.tables.quotient import QuotientTable
from fewwords.layers.tables.word_table import WordTable
from fewwords.models.neural.variants import ModelSettings, Storage

DEFAULT_HASHES = 2


def make_table(settings: ModelSettings, storage: Storage, num_words: int, size: int) -> WordTable:
    """A new table of rows of `size` values for `num_words` words; raises InputError for one larger than the vocabulary."""
    _check(settings, num_words)
    buckets = settings.num_buckets or 0
    if storage == "low-rank":
        return LowRankTable(num_words, size, settings.rank or size)
    if storage == "hashed":
        return HashedTable(num_words, size, buckets, settings.num_hashes or DEFAULT_HASHES)
    if storage == "quotient":
        return QuotientTable(num_words, size, buckets, product=settings.combination != "sum")
    return AdaptiveTable(num_words, size, settings.band_words or (), settings.band_ranks or ())


def num_table_numbers(settings: ModelSettings, storage: Storage, num_words: int, size: int) -> int:
    """The numbers of that table, from its formula alone."""
    _check(settings, num_words)
    buckets = settings.num_buckets or 0
    if storage == "low-rank":
        return _low_rank_numbers(num_words, size, settings.rank or size)
    if storage == "hashed":
        return buckets * size + num_words * (settings.num_hashes or DEFAULT_HASHES)
    if storage == "quotient":
        return (buckets + -(-num_words // buckets)) * size
    band_words = settings.band_words or ()
    bands = zip((*band_words, num_words - sum(band_words)), settings.band_ranks or ())
    return sum(_low_rank_numbers(words, size, rank) for words, rank in bands)


def _low_rank_numbers(num_words: int, size: int, rank: int) -> int:
    return num_words * rank + (rank * size if rank < size else 0)


def _check(settings: ModelSettings, num_words: int) -> None:
    for name, count in (("num_buckets", settings.num_buckets or 0), ("band_words", sum(settings.band_words or ()))):
        if count >= num_words:
            raise InputError(f"`{name}` {count:,}: choose fewer than the {num_words:,} words there are")
