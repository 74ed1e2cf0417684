"""What a person reads: the figures, the page, and the same tables in markdown."""
