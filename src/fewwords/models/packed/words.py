"""The words of a vocabulary in a file: sorted, front-coded and deflated, with the rank of each.

Of each word, in the order of code points, there is the number of bytes that it shares with the word before, and the
rest of its UTF-8. Both lists are deflated (raw, as in RFC 1951), the rests separated by line ends. Special words are
left out. Inflation is bounded, so that a small file cannot fill the memory.
"""

import zlib
from collections.abc import Mapping
from operator import lt

import numpy as np

from fewwords.errors import InputError
from fewwords.models.packed.bits import Bytes, pack, unpack
from fewwords.vocabulary import NUM_SPECIAL, SPECIAL_WORDS, Vocabulary

LONGEST = 255  # bytes of a word that can be shared
_SPECIAL_BYTES = {word.encode() for word in SPECIAL_WORDS}


def rank_width(num_words: int) -> int:
    """The bits of a rank, which is counted from the first word that is not special."""
    return max(1, (num_words - NUM_SPECIAL - 1).bit_length())


def most_bytes(num_words: int) -> int:
    """The bytes that so many words may have together: 64 in the mean, and some more if there are few."""
    return 64 * num_words + 4096


def encode_words(vocabulary: Vocabulary) -> dict[str, Bytes]:
    """The arrays `shared`, `rests` and `ranks`; raises InputError for words that no reader would take."""
    order = vocabulary.alphabetical
    words = [vocabulary.words[rank].encode() for rank in order.tolist()]
    if sum(len(word) + 1 for word in words) > most_bytes(len(words)):
        raise InputError("the words of the vocabulary are too long to be packed: over 64 bytes in the mean")
    shared = [_num_shared(*pair) for pair in zip([b"", *words], words)]
    rests = b"\n".join(word[keep:] for word, keep in zip(words, shared))
    return {
        "shared": _deflate(bytes(shared)),
        "rests": _deflate(rests),
        "ranks": pack(order - NUM_SPECIAL, rank_width(len(vocabulary))),
    }


def _num_shared(before: bytes, word: bytes) -> int:
    differs = (place for place, (one, other) in enumerate(zip(before, word)) if one != other)
    return min(LONGEST, next(differs, min(len(before), len(word))))


def decode_words(arrays: Mapping[str, Bytes], num_words: int) -> Vocabulary:
    """The vocabulary, without counts (all are 0); raises InputError for arrays that are not `num_words` words."""
    count = num_words - NUM_SPECIAL
    ranks = unpack(arrays["ranks"], rank_width(num_words), count).astype(np.int64)
    if (np.bincount(ranks, minlength=count) != 1).any():
        raise InputError("the ranks of its words are not those of a vocabulary")
    shared = _inflate(arrays["shared"], count)
    rests = _inflate(arrays["rests"], most_bytes(count)).split(b"\n") if count else []
    if len(shared) != count or len(rests) != count:
        raise InputError(f"it does not have {num_words:,} words")
    words = np.empty(count, object)
    words[ranks] = _join(shared, rests)
    vocabulary = Vocabulary([*SPECIAL_WORDS, *words], np.zeros(num_words, np.int64))
    vocabulary.__dict__["alphabetical"] = ranks + NUM_SPECIAL  # what the property would sort for
    return vocabulary


def _join(shared: bytes, rests: list[bytes]) -> list[str]:
    """The words in the order of code points."""
    kept = np.frombuffer(shared, np.uint8).astype(np.int64)
    lengths = kept + np.fromiter(map(len, rests), np.int64, len(rests))
    if (kept > np.concatenate([[0], lengths[:-1]])).any() or lengths.sum() > most_bytes(len(rests)):
        raise InputError("its words are too long, or share more than there is")
    words, word = [], b""
    for keep, rest in zip(shared, rests):
        word = word[:keep] + rest
        words.append(word)
    if not all(map(lt, words, words[1:])) or not all(words[:1]) or not set(words).isdisjoint(_SPECIAL_BYTES):
        raise InputError("its words do not ascend, or one is empty or special")
    try:
        return b"\n".join(words).decode().split("\n") if words else []
    except UnicodeDecodeError:
        raise InputError("its words are not UTF-8") from None


def _deflate(data: bytes) -> Bytes:
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9)
    return np.frombuffer(squeezer.compress(data) + squeezer.flush(), np.uint8)


def _inflate(data: Bytes, most: int) -> bytes:
    """The inflated data, which must end with their stream and have at most `most` bytes."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        found = inflater.decompress(data.tobytes(), max(1, most))
        rest = inflater.decompress(inflater.unconsumed_tail, 1) if not inflater.eof else b""
    except zlib.error:
        raise InputError("its words cannot be inflated") from None
    if rest or not inflater.eof or inflater.unused_data:
        raise InputError("its words cannot be inflated, or are too long")
    return found
