"""Everything on disk is complete or absent: atomic files, arrays with their hash, folders swapped in, locks."""
