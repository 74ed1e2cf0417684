"""`fewwords frontier`: perplexity against megabytes, for this method and its rivals."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Optional

import typer

from fewwords.cli.work_folder import DEFAULT_WORK, Work
from fewwords.training.settings import Precision


def frontier(
    work: Work = DEFAULT_WORK,
    words: Annotated[int, typer.Option(metavar="N", help="Running words that each model trains on.")] = 20_000_000,
    vocab_size: Annotated[
        int, typer.Option(metavar="V", help="Words; with fewer than 50,000 all tables shrink alike.")
    ] = 50_000,
    only: Annotated[
        Optional[list[str]],
        typer.Option("--only", metavar="NAME", help="Only this run; give it again for more.", show_default=False),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="Runs side by side, each with its share of the cores.")] = 1,
    threads: Annotated[
        Optional[int],
        typer.Option(min=1, help="Threads of each run. \\[default: the cores, shared by the jobs]", show_default=False),
    ] = None,
    precision: Annotated[
        Precision,
        typer.Option(help="Numbers of the encoder's products while a run trains: see fewwords train."),
    ] = "float32",
    test_words: Annotated[
        int, typer.Option(metavar="N", help="Words of test that each model is measured on.")
    ] = 200_000,
    trials: Annotated[
        bool,
        typer.Option("--trials", help="Every shape on a quarter of the words, judged on dev: this chose the runs."),
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Only show the runs and what is done.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Only write the report of what is done.")] = False,
    results: Annotated[
        Optional[Path],
        typer.Option(metavar="DIR", help="The report's folder. \\[default: DIR/frontier/report]", show_default=False),
    ] = None,
    more_words: Annotated[
        Optional[list[int]],
        typer.Option(metavar="N", help="Show the runs of so many words in the report, too.", show_default=False),
    ] = None,
    packed: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="MODEL", help="Show a packed file in the report, too: with --more-words.", show_default=False
        ),
    ] = None,
    readme: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="Put the table between its marks in this file.", show_default=False),
    ] = None,
) -> None:
    """Find the best model of 1, 2, 4 and 8 MB: sparse codes against every other way to make a model small.

    Trials on a quarter of the words chose the shapes that are trained on all of them; --trials runs those. Each run trains a
    model and packs it in float32, 8 and 4 bits, in a process of its own; its messages are in frontier/logs. Finished runs
    are never done again and interrupted ones go on.

    \b
    Examples:
      fewwords frontier --work work --plan
      fewwords frontier --work work --trials --threads 1
      fewwords frontier --work work --threads 1
      fewwords frontier --work work --only dense-tied --only codes-b8k
      fewwords frontier --work work --words 93000000 --only codes-b6k-tuned-c400
      fewwords frontier --work work --report --more-words 84000000 --packed english --results results
    """
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.paper import screen_table
    from fewwords.errors import InputError
    from fewwords.frontier.plan import ROUNDED, make_finals, make_runs, make_trials
    from fewwords.frontier.report import trials_table, write_frontier
    from fewwords.frontier.run import finished_points, frontier_folder, measure_packed, run_frontier
    from fewwords.frontier.status import runs_table
    from fewwords.paper.report.drawing import drawing

    runs = (make_trials if trials else make_finals)(words, vocab_size, tuple(only or ()))
    runs = [replace(run, cell=run.cell.at(precision)) for run in runs]
    if plan:
        result_console().print(screen_table(runs_table(work, runs)))
        return
    failures: dict[str, str] = {}
    if not report:
        with drawing():
            pass  # what the figure needs is missed now, not after hours of training
        test_words = 0 if trials else test_words
        failures = run_frontier(work, runs, jobs=jobs, threads=threads, test_words=test_words)
    tried = finished_points(work, make_trials(words, vocab_size))
    if trials:
        result_console().print(screen_table(trials_table(tried)))
    else:
        more = [finished_points(work, make_runs(number, vocab_size)) for number in more_words or ()]
        also = [point for model in packed or () for point in measure_packed(work, model, test_words)]
        more = [*more[:-1], [*(more[-1] if more else ()), *also]]
        folder = results or frontier_folder(work) / "report"
        points = finished_points(work, make_runs(words, vocab_size))
        done = {point.run for point in points}
        finals = make_finals(words, vocab_size)
        missing = list(dict.fromkeys(run.title.removesuffix(ROUNDED) for run in finals if run.name not in done))
        best = write_frontier(points, folder, readme, more, tried, missing)
        result_console().print(screen_table(best))
    if failures:
        name, told = next(iter(failures.items()))
        raise InputError(f"{len(failures)} of {len(runs)} runs failed; the first, {name}: {told}")
