"""Packing: a neural model in one small file, with weights of 8 or 4 bits, for the runtime without PyTorch."""
