"""Linear interpolation of models over one vocabulary."""
