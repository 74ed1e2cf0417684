"""fewwords: language models whose size hardly grows with their vocabulary.

Rare words are said in a few common ones: their embeddings and output weights are sparse, non-negative
combinations of those of some 8,000 common words (Chen et al., ACL 2016).
"""

__version__ = "0.1.0"
