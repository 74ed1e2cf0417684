"""What the paper itself reports (section 4 and table 1), as data: formulae, corpus, perplexities, memory reductions.

Figures are those of Chen, Mou, Xu, Li and Jin, "Compressing Neural Language Models by Sparse Word Representations", ACL
2016. The order of `LABELS` is the order of rows in every table.
"""

TITLE = "Compressing Neural Language Models by Sparse Word Representations"
AUTHORS = "Chen, Mou, Xu, Li and Jin"
VENUE = "ACL 2016"

VOCABULARY_SIZES = (10_000, 22_000, 36_000, 50_000)
BASE_SIZE = 8_000
SIZE = 200  # of both embedding and context

LABELS = {
    "kn3": "KN3",
    "kn3-all": "KN3, all of train",
    "kn5": "KN5",
    "lbl5": "LBL5",
    "lstm-s": "LSTM-s",
    "lstm-s-zero-bias": "LSTM-s, biases from zero",
    "lstm-z": "LSTM-z",
    "lstm-z-zero-bias": "LSTM-z, biases from zero",
    "lstm-z-tied": "LSTM-z, tied",
    "lstm-z-wb": "LSTM-z,wb",
    "lstm-z-w": "LSTM-z,w",
    "lstm-z-w-tied": "LSTM-z,w, tied",
}

# Table 1: sub-net, RNN-LSTM, FFNN, and what the coded LSTM-z,w has instead (section 3).
TABLE_1 = (
    ("Embedding", "VE", "VE", "BE"),
    ("Encoding", "4(CE + C² + C)", "nCE + C", "4(CE + C² + C)"),
    ("Prediction", "V(C + 1)", "V(C + 1)", "BC + V"),
    ("Total", "O((C + E)V)", "O((E + C)V)", "O((C + E)B + V), and the codes"),
)

# Table 2, in running words.
TABLE_2 = {
    "train (n-gram)": 1_600_000_000,
    "train (neural)": 100_000_000,
    "dev": 100_000,
    "test": 5_000_000,
}

# Table 3, perplexity; KN3 is trained on the whole corpus of 1.6 billion words, the others on 100 million.
_TABLE_3 = {
    "kn3": (90.4, 125.3, 146.4, 159.9),
    "lbl5": (116.6, 167.0, 199.5, 220.3),
    "lstm-s": (107.3, 159.5, 189.4, 222.1),
    "lstm-z": (75.1, 104.4, 119.6, 130.6),
    "lstm-z-wb": (73.7, 103.4, 122.9, 138.2),
    "lstm-z-w": (72.9, 101.9, 119.3, 129.2),
}
# Our rows that are compared with a row of another name in the paper.
_SAME_ROW = {"lstm-s-zero-bias": "lstm-s", "lstm-z-zero-bias": "lstm-z"}

# Table 4, percent; sparse codes included.
TABLE_4 = {
    "lstm-z-w": {10_000: 17.76, 22_000: 59.28, 36_000: 73.42, 50_000: 79.75},
    "lstm-z-wb": {10_000: 17.80, 22_000: 59.44, 36_000: 73.61, 50_000: 79.95},
}
# Non-zeros per rare word at which table 1's arithmetic gives table 4; the paper says "4-8 on average".
IMPLIED_NONZEROS = {10_000: 7.8, 22_000: 6.4, 36_000: 6.5, 50_000: 6.6}


def published_perplexity(model: str, vocab_size: int) -> float | None:
    """The figure of the paper's table 3 to compare with a row of ours, if it has one."""
    row = _TABLE_3.get(_SAME_ROW.get(model, model))
    return row[VOCABULARY_SIZES.index(vocab_size)] if row and vocab_size in VOCABULARY_SIZES else None


def label(model: str) -> str:
    """The printed name of a row."""
    return LABELS.get(model, model)
