"""`fewwords demo`: every stage that exists, once, on the built-in corpus."""

import shutil
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

VOCABULARY_SIZE = 10_000
BASE_SIZE = 3_000
VECTOR_EPOCHS = 10
TRAINING_EPOCHS = 2
LEARNING_RATE = 0.006


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
    from fewwords.codes.explain import explain
    from fewwords.codes.make import make_codes
    from fewwords.codes.quality import words_with_stem
    from fewwords.cores import available_cores
    from fewwords.corpus import prepare
    from fewwords.errors import InputError
    from fewwords.paper import run_plan
    from fewwords.paper.cells import read_record
    from fewwords.paper.plan import Cell
    from fewwords.paper.report.screen import models_table
    from fewwords.paper.write import write_paper
    from fewwords.progress import say
    from fewwords.text.sources import BUILTIN
    from fewwords.vectors import SkipGramSettings, make_vectors

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
    changes = {"epochs": TRAINING_EPOCHS, "learning_rate": LEARNING_RATE}
    plan = [
        Cell(model, "table 3", model, model, VOCABULARY_SIZE, None, training_changes=changes)
        for model in ("kn3", "lstm-z", "lstm-z-w")
    ]
    shutil.rmtree(work / "paper", ignore_errors=True)
    failures = run_plan(work, plan, base_size=BASE_SIZE)
    if failures:
        raise InputError("; ".join(f"{name}: {told}" for name, told in failures.items()))
    result_console().print(models_table(record for cell in plan if (record := read_record(work, cell))))
    page = write_paper(work, plan, base_size=BASE_SIZE, command="fewwords demo", small=True)

    say(f"demo: ask for more with: fewwords explain WORD --work {work}")
    say(f"demo: done; open {page} in a browser")
