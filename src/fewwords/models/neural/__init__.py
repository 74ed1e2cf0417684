"""The neural models of section 4.3: one class, its variants as values, its encoders."""
