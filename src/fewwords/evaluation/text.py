"""Sentences to evaluate on: a prepared part, raw text as `prepare` reads it, or tokenised text, one sentence per line.

Raw text is decompressed, recognised, cleaned, split and folded by the code of `prepare`, with the text rules of the
model; but every sentence is kept, whatever its length. The characters of a sentence are those of its words joined by
single spaces, and one for its end.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fewwords.corpus.token_corpus import PartName, TokenCorpus
from fewwords.errors import InputError
from fewwords.models.model import Sentence
from fewwords.progress import say
from fewwords.text.decompress import decompress
from fewwords.text.formats import BlockReader
from fewwords.text.rules import TextRules
from fewwords.text.segment import OVERLONG, Segmenter
from fewwords.text.sources import Source
from fewwords.vocabulary import Vocabulary

_MOST_TYPES = 1_000_000


@dataclass(frozen=True)
class TextSentence:
    """A sentence's words as they were, folded as the corpus was, and their ids [length]."""

    words: list[str]
    ids: Sentence

    @property
    def num_characters(self) -> int:
        """The characters of the words, the spaces between them, and the line end."""
        return sum(map(len, self.words)) + len(self.words)


def read_part(
    corpus: TokenCorpus, part: PartName, vocabulary: Vocabulary, max_words: int | None = None
) -> Iterator[TextSentence]:
    """The first sentences of a part with at most `max_words` words in total, but at least one.

    Raises InputError if the words of the corpus are not the model's, or the part is empty.
    """
    size = len(vocabulary)
    head = Vocabulary.load(corpus.folder / "words.tsv", size)
    if head.fingerprint != vocabulary.fingerprint:
        raise InputError(
            f"{corpus.folder}: its first {size:,} words are not the model's vocabulary; give the work folder that the model "
            "was trained in, or a text"
        )
    sentences = corpus.part(part, size).head(max_words).sentences()
    return (TextSentence(vocabulary.decode(ids), ids) for ids in sentences)


def read_sentences(
    source: Source, vocabulary: Vocabulary, rules: TextRules, *, tokenized: bool = False, max_words: int | None = None
) -> Iterator[TextSentence]:
    """The first sentences of a source with at most `max_words` words in total, but at least one.

    Raises InputError if the source is empty, damaged, not text, or has no words.
    """
    _, pieces = decompress(source.chunks(), source.name)
    segmenter = Segmenter(rules)
    num_words = 0
    for block in BlockReader(source.name, pieces, tokenized).blocks(0):
        tokens, lengths = segmenter.segment(block)
        words = segmenter.lexicon.decode(tokens)
        ids = np.array(vocabulary.encode(words), dtype=np.int64)
        start = 0
        for length in lengths:
            if max_words is not None and num_words and num_words + length > max_words:
                return
            num_words += length
            yield TextSentence(words[start : start + length], ids[start : start + length])
            start += length
        if len(segmenter.lexicon) > _MOST_TYPES:
            segmenter.forget()
    _report_replaced(source, segmenter)
    if not num_words:
        raise InputError(f"{source.name}: no words at all; check that this is text")


def _report_replaced(source: Source, segmenter: Segmenter) -> None:
    if invalid := segmenter.tally.invalid_bytes[source.name]:
        say(f"{source.name}: {invalid:,} invalid UTF-8 sequences were replaced")
    if overlong := segmenter.tally.sentences[OVERLONG]:
        say(f"{source.name}: {overlong:,} sentences with a word of over 255 characters were left out")
