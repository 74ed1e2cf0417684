"""What is done differently from the paper, and why: topic, the paper, here."""

from collections.abc import Mapping
from typing import Any

from fewwords.paper.tables.corpus_table import used_words
from fewwords.paper.tables.perplexity import panel_words
from fewwords.paper.tables.results import Results
from fewwords.paper.tables.table import Table
from fewwords.readable import quantity

LOG_BILINEAR = (
    "LBL5",
    "Full softmax, one matrix for words before and after, in the authors' code.",
    "Noise-contrastive estimation with ZRegression, as for the LSTMs; the same one matrix.",
)


def differences_table(results: Results, corpus: Mapping[str, Any]) -> Table:
    """All differences that affect the figures; `corpus` is `corpus.json`."""
    columns = ("", "the paper", "here")
    rows = _rows(results, corpus)
    return Table("differences", "What differs from the paper, and why", columns, rows, texts=(0, 1, 2))


def _rows(results: Results, corpus: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    whole = corpus.get("parts", {}).get("train", {}).get("words")
    small, tested = panel_words(results.small), used_words(results).get("test")
    commands = [record.command for record in results.records]
    rounded = sum("--precision bfloat16" in command for command in commands)
    return [
        (
            "Corpus",
            "Wikipedia dump of 2014, 1.6 billion running words.",
            f"{_words(whole)} for training, prepared by fewwords prepare.",
        ),
        (
            "Words for each model",
            "100 million for neural models, all 1.6 billion for KN3.",
            f"At the paper's size {_words(whole)} for every model, KN3 too. With the small budget {_words(small)}: perplexities "
            "with fewer words are higher, so compare models within a table before figures across papers.",
        ),
        (
            "Text",
            "Normalised, split into sentences, tokenised; the paper does not say how.",
            "Lower-cased; numbers kept; 's and the parts of hyphenated words are words of their own; sentences of 3 to 64 "
            "words, as in the authors' code.",
        ),
        (
            "Vocabulary",
            "V words, 8,000 of them base words.",
            "V counts <unk>, <s> and </s>; the base set is the most frequent words and these three.",
        ),
        (
            "What perplexity counts",
            "Every running word of 5 million test words; the authors' code does not predict the end of a sentence.",
            f"The first {_words(tested)} of test, <unk> counted as a word and </s> predicted, which lowers perplexity; without "
            "</s> it is among the figures of each cell. Explicitly normalised over all V words, as in the paper.",
        ),
        (
            "Word vectors",
            "word2vec, 200 values.",
            "Skip-gram vectors of 200 values, trained on this corpus.",
        ),
        (
            "Sparse codes",
            "Adam with α and β re-balanced at every step; values under 0.015 of the largest cut; a sum of 1 encouraged.",
            "Solved exactly: non-negative, at most 8 values a word, no rule for the sum. Re-balanced as written, words end with an "
            "empty code.",
        ),
        (
            "Noise",
            "50 noise words for each word.",
            "256 noise words for each group of about 256 words of a batch, which makes them one matrix product a group. The "
            "controls have noise for each word and for the whole batch too.",
        ),
        ("Batch", "256 words.", "2,048 words: per minute of training it learns more on two cores."),
        (
            "Start of the biases",
            "Zero in the authors' code.",
            "The log of the word frequencies, so that a model starts with Z near 1. Rows with biases from zero, where there are "
            "any, show what that is worth.",
        ),
        (
            "Start of the embeddings",
            "Not said.",
            "The word vectors, in dense and coded models alike.",
        ),
        (
            "Training",
            "Adam; the rate chosen on dev from 0.001 to 0.008.",
            "Adam that moves only the touched rows of tables that grow with V; the rate is 0.008, the largest of the same values, "
            "lowered to 0 along a line; gradients clipped; the best weights on dev are kept.",
        ),
        (
            "Precision",
            "Not said.",
            f"float32; the LSTM reads numbers of 16 bits (bfloat16) in {rounded} of {len(commands)} runs, as their commands say. "
            "Where both were run they differed by 0.3 and 0.5 %, once for the better.",
        ),
        (
            "KN3",
            "SRILM.",
            "fewwords' own modified Kneser-Ney model, interpolated, over the same closed vocabulary, with discounts from the text "
            "through all its words.",
        ),
        LOG_BILINEAR,
        (
            "Memory",
            "Table 1 has one bias vector in the LSTM.",
            "PyTorch's LSTM has two. Reductions are counted the paper's way, the numbers stored as they are.",
        ),
        (
            "Seeds",
            "One figure a cell.",
            "Some cells have several seeds. Where a sentence says that one model is ahead of another, they differ by more than "
            "twice the spread of seeds.",
        ),
    ]


def _words(count: int | None) -> str:
    return "some words" if count is None else f"{quantity(count)} words"
