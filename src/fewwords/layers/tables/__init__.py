"""Word tables that store fewer numbers than a row for each word: the rivals of sparse codes, one file each."""
