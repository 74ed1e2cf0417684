"""`fewwords demo`: every stage that exists, once, on the built-in corpus."""

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

VOCABULARY_SIZE = 10_000
BASE_SIZE = 3_000
VECTOR_EPOCHS = 10
TRAINING_EPOCHS = 2
LEARNING_RATE = 0.006
DEV_WORDS = 10_000  # of each evaluation while training
TEST_WORDS = 200_000


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
    from fewwords.codes.explain import explain
    from fewwords.codes.make import make_codes
    from fewwords.codes.quality import words_with_stem
    from fewwords.console import result_console, result_table, say
    from fewwords.cores import available_cores
    from fewwords.corpus import prepare
    from fewwords.corpus.summary import sample_sentences
    from fewwords.evaluation import evaluate
    from fewwords.models.neural.variants import settings_of
    from fewwords.text.sources import BUILTIN
    from fewwords.training import TrainingSettings, train, train_kneser_ney
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
    for rank in ranks:
        print(f"  {explain(coded.vocabulary.words[rank], coded.codes, coded.vocabulary)}")

    say(f"demo: models: Kneser-Ney, LSTM-z and LSTM-z,w, {TRAINING_EPOCHS} passes over the training part each")
    settings = TrainingSettings(epochs=TRAINING_EPOCHS, learning_rate=LEARNING_RATE, dev_words=DEV_WORDS)
    folders = {"KN3": train_kneser_ney(work, vocabulary_size=VOCABULARY_SIZE, force=True).folder}
    for name, variant in (("LSTM-z", "lstm-z"), ("LSTM-z,w", "lstm-z-w")):
        done = train(
            work,
            settings_of(variant),
            settings,
            vocabulary_size=VOCABULARY_SIZE,
            base_size=BASE_SIZE,
            force=True,
        )
        folders[name] = done.folder
    table = result_table("Three models", "model", "test perplexity", "numbers stored", "MB on disk", "folder")
    for name, folder in folders.items():
        found = evaluate(folder, work=work, max_words=TEST_WORDS)
        size = sum(found.files.values()) / 1e6
        table.add_row(name, f"{found.total.perplexity.value:,.2f}", f"{found.numbers:,}", f"{size:.1f}", str(folder))
    result_console().print(table)

    say(f"demo: ask for more with: fewwords explain WORD --work {work}")
