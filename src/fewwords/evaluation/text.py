"""Sentences to evaluate on: a prepared part, raw text of any kind that `prepare` reads, or tokenised text, a sentence a line.

Raw text is decompressed, recognised, cleaned, split and folded by the code of `prepare`, with the settings of the corpus that the
model was trained on; but every sentence is kept, whatever its length. The characters of a sentence are those of its words
joined by single blanks, and one for its end.
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
        """The characters of the words, the blanks between them, and the line end."""
        return sum(map(len, self.words)) + len(self.words)


def read_part(
    corpus: TokenCorpus, part: PartName, vocabulary: Vocabulary, max_words: int | None = None
) -> Iterator[TextSentence]:
    """The first sentences of a part that have at most `max_words` words together, but one at least.

    Raises InputError when the words of the corpus are not the model's, or the part is empty.
    """
    size = len(vocabulary)
    if corpus.num_types < size:
        head_fits = False
    else:
        words = Vocabulary.load(corpus.folder / "words.tsv", size)
        head_fits = words.fingerprint == vocabulary.fingerprint
    if not head_fits:
        raise InputError(
            f"{corpus.folder}: its first {size:,} words are not the model's vocabulary; give the work folder that the model "
            "was trained in, or a text"
        )
    sentences = corpus.part(part, size).head(max_words).sentences()
    return (TextSentence(vocabulary.decode(ids), ids) for ids in sentences)


def read_sentences(
    source: Source, vocabulary: Vocabulary, rules: TextRules, *, tokenized: bool = False, max_words: int | None = None
) -> Iterator[TextSentence]:
    """The first sentences of a source that have at most `max_words` words together, but one at least.

    Raises InputError when the source is empty, damaged, no text, or holds no words.
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
    _tell(source, segmenter)
    if not num_words:
        raise InputError(f"{source.name}: no words at all; check that this is text")


def _tell(source: Source, segmenter: Segmenter) -> None:
    if invalid := segmenter.tally.invalid_bytes[source.name]:
        say(f"{source.name}: {invalid:,} invalid UTF-8 sequences were replaced")
    if overlong := segmenter.tally.sentences[OVERLONG]:
        say(f"{source.name}: {overlong:,} sentences with a word of over 255 characters were left out")
