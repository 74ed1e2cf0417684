"""The token store: one memory-mapped file per part, tokens by rank with the offsets of the sentences.

The bytes are those of a safetensors file with two tensors, `tokens` (uint32, one rank per word) and `offsets` (int64,
where each sentence starts, and the end), so any safetensors reader can open it. `TokenWriter`, which knows the sizes in
advance, writes it in one pass; `TokenFile` reads it without loading it.
"""

import json
import os
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fewwords.errors import InputError, Stage
from fewwords.store.files import check_file
from fewwords.store.json_text import parse_json


class TokenWriter:
    """Writes `num_words` tokens and `num_sentences` sentences, in order, with bounded memory; a context manager."""

    def __init__(self, path: Path, num_words: int, num_sentences: int) -> None:
        self._path = path
        tokens_end = -(-num_words // 2) * 8  # offsets start at a multiple of eight bytes
        offsets_end = tokens_end + 8 * (num_sentences + 1)
        layout: dict[str, Any] = {
            "tokens": {"dtype": "U32", "shape": [tokens_end // 4], "data_offsets": [0, tokens_end]},
            "offsets": {"dtype": "I64", "shape": [num_sentences + 1], "data_offsets": [tokens_end, offsets_end]},
            "__metadata__": {"num_words": str(num_words)},
        }
        header = json.dumps(layout).encode()
        header += b" " * (-len(header) % 8)
        self._header = len(header).to_bytes(8, "little") + header
        self._tokens_end = tokens_end
        self._num_words = num_words
        self._num_sentences = num_sentences
        self._words_written = 0
        self._sentences_written = 0

    def __enter__(self) -> "TokenWriter":
        self._tokens: IO[bytes] = self._path.open("wb")
        self._tokens.write(self._header)
        self._tokens.flush()
        self._offsets: IO[bytes] = self._path.open("r+b")
        self._offsets.seek(len(self._header) + self._tokens_end)
        self._offsets.write(bytes(8))
        return self

    def append(self, tokens: NDArray[np.uint32], lengths: NDArray[np.int64]) -> None:
        """Add sentences: their tokens one after another, and the length of each."""
        self._tokens.write(np.ascontiguousarray(tokens, dtype="<u4").data)
        ends = self._words_written + np.cumsum(lengths, dtype="<i8")
        self._offsets.write(ends.data)
        self._words_written += len(tokens)
        self._sentences_written += len(lengths)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and self._words_written % 2:
            self._tokens.write(bytes(4))
        for file in (self._tokens, self._offsets):
            if error is None:
                file.flush()
                os.fsync(file.fileno())
            file.close()
        if error is None and (self._words_written, self._sentences_written) != (self._num_words, self._num_sentences):
            raise RuntimeError(f"{self._path}: {self._words_written} words written, {self._num_words} announced")


class TokenFile:
    """A token store opened for reading: `tokens` [num_words] uint32 and `offsets` [num_sentences + 1] int64, mapped."""

    def __init__(self, path: Path) -> None:
        check_file(path, Stage("prepare", force=True))
        try:
            with path.open("rb") as file:
                header_length = int.from_bytes(file.read(8), "little")
                if not 2 <= header_length <= 1 << 16:
                    raise ValueError("no header")
                layout = parse_json(file.read(header_length))
            start = 8 + header_length
            tokens_start, tokens_end = layout["tokens"]["data_offsets"]
            offsets_start, offsets_end = layout["offsets"]["data_offsets"]
            if path.stat().st_size != start + offsets_end:
                raise ValueError(f"{path.stat().st_size:,} bytes instead of {start + offsets_end:,}")
            num_words = int(layout["__metadata__"]["num_words"])
            data = np.memmap(path, dtype=np.uint8, mode="r", offset=0)[start:]
            self.tokens: NDArray[np.uint32] = data[tokens_start:tokens_end].view("<u4")[:num_words]
            self.offsets: NDArray[np.int64] = data[offsets_start:offsets_end].view("<i8")
            if len(self.tokens) != num_words or not len(self.offsets) or self.offsets[-1] != num_words:
                raise ValueError("its tokens and offsets do not match")
            if self.offsets[0] != 0 or np.any(self.offsets[1:] < self.offsets[:-1]):
                raise ValueError("its offsets do not rise from 0")
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}: not a complete token file ({error})", remedy=Stage("prepare", force=True)
            ) from None

    def head(self, num_sentences: int) -> "TokenFile":
        """The first sentences, sharing the memory map."""
        head = copy(self)
        head.offsets = self.offsets[: num_sentences + 1]
        head.tokens = self.tokens[: int(head.offsets[-1])]
        return head

    def tail(self, num_sentences: int) -> "TokenFile":
        """All but the first sentences, sharing the memory map."""
        tail = copy(self)
        first = int(self.offsets[num_sentences])
        tail.offsets = self.offsets[num_sentences:] - first
        tail.tokens = self.tokens[first:]
        return tail

    @property
    def num_words(self) -> int:
        """Running words."""
        return len(self.tokens)

    @property
    def num_sentences(self) -> int:
        """Sentences."""
        return len(self.offsets) - 1
