"""`fewwords demo`: every stage that exists, once, on the built-in corpus."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

VOCABULARY_SIZE = 10_000
BASE_SIZE = 3_000
VECTOR_EPOCHS = 10
TRAINING_EPOCHS = 2
LEARNING_RATE = 0.006
DEV_WORDS = 10_000  # of each evaluation while training
TEST_WORDS = 200_000
TYPED = ("The United ", "We must ", "The state of the un")


def demo(
    work: Annotated[Path, typer.Option("--work", metavar="DIR", help="The folder to work in.")] = Path("demo"),
) -> None:
    """Run the whole pipeline once, on the State of the Union addresses (two million words).

    \b
    Examples:
      fewwords demo
      fewwords demo --work /tmp/demo
    """
    from fewwords.cli.codes import print_quality
    from fewwords.cli.console import result_console
    from fewwords.cli.corpus import print_corpus
    from fewwords.cli.tables.corpus import sample_sentences
    from fewwords.cli.tables.table import result_table
    from fewwords.codes.explain import explain
    from fewwords.codes.make import make_codes
    from fewwords.codes.quality import words_with_stem
    from fewwords.cores import available_cores
    from fewwords.corpus.make import prepare
    from fewwords.evaluation.evaluate import evaluate
    from fewwords.progress import say
    from fewwords.text.sources import BUILTIN
    from fewwords.training.train import train
    from fewwords.use.text_model import load
    from fewwords.vectors.make import make_vectors
    from fewwords.vectors.settings import SkipGramSettings

    say("demo: prepare: the State of the Union addresses, 1790 to today, become tokens")
    corpus = prepare([BUILTIN], work, jobs=available_cores(), force=True)
    print_corpus(corpus)
    print("Three sentences of the training part:")
    for sentence in sample_sentences(corpus, 3):
        print(f"  {sentence}")

    say("demo: vectors: skip-gram over the training part")
    make_vectors(work, SkipGramSettings(epochs=VECTOR_EPOCHS), force=True)

    say(f"demo: codes: {VOCABULARY_SIZE:,} words, all but {BASE_SIZE:,} of them said in a few of those {BASE_SIZE:,}")
    coded = make_codes(work, VOCABULARY_SIZE, BASE_SIZE, force=True)
    print_quality(coded)
    print("The five most frequent rare words whose plain form is a base word:")
    ranks = [rank for rank, _ in islice(words_with_stem(coded.codes, coded.vocabulary.words), 5)]
    for rank in ranks:
        print(f"  {explain(coded.vocabulary.words[rank], coded.codes, coded.vocabulary)}")

    say(f"demo: models: Kneser-Ney, LSTM-z and LSTM-z,w, {TRAINING_EPOCHS} passes over the training part each")
    settings: dict[str, Any] = {"epochs": TRAINING_EPOCHS, "learning_rate": LEARNING_RATE, "dev_words": DEV_WORDS}
    folders = {"KN3": train(work, "kn3", vocabulary_size=VOCABULARY_SIZE, force=True).folder}
    for name, model in (("LSTM-z", "lstm-z"), ("LSTM-z,w", "lstm-z-w")):
        done = train(work, model, vocabulary_size=VOCABULARY_SIZE, base_size=BASE_SIZE, force=True, **settings)
        folders[name] = done.folder
    table = result_table("Three models", "model", "test perplexity", "numbers stored", "MB on disk", "folder")
    for name, folder in folders.items():
        found = evaluate(folder, work=work, max_words=TEST_WORDS)
        size = sum(found.files.values()) / 1e6
        table.add_row(name, f"{found.total.perplexity.value:,.2f}", f"{found.numbers:,}", f"{size:.1f}", str(folder))
    result_console().print(table)

    suggester = load(folders["LSTM-z,w"])
    print("What the coded model would suggest next:")
    for text in TYPED:
        told = ", ".join(each.text for each in suggester.suggest(text, 5))
        print(f"  {text}… {told}")
    print(f"And a sentence of its own: {suggester.sample('The people of', temperature=0.7, seed=1)}")
    say(f"demo: go on with: fewwords suggest {folders['LSTM-z,w']}, or fewwords explain WORD --work {work}")
