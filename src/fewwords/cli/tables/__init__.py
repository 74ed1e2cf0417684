"""The tables that results are shown in, one file for each stage."""
