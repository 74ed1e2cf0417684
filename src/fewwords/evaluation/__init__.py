"""Perplexity with its accounts, scores of single words, and mixtures (section 4.3)."""
