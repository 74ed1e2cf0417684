"""What a reader sees: the figures, the page, and the same tables in Markdown."""
