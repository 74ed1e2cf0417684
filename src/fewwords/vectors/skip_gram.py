"""Skip-gram with negative sampling over the training part (section 3.1, "true embeddings by word2vec").

Gensim trains from a file, in threads without the interpreter's lock. It gets the text in slices of about a million
words, each written to a temporary file as ids of equal width and trained on once; the learning rate falls linearly over
all slices of all epochs. So there is progress within an epoch, and the disk holds one slice (about 10 MB) at a time.
Words outside the vocabulary, and `<unk>`, are skipped as in word2vec: the window reaches across them.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords import __version__
from fewwords.corpus.token_corpus import Part, TokenCorpus
from fewwords.errors import InputError
from fewwords.progress import Progress, say
from fewwords.store.folders import scratch_folder
from fewwords.vectors.health import measure_health, plural_pairs
from fewwords.vectors.settings import DEFAULT_VOCABULARY_SIZE, SkipGramSettings
from fewwords.vectors.word_vectors import WordVectors
from fewwords.vocabulary import NUM_SPECIAL, Vocabulary

SLICE_WORDS = 1_000_000
# Gensim prepares its word table again for every slice, which must stay a small share of the work.
SLICE_WORDS_PER_TYPE = 20
# A thread trains on at least its share of a slice, rounded up to ten thousand words; small slices take fewer threads.
WORDS_PER_THREAD = 100_000


@dataclass(frozen=True)
class _Slice:
    first_sentence: int
    last_sentence: int
    num_words: int


def train_skip_gram(
    corpus: TokenCorpus, settings: SkipGramSettings | None = None, *, vocabulary_size: int | None = None
) -> WordVectors:
    """Vectors for the first `vocabulary_size` words (default: 100,000, or all if fewer).

    A word that never had a neighbour in training has no vector. Raises InputError for settings that do not fit the
    corpus.
    """
    settings = settings or SkipGramSettings()
    vocabulary_size = choose_vocabulary_size(corpus, vocabulary_size)
    part = corpus.part("train", vocabulary_size)
    vocabulary = corpus.vocabulary(vocabulary_size)
    slices = _cut(part, settings.words, max(SLICE_WORDS, SLICE_WORDS_PER_TYPE * len(vocabulary)))
    num_words = sum(each.num_words for each in slices)
    epochs = settings.passes(num_words)
    model = _start(vocabulary, settings)
    trained = model.wv.vectors  # row r - NUM_SPECIAL is the word of rank r
    start_lengths = np.einsum("ve,ve->v", trained, trained)
    pairs = plural_pairs(vocabulary) - NUM_SPECIAL
    health = []
    with Progress("vectors", epochs * num_words, "words") as progress:
        for epoch, _ in enumerate(_train(model, part, slices, settings, epochs, progress), start=1):
            if not np.isfinite(trained).all():
                raise InputError(
                    f"the vectors diverged in epoch {epoch}; choose a smaller learning rate, or one thread"
                )
            health.append(measure_health(trained, pairs))
            say(f"vectors: epoch {epoch} of {epochs}: {health[-1]}")
    values = np.zeros((len(vocabulary), settings.size), dtype=np.float32)
    values[NUM_SPECIAL:] = trained
    has_vector = np.zeros(len(vocabulary), dtype=np.bool_)
    # A row still at its random start would say nothing about its word.
    has_vector[NUM_SPECIAL:] = np.einsum("ve,ve->v", trained, trained) != start_lengths
    values[~has_vector] = 0
    made_from = {
        "kind": "skip-gram",
        "version": __version__,
        "corpus": corpus.description["sha256"],
        "words": num_words,
        "settings": {
            "vocabulary_size": vocabulary_size,
            **asdict(settings),
            "epochs": epochs,
            "threads": settings.num_threads,
        },
        "health": [each.as_dict() for each in health],
    }
    return WordVectors(values, has_vector, vocabulary.fingerprint, made_from)


def choose_vocabulary_size(corpus: TokenCorpus, asked: int | None) -> int:
    """The number of words to make vectors for: as asked, or 100,000, or all words of a smaller corpus."""
    return min(DEFAULT_VOCABULARY_SIZE, corpus.num_types) if asked is None else asked


def _cut(part: Part, max_words: int | None, slice_words: int) -> list[_Slice]:
    """The text as slices of about equal size, in whole sentences."""
    offsets = part.file.offsets
    num_sentences = part.num_sentences
    if max_words is not None:
        num_sentences = max(1, int(np.searchsorted(offsets, max_words, side="right")) - 1)
    num_sentences = min(num_sentences, part.num_sentences)
    num_words = int(offsets[num_sentences])
    wanted = np.linspace(0, num_words, max(1, round(num_words / slice_words)) + 1)
    cuts = np.unique(np.searchsorted(offsets[: num_sentences + 1], wanted))
    return [_Slice(first, last, int(offsets[last] - offsets[first])) for first, last in pairwise(cuts.tolist())]


def _start(vocabulary: Vocabulary, settings: SkipGramSettings) -> Any:
    """Gensim's model before training: one row per word, by rank, without special words."""
    from gensim.models import Word2Vec  # type: ignore[import-untyped]

    model = Word2Vec(
        vector_size=settings.size,
        window=settings.window,
        negative=settings.negative,
        seed=settings.seed,
        sample=settings.sample,
        alpha=settings.learning_rate,
        sg=1,
        hs=0,
        min_count=1,
        sorted_vocab=0,
    )
    keys = _keys(len(vocabulary))[NUM_SPECIAL:].tolist()
    counts = np.maximum(vocabulary.counts[NUM_SPECIAL:], 1).tolist()
    model.build_vocab_from_freq({key.decode().rstrip(): count for key, count in zip(keys, counts)})
    return model


