"""The language models of section 4.3: `model.py` says what a model is; there are neural, Kneser-Ney and mixed ones."""
