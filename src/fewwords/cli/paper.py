"""`fewwords paper`: section 4 of the paper, cell by cell, and its report."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from fewwords.cli.lists import comma_list
from fewwords.cli.work_folder import DEFAULT_WORK, Work
from fewwords.training.settings import Precision


def paper(
    work: Work = DEFAULT_WORK,
    words: Annotated[int, typer.Option(metavar="N", help="Running words that each cell trains on.")] = 5_000_000,
    vocab_sizes: Annotated[
        str, typer.Option(metavar="V,V,…", help="Vocabulary sizes; controls are run at the second.")
    ] = "10000,22000,36000,50000",
    models: Annotated[
        Optional[str], typer.Option(metavar="ROW,ROW,…", help="Rows of table 3. \\[default: all]", show_default=False)
    ] = None,
    base_size: Annotated[
        int, typer.Option(metavar="B", help="Base words of the coded models, special words not included.")
    ] = 8_000,
    more_words: Annotated[
        str,
        typer.Option(
            metavar="N,N,…",
            help="Words of KN3, LSTM-z and LSTM-z,w once more, at the largest size; 0: not.",
        ),
    ] = "20000000",
    all_words: Annotated[
        bool,
        typer.Option(
            "--all-words",
            help="Also the main rows on all words of the training part, the paper's size: 20 minutes to an hour or more a cell.",
        ),
    ] = False,
    larger_sizes: Annotated[
        Optional[str],
        typer.Option(
            metavar="V,V,…",
            help="With --all-words: LSTM-z,w and KN3 at these vocabulary sizes too, LSTM-z at the largest, as 100000,200000.",
            show_default=False,
        ),
    ] = None,
    controls: Annotated[bool, typer.Option("--controls/--no-controls", help="Run the controls too.")] = True,
    seeds: Annotated[int, typer.Option(metavar="N", help="Runs of the rows whose differences are small.")] = 3,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Cells to run side by side, each with its share of the cores.")
    ] = 1,
    threads: Annotated[
        Optional[int],
        typer.Option(
            min=1, help="Threads of each cell. \\[default: the cores, shared by the jobs]", show_default=False
        ),
    ] = None,
    precision: Annotated[
        Precision,
        typer.Option(help="Numbers of the encoder's products while a cell trains: see fewwords train."),
    ] = "float32",
    plan: Annotated[bool, typer.Option("--plan", help="Only show the cells, what is done, and the time left.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Only write the report of what is done.")] = False,
    results: Annotated[
        Optional[Path],
        typer.Option(metavar="DIR", help="Put tables, figures and a README of them here too.", show_default=False),
    ] = None,
    readme: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="Put the headline between its marks in this file.", show_default=False),
    ] = None,
    note: Annotated[
        Optional[str],
        typer.Option(metavar="TEXT", help="A sentence to go with the headline of the report.", show_default=False),
    ] = None,
) -> None:
    """Reproduce the paper's tables and figures on the corpus of a work folder, with the controls that it left out.

    Each cell is a training run in a process of its own; its messages are in paper/logs. Finished cells are never run again and
    interrupted ones go on, so that the same command can be given as often as need be.

    \b
    Examples:
      fewwords paper --work work --plan
      fewwords paper --work work --words 5000000 --jobs 2
      fewwords paper --work work --all-words --larger-sizes 100000,200000 --threads 1
      fewwords paper --work work --report
    """
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.paper import plan_table, screen_table
    from fewwords.corpus.token_corpus import TokenCorpus
    from fewwords.errors import InputError
    from fewwords.paper import make_plan, plan_status, run_plan
    from fewwords.paper.plan import MODELS
    from fewwords.paper.report.drawing import drawing
    from fewwords.paper.write import write_paper
    from fewwords.progress import say

    cells = make_plan(
        words,
        comma_list("--vocab-sizes", vocab_sizes, int, "10000,22000"),
        MODELS if models is None else [name.strip() for name in models.split(",")],
        more_words=[budget for budget in comma_list("--more-words", more_words, int, "20000000") if budget != 0],
        all_words=all_words,
        larger_sizes=comma_list("--larger-sizes", larger_sizes, int, "100000,200000") if larger_sizes else (),
        controls=controls,
        num_seeds=seeds,
    )
    cells = [cell.at(precision) for cell in cells]
    corpus = TokenCorpus.open(work)
    if plan:
        train_words = corpus.part("train").num_words
        result_console().print(screen_table(plan_table(plan_status(work, cells, train_words), jobs)))
        return
    options = [*map(str, ("--words", words, "--vocab-sizes", vocab_sizes, "--base-size", base_size))]
    options += [*(["--models", models] if models else []), "--more-words", more_words, "--seeds", str(seeds)]
    options += ["--controls" if controls else "--no-controls", *(["--all-words"] if all_words else [])]
    options += ["--larger-sizes", larger_sizes] if larger_sizes else []
    options += ["--precision", precision] if precision != "float32" else []
    failures: dict[str, str] = {}
    if not report:
        with drawing():
            pass  # what figures need is missed now, not after hours of training
        failures = run_plan(work, cells, base_size=base_size, jobs=jobs, threads=threads)
    told = " ".join(["fewwords paper --work WORK", *options])
    page, found = write_paper(work, cells, base_size=base_size, command=told, results=results, readme=readme, note=note)
    result_console().print(screen_table(found.headline_table))
    result_console().print(found.says)
    say(f"paper: the report is {page}")
    if failures:
        name, told = next(iter(failures.items()))
        raise InputError(f"{len(failures)} of {len(cells)} cells failed; the first, {name}: {told}")