def _keys(vocabulary_size: int) -> NDArray[np.bytes_]:
    """Each rank as it is written to the file, with a space; all of one width, so half a key is never another key."""
    width = len(str(vocabulary_size - 1))
    return np.array([b"%0*d " % (width, rank) for rank in range(vocabulary_size)])


def _train(
    model: Any, part: Part, slices: list[_Slice], settings: SkipGramSettings, epochs: int, progress: Progress
) -> Iterator[None]:
    """Train in place; yields after each epoch."""
    keys = _keys(part.vocabulary_size)
    rates = np.linspace(settings.learning_rate, settings.last_learning_rate, epochs * len(slices) + 1).tolist()
    with scratch_folder("vectors") as folder:
        path = Path(folder) / "slice.txt"
        for epoch in range(epochs):
            for number, each in enumerate(slices):
                if epoch == 0 or len(slices) > 1:
                    _write(path, part, each, keys)
                step = epoch * len(slices) + number
                model.workers = max(1, min(settings.num_threads, each.num_words // WORDS_PER_THREAD))
                model.train(
                    corpus_file=str(path),
                    # Each thread lowers the rate by its own count of sentences, which ends at its share.
                    total_examples=-(-(each.last_sentence - each.first_sentence) // model.workers),
                    total_words=each.num_words,
                    epochs=1,
                    start_alpha=rates[step],
                    end_alpha=rates[step + 1],
                )
                progress.advance(each.num_words, status=f"epoch {epoch + 1} of {epochs}")
            yield


def _write(path: Path, part: Part, each: _Slice, keys: NDArray[np.bytes_]) -> None:
    """Write a slice as text, one sentence per line, ranks as `keys` [V]."""
    offsets = part.file.offsets[each.first_sentence : each.last_sentence + 1]
    text = keys[part.tokens(int(offsets[0]), int(offsets[-1]))].view(np.uint8).reshape(each.num_words, -1)
    ends = offsets[1:] - offsets[0]
    text[ends[np.diff(offsets) > 0] - 1, -1] = ord("\n")
    path.write_bytes(text.data)
