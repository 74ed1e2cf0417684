"""`fewwords demo`: every stage that exists, once, on the built-in corpus."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    work: Annotated[Path, typer.Option("--work", metavar="DIR", help="The folder to work in.")] = Path("demo"),
) -> None:
    """Take the whole way once, on the State of the Union addresses (two million words).

    \b
    Examples:
      fewwords demo
      fewwords demo --work /tmp/demo
    """
    from fewwords.cli.corpus import available_cores, print_corpus
    from fewwords.console import say
    from fewwords.corpus import prepare
    from fewwords.corpus.sources import BUILTIN
    from fewwords.corpus.summary import sample_sentences

    say("prepare: the State of the Union addresses, 1790 to today, become tokens")
    corpus = prepare([BUILTIN], work, jobs=available_cores(), force=True)
    print_corpus(corpus)
    print("\nThree sentences of the training part:")
    for sentence in sample_sentences(corpus, 3):
        print(f"  {sentence}")
    say(f"done: the corpus is in {corpus.folder}; look around with: fewwords corpus {work} --sample 10")
