"""Word vectors (section 3.1): skip-gram over the training part, or imported; what the sparse codes are solved from.

`make_vectors` is the stage; `train_skip_gram` and `import_vectors` make `WordVectors`, `.save(work)` stores them. Importing this
loads neither gensim nor safetensors.
"""

from fewwords.vectors.import_vectors import import_vectors
from fewwords.vectors.make import make_vectors
from fewwords.vectors.neighbours import nearest_words
from fewwords.vectors.skip_gram import train_skip_gram
from fewwords.vectors.word_vectors import WordVectors

__all__ = ["WordVectors", "import_vectors", "make_vectors", "nearest_words", "train_skip_gram"]
