"""The models of the tests of `use`."""

from use.conftest import coded, corpus, n_gram

__all__ = ["coded", "corpus", "n_gram"]
