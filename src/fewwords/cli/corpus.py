"""`fewwords prepare` and `fewwords corpus`: text in, and what came of it."""

from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer
from typer.core import TyperCommand

from fewwords.cli.options import chosen_for, with_options
from fewwords.cli.work_folder import DEFAULT_WORK, Work
from fewwords.corpus.settings import Settings

if TYPE_CHECKING:
    from fewwords.corpus import TokenCorpus

_SPLITS = ("--train", "--dev", "--test")


class PrepareCommand(TyperCommand):
    """Lets `--train`, `--dev` and `--test` take several files: `--train a.txt b.txt --dev c.txt`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each of its files, which is what the parser understands."""
        expanded: list[str] = []
        current = ""
        num_files = 0
        for argument in args:
            if argument.startswith("-") and argument != "-":
                current, num_files = (argument if argument in _SPLITS else ""), 0
                expanded.append(argument)
                continue
            if current and num_files:
                expanded.append(current)
            num_files += 1
            expanded.append(argument)
        return super().parse_args(ctx, expanded)


@with_options(Settings)
def prepare(
    sources: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="SOURCE…",
            help="Files, folders, globs, '-' for standard input, or builtin:sotu; mixed freely, recognised by content.",
            show_default=False,
        ),
    ] = None,
    work: Work = DEFAULT_WORK,
    train: Annotated[
        Optional[list[str]], typer.Option(metavar="FILE…", help="A ready-made training part, in its order.")
    ] = None,
    dev: Annotated[Optional[list[str]], typer.Option(metavar="FILE…", help="Its development part.")] = None,
    test: Annotated[Optional[list[str]], typer.Option(metavar="FILE…", help="Its test part.")] = None,
    dev_words: Annotated[
        Optional[int],
        typer.Option(help="Words for dev. \\[default: 100,000, at most a twentieth of the corpus]"),
    ] = None,
    test_words: Annotated[
        Optional[int],
        typer.Option(help="Words for test. \\[default: 5,000,000, at most a twentieth of the corpus]"),
    ] = None,
    *,
    keep_case: Annotated[bool, typer.Option("--keep-case", help="Keep capitals instead of lower-casing.")] = False,
    jobs: Annotated[
        Optional[int],
        typer.Option("--jobs", "-j", help="Processes; the result does not depend on it. \\[default: one per core]"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a corpus that is there already.")] = False,
    **chosen: Any,
) -> None:
    """Turn text or a dump into shuffled, split, counted tokens in DIR/corpus.

    \b
    Examples:
      fewwords prepare builtin:sotu --work work
      fewwords prepare articles/ notes.txt.gz --work work
      fewwords prepare enwiki-latest-pages-articles.xml.bz2 --work work --jobs 4
      zcat text.gz | fewwords prepare - --work work --dev-words 50000 --test-words 50000
      fewwords prepare --tokenized --train ptb.train.txt --dev ptb.valid.txt --test ptb.test.txt --work ptb
    """
    from fewwords.cores import available_cores
    from fewwords.corpus import prepare as prepare_corpus

    chosen["max_words"] = chosen["max_words"] or None
    settings = Settings(**chosen_for(Settings, chosen), lower_case=not keep_case)
    corpus = prepare_corpus(
        sources or [],
        work,
        train=train or [],
        dev=dev or [],
        test=test or [],
        settings=settings,
        dev_words=dev_words,
        test_words=test_words,
        jobs=available_cores() if jobs is None else jobs,
        force=force,
    )
    print_corpus(corpus)


def show(
    work: Work = DEFAULT_WORK,
    sample: Annotated[
        int, typer.Option("--sample", metavar="N", min=0, help="Show N sentences of the training part.")
    ] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print corpus.json instead of tables.")] = False,
) -> None:
    """Show the table of a prepared corpus, or a sample of its sentences.

    \b
    Examples:
      fewwords corpus --work work
      fewwords corpus --work work --sample 10
    """
    from fewwords.cli.tables.corpus import sample_sentences
    from fewwords.corpus import TokenCorpus

    corpus = TokenCorpus.open(work)
    if sample:
        print("\n".join(sample_sentences(corpus, sample)))
    elif json:
        print((corpus.folder / "corpus.json").read_text(encoding="utf-8"), end="")
    else:
        print_corpus(corpus)


def print_corpus(corpus: "TokenCorpus") -> None:
    """Print the tables of a corpus to stdout."""
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.corpus import tables

    console = result_console()
    for table in tables(corpus):
        console.print(table)
