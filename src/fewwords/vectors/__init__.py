"""Word vectors (section 3.1): skip-gram over the training part, or imported; what the sparse codes are solved from.

`make_vectors` is the stage; `train_skip_gram` and `import_vectors` make `WordVectors`, `.save(work)` stores them.
Importing this loads neither gensim nor safetensors.
"""

from typing import TYPE_CHECKING

from fewwords.lazy import lazy_names

if TYPE_CHECKING:
    from fewwords.vectors.imported import import_vectors as import_vectors
    from fewwords.vectors.make import make_vectors as make_vectors
    from fewwords.vectors.neighbours import nearest_words as nearest_words
    from fewwords.vectors.settings import SkipGramSettings as SkipGramSettings
    from fewwords.vectors.skip_gram import train_skip_gram as train_skip_gram
    from fewwords.vectors.word_vectors import WordVectors as WordVectors

__getattr__ = lazy_names(
    __name__,
    {
        "SkipGramSettings": "settings",
        "WordVectors": "word_vectors",
        "import_vectors": "imported",
        "make_vectors": "make",
        "nearest_words": "neighbours",
        "train_skip_gram": "skip_gram",
    },
)
