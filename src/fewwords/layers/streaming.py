"""Normalised probabilities over a whole vocabulary, from scores of some contexts and some words at a time.

ln Z(h) = ln sum_w exp(s(h, w)) and ln p(w|h) = s(h, w) - ln Z(h) (equation 1). `log_normaliser` and `log_probs_of` take
memory that does not depend on the vocabulary; `log_probs` takes that of its result. Nothing here records gradients.
Many float32 contexts on a CPU have their exponentials summed by a compiled loop, everything else by torch.
"""

from collections.abc import Iterator
from typing import Protocol

import torch
from torch import Tensor

CONTEXTS_PER_CHUNK = 128
# 1 MB: such a chunk stays in the cache between the steps that read it, and the allocator reuses its memory.
SCORES_PER_CHUNK = 2048 * 128
# Fewer contexts would not repay compiled loops, and a suggestion does not wait for their import.
LEAST_COMPILED_CONTEXTS = 32
# The loop of `log_sum` uses one core and torch all threads; on one core it is twice as fast.
MOST_THREADS_OF_ONE_LOOP = 2


class Scores(Protocol):
    """Scores in chunks, and the weights of single words."""

    num_words: int

    def weights_and_biases(self, ids: Tensor) -> tuple[Tensor, Tensor]: ...

    def score_chunks(self, h: Tensor) -> Iterator[tuple[int, Tensor]]: ...

    def log_sums(self, h: Tensor) -> Iterator[Tensor]: ...


def words_per_chunk(num_contexts: int) -> int:
    """How many words to score at a time for this many contexts."""
    return max(1, SCORES_PER_CHUNK // max(1, num_contexts))


@torch.no_grad()
def log_normaliser(layer: Scores, h: Tensor) -> Tensor:
    """ln Z(h) [N] for contexts h [N, size]."""
    chunks = (h[first : first + CONTEXTS_PER_CHUNK] for first in range(0, len(h), CONTEXTS_PER_CHUNK))
    return torch.cat([h.new_empty(0), *(torch.stack([*layer.log_sums(chunk)]).logsumexp(0) for chunk in chunks)])


@torch.no_grad()
def log_probs_of(layer: Scores, h: Tensor, targets: Tensor) -> Tensor:
    """ln p(target|h) [N] for contexts h [N, size] and one target word each [N]."""
    parts = [h.new_empty(0)]
    for first in range(0, len(h), CONTEXTS_PER_CHUNK):
        contexts = slice(first, first + CONTEXTS_PER_CHUNK)
        weights, biases = layer.weights_and_biases(targets[contexts])
        parts.append((weights * h[contexts]).sum(1) + biases)
    return torch.cat(parts) - log_normaliser(layer, h)


@torch.no_grad()
def log_probs(layer: Scores, h: Tensor) -> Tensor:
    """ln p(w|h) [N, num_words] of all words for contexts h [N, size]; the memory layout is word by word."""
    result = h.new_empty(layer.num_words, len(h))
    log_sums = []
    for first, scores in layer.score_chunks(h):
        result[first : first + len(scores)] = scores
        log_sums.append(consume_log_sum(scores))
    return result.sub_(torch.stack(log_sums).logsumexp(0)).t()


def consume_log_sum(scores: Tensor) -> Tensor:
    """ln sum_w exp(scores[w]) [N] of scores [words, N], overwriting them: a new chunk would cost more than the sum."""
    if use_compiled(scores.t()) and torch.get_num_threads() <= MOST_THREADS_OF_ONE_LOOP:
        from fewwords.layers.log_sums import log_sum

        return torch.from_numpy(log_sum(scores.view(-1).numpy(), scores.shape[1]))
    largest = scores.amax(0)
    return scores.sub_(largest).exp_().sum(0).log_().add_(largest)


def use_compiled(contexts: Tensor) -> bool:
    """Whether compiled loops are the fastest way for these contexts [N, ...]."""
    return (
        contexts.device.type == "cpu" and contexts.dtype == torch.float32 and len(contexts) >= LEAST_COMPILED_CONTEXTS
    )
