"""Training (section 4.3): one loop for all variants, resumable to the same bits, on one process or many."""
