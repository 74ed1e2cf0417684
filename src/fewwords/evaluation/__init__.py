"""Perplexity with its accounts, scores of single words, memory, and mixtures (sections 2.2 and 4.3)."""

from fewwords.evaluation.accounts import Perplexity
from fewwords.evaluation.evaluate import Evaluation, TextResult, evaluate
from fewwords.evaluation.memory import Memory, dense_twin, memory_reduction, model_memory
from fewwords.evaluation.mix import MixSummary, mix_models
from fewwords.evaluation.perplexity import part_perplexity, sentences_perplexity

__all__ = [
    "Evaluation",
    "Memory",
    "MixSummary",
    "Perplexity",
    "TextResult",
    "dense_twin",
    "evaluate",
    "memory_reduction",
    "mix_models",
    "model_memory",
    "part_perplexity",
    "sentences_perplexity",
]
