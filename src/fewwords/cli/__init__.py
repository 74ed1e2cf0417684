"""The `fewwords` command: one thin file per group of commands, each of which parses, calls and prints.

Nothing heavy is imported here: `fewwords --help` must answer at once.
"""

import errno
import os
import sys
from io import TextIOWrapper
from typing import Annotated, Optional, cast

import typer

from fewwords import __version__
from fewwords.cli import (
    arpa,
    codes,
    corpus,
    demo,
    evaluate,
    export,
    frontier,
    make,
    mix,
    pack,
    page,
    paper,
    serve,
    train,
    use,
    vectors,
    words,
)
from fewwords.cli.wording import error_line, with_flags
from fewwords.cli.work_folder import WorkCommand
from fewwords.errors import DivergedError, InputError
from fewwords.extras import missing_extra
from fewwords.progress import listening

PIPELINE = """Language models whose size hardly grows with their vocabulary.

Rare words are said in a few common ones. From a text to suggestions, in two commands:

\b
  fewwords make book.txt --output book
  fewwords suggest book

`make` runs the pipeline, whose stages are commands too:

\b
  text, dump --prepare--> tokens and vocabulary   work/corpus
             --vectors--> skip-gram vectors       work/vectors
             --codes----> sparse codes            work/codes    explain
             --train----> a language model        work/models   evaluate, mix
             --pack-----> one small file          NAME.few
             --paper----> tables, figures, report work/report
             --frontier-> the best of each size   work/frontier

A trained model is put to use by suggest, score, sample, rescore, explain, nearest and info. serve answers over HTTP,
export writes ONNX, page a keyboard for the browser.

Start with `fewwords demo`, which makes models of a built-in corpus and shows what they can do.
"""

app = typer.Typer(
    help=PIPELINE,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("make")(make.make)
app.command("prepare", cls=corpus.PrepareCommand)(corpus.prepare)
app.command("corpus", cls=WorkCommand)(corpus.show)
app.command("vectors", cls=WorkCommand)(vectors.vectors)
app.command("codes", cls=WorkCommand)(codes.codes)
app.command("explain")(words.explain)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("mix")(mix.mix)
app.command("arpa")(arpa.arpa)
app.command("pack")(pack.pack)
app.command("suggest")(use.suggest)
app.command("score")(use.score)
app.command("sample")(use.sample)
app.command("rescore")(use.rescore)
app.command("nearest")(words.nearest)
app.command("info")(use.info)
app.command("page")(page.page)
app.command("export")(export.export)
app.command("serve")(serve.serve)
app.command("paper")(paper.paper)
app.command("frontier")(frontier.frontier)
app.command("demo")(demo.demo)

# typer brings its own copy of click; its family of usage errors is found through the one public member.
_USAGE_FAILURE = cast(
    "type[typer.BadParameter]", next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
)


_INTERRUPTED = 130  # as a shell tells of SIGINT; newer versions of typer return it instead of raising


def _print_version(asked: bool) -> None:
    if asked:
        print(f"fewwords {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        Optional[bool],
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """The options that go before any command; `main` acts on --debug."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input ends with one line on stderr and exit code 2, diverged training with 1."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # any bytes in, words of any script out
    if "--debug" in arguments:
        arguments.remove("--debug")
        sys.exit(_run(arguments))
    try:
        code = _run(arguments)
        sys.stdout.flush()  # here, where a reader that has gone is no error
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code)
    except _USAGE_FAILURE as error:
        _fail(f"{error.format_message()} (see fewwords --help)", 2)
    except InputError as error:
        _fail(error_line(error), 2)
    except DivergedError as error:
        _fail(with_flags(str(error)), 1)
    except ModuleNotFoundError as error:
        remedy = missing_extra(error.name or "")
        _fail(*((f"internal error ({error})", 1) if remedy is None else (remedy, 2)))
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        # the reader of our output has gone (`| head`): nothing is wrong, and nothing more can be said
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _fail(_describe(error), 2)
    except MemoryError:
        _fail("out of memory: use smaller settings, or a machine with more", 2)
    except Exception as error:
        kind = type(error).__name__
        _fail(f"internal error ({kind}: {error}); run again with --debug and report what it shows", 1)


def _run(arguments: list[str]) -> int:
    """Run a command, or show the help when none is named; returns the exit code."""
    from fewwords.cli.console import Display

    with listening(Display()):
        return app(arguments or ["--help"], prog_name="fewwords", standalone_mode=False) or 0


def _describe(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    remedy = {
        errno.ENOSPC: "; free some space, or choose a folder on another disk",
        errno.EDQUOT: "; free some space, or choose a folder on another disk",
        errno.EFBIG: "; choose a folder on another disk, or raise the limit on the size of files (ulimit -f)",
        errno.EEXIST: "; choose another folder, or move that file away",
        errno.ENOTDIR: "; choose another folder, or move the file in its way",
        errno.EACCES: "; choose a folder that you may write to, or change its permissions",
        errno.EROFS: "; choose a folder that you may write to",
    }.get(error.errno or 0, "")
    return f"{place}{error.strerror or error}{remedy}"


def _fail(message: str, code: int) -> None:
    print("fewwords: error: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(code)
