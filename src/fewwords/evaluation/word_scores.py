"""Scores as SRILM prints them: `ngram -ppl` with `-debug 2`, log base 10, so that its tools read them.

A sentence is its line of words, a line for each target, `<tab>p( word | previous ...) <tab>= [NN] prob [ log10 ]`, and
two lines of statistics. SRILM leaves words outside the vocabulary out of all sums and gives them `[OOV] 0 [ -inf ]`.
Its script compute-best-mix takes the tenth space-separated field once everything from `|` to the first `)` is one word;
so the label must be one field, and a `)` in the previous word is written -rrb-.
"""

import math
from collections.abc import Sequence
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from fewwords.evaluation.accounts import Perplexity
from fewwords.vocabulary import END, START, UNKNOWN_ID, Vocabulary

LABEL, OOV_LABEL = "[NN]", "[OOV]"
_LN_10 = math.log(10)


def statistics_lines(perplexity: Perplexity, name: str | None = None) -> list[str]:
    """SRILM's two lines, for a file if `name` is given.

    ppl = 10^(-logprob / (words - OOVs + sentences)), ppl1 = 10^(-logprob / (words - OOVs)), and logprob is the sum over
    words and `</s>` for both. The sentences count in ppl only if the model predicts their ends.
    """
    unknown = perplexity.unknown
    log10_prob = (perplexity.log_prob - unknown.log_prob) / _LN_10
    num_known = perplexity.num_words - unknown.num_targets
    file = "" if name is None else f"file {name}: "
    return [
        f"{file}{perplexity.num_sentences} sentences, {perplexity.num_words} words, {unknown.num_targets} OOVs",
        f"0 zeroprobs, logprob= {log10_prob:.7g} ppl= {_ppl(log10_prob, num_known + perplexity.num_ends)} "
        f"ppl1= {_ppl(log10_prob, num_known)}",
    ]


def write_sentence(
    file: TextIO,
    words: Sequence[str],
    ids: NDArray[np.int64],
    log_probs: NDArray[np.float64],
    vocabulary: Vocabulary,
    statistics: Perplexity,
) -> None:
    """Write one sentence: its original words, ids [length], and ln p [length, or one more for `</s>`]."""
    targets = [*vocabulary.decode(ids), END][: len(log_probs)]
    previous = START
    lines = [" ".join(words)]
    for place, (target, log_prob) in enumerate(zip(targets, log_probs.tolist())):
        more = "..." if place else ""
        is_oov = place < len(ids) and ids[place] == UNKNOWN_ID
        score = f"{OOV_LABEL} 0 [ -inf ]" if is_oov else f"{LABEL} {math.exp(log_prob):.7g} [ {log_prob / _LN_10:.7g} ]"
        lines.append(f"\tp( {target} | {previous.replace(')', '-rrb-')} {more}) \t= {score}")
        previous = target
    lines += statistics_lines(statistics)
    file.write("\n".join(lines) + "\n\n")


def _ppl(log10_prob: float, num_targets: int) -> str:
    if not num_targets:
        return "undefined"
    exponent = -log10_prob / num_targets
    return f"{10**exponent:.7g}" if exponent < 300 else "inf"
