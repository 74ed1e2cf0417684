"""The frontier: perplexity against megabytes, for this method and every other way to make a language model small."""
