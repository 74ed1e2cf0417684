"""The perplexity of a part of a corpus, or of any sentences, from explicitly normalised probabilities (section 4.3)."""

from collections.abc import Callable, Iterable

from fewwords.corpus.token_corpus import Part
from fewwords.errors import InputError
from fewwords.evaluation.accounts import Account, Perplexity
from fewwords.models.model import BATCH_WORDS, Model, Sentence


def part_perplexity(
    model: Model,
    part: Part,
    *,
    max_words: int | None = None,
    batch_words: int = BATCH_WORDS,
    num_base: int | None = None,
    advance: Callable[[int], None] | None = None,
) -> Perplexity:
    """The perplexity of the first sentences of a part with at most `max_words` words in total, but at least one.

    The part must be read with the model's vocabulary size. Raises InputError if it is not, or is empty.
    """
    return sentences_perplexity(
        model,
        part_sentences(model, part, max_words),
        batch_words=batch_words,
        num_base=num_base,
        advance=advance,
    )


def part_sentences(model: Model, part: Part, max_words: int | None = None) -> Iterable[Sentence]:
    """The first sentences of a part, up to `max_words` words but at least one; raises InputError as above."""
    if part.vocabulary_size != model.num_words:
        raise InputError(
            f"the part {part.name} is read with {part.vocabulary_size:,} words and the model has {model.num_words:,}; "
            "open the part with the model's vocabulary size"
        )
    return part.head(max_words).sentences()


def sentences_perplexity(
    model: Model,
    sentences: Iterable[Sentence],
    *,
    batch_words: int = BATCH_WORDS,
    num_base: int | None = None,
    advance: Callable[[int], None] | None = None,
) -> Perplexity:
    """The perplexity of sentences, each ids [length] without boundaries.

    `num_base` separates base words from rare ones; the default is the model's own, or the paper's 8,000 for a dense
    model.
    """
    account = Account(model, num_base)
    for scored in model.score_sentences(sentences, batch_words=batch_words, advance=advance):
        account.add(scored)
    return account.total()
