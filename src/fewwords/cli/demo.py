"""`fewwords demo`: every stage that exists, once, on the built-in corpus."""

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

VOCABULARY_SIZE = 10_000
BASE_SIZE = 3_000
VECTOR_EPOCHS = 10
TRAINING_EPOCHS = 2


def demo(
    work: Annotated[Path, typer.Option("--work", metavar="DIR", help="The folder to work in.")] = Path("demo"),
) -> None:
    """Take the whole way once, on the State of the Union addresses (two million words).

    \b
    Examples:
      fewwords demo
      fewwords demo --work /tmp/demo
    """
    from fewwords.cli.codes import print_quality
    from fewwords.cli.corpus import print_corpus
    from fewwords.codes.explain import explain, plot_codes
    from fewwords.codes.make import make_codes
    from fewwords.codes.quality import words_with_stem
    from fewwords.console import result_console, say
    from fewwords.cores import available_cores
    from fewwords.corpus import prepare
    from fewwords.corpus.sources import BUILTIN
    from fewwords.corpus.summary import sample_sentences
    from fewwords.evaluation import evaluate
    from fewwords.evaluation.summary import comparison_table
    from fewwords.models import settings_of
    from fewwords.training import TrainingSettings, train
    from fewwords.vectors import train_skip_gram

    say("demo: prepare: the State of the Union addresses, 1790 to today, become tokens")
    corpus = prepare([BUILTIN], work, jobs=available_cores(), force=True)
    print_corpus(corpus)
    print("Three sentences of the training part:")
    for sentence in sample_sentences(corpus, 3):
        print(f"  {sentence}")

    say("demo: vectors: skip-gram over the training part")
    train_skip_gram(corpus, epochs=VECTOR_EPOCHS).save(work)

    say(f"demo: codes: {VOCABULARY_SIZE:,} words, all but {BASE_SIZE:,} of them said in a few of those {BASE_SIZE:,}")
    coded = make_codes(work, VOCABULARY_SIZE, BASE_SIZE, force=True)
    print_quality(coded)
    print("The five most frequent rare words whose plain form is a base word:")
    ranks = [rank for rank, _ in islice(words_with_stem(coded.codes, coded.vocabulary.words), 5)]
    said = [explain(coded.vocabulary.words[rank], coded.codes, coded.vocabulary) for rank in ranks]
    for explanation in said:
        print(f"  {explanation}")
    picture = work / "report" / "codes.png"
    picture.parent.mkdir(exist_ok=True)
    plot_codes(said[:4], coded.codes.base_size, picture)

    evaluations = []
    for variant in ("lstm-z", "lstm-z-w"):
        say(f"demo: train: {variant}, {TRAINING_EPOCHS} passes over the training part")
        summary = train(
            work,
            settings_of(variant),
            TrainingSettings(epochs=TRAINING_EPOCHS, learning_rate=0.006, embedding_start="vectors"),
            vocabulary_size=VOCABULARY_SIZE,
            base_size=BASE_SIZE,
            force=True,
        )
        evaluations.append(evaluate(summary.folder, work=work))
    result_console().print(comparison_table(evaluations))

    say(f"demo: done; the codes are drawn in {picture}; ask for more with: fewwords explain WORD --work {work}")
