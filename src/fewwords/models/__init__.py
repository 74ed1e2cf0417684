"""The language models of section 4.3: `model.py` says what a model is; neural, Kneser-Ney and mixed ones are ways to have one."""
