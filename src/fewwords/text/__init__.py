"""From bytes to words: sources, decompression, formats, cleaning, sentences, words (section 4.1)."""
