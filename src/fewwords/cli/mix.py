"""`fewwords mix`: models added up with the weights that suit a text best."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from fewwords.cli.lists import comma_list


def mix(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL MODEL… TEXT",
            help="Model folders of one vocabulary, and last a text to tune the weights on: a file, a folder, a glob, or "
            "'-' for standard input, read as prepare reads it. With --work there is no TEXT.",
            show_default=False,
        ),
    ],
    work: Annotated[
        Optional[Path],
        typer.Option("--work", metavar="DIR", help="Instead of TEXT: the dev part of the corpus in DIR."),
    ] = None,
    output: Annotated[
        Optional[Path],
        typer.Option(
            metavar="DIR", help="Write the mix as a model folder. \\[default: only the report]", show_default=False
        ),
    ] = None,
    weights: Annotated[
        Optional[str],
        typer.Option(
            metavar="W,W,…", help="Weights, one per model. \\[default: tuned on the text]", show_default=False
        ),
    ] = None,
    tokenized: Annotated[
        bool, typer.Option("--tokenized", help="One sentence per line, words separated by blanks: taken as they are.")
    ] = False,
    max_words: Annotated[
        Optional[int], typer.Option(metavar="N", help="Only the first sentences of each file, up to N words.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of the table.")] = False,
    threads: Annotated[
        Optional[int], typer.Option(min=1, help="Threads. \\[default: one per core]", show_default=False)
    ] = None,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda.")] = "cpu",
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there already.")] = False,
) -> None:
    """Mix models: add up their probabilities, with the weights that give a text the lowest perplexity.

    \b
    Examples:
      fewwords mix work/models/lstm-z-w-v22000 work/models/kn3-v22000 dev.txt
      fewwords mix MODEL MODEL --work work --output work/models/mix-v22000
      fewwords mix MODEL MODEL MODEL dev.txt --weights 0.5,0.3,0.2
    """
    import torch

    from fewwords.cli.console import result_console
    from fewwords.cli.tables.evaluation import mix_table
    from fewwords.errors import InputError
    from fewwords.evaluation.mix import mix as mix_models
    from fewwords.progress import say
    from fewwords.store.json_text import to_json_text

    models, text = (arguments, None) if work is not None else (arguments[:-1], arguments[-1])
    if work is not None and not Path(models[-1]).is_dir():
        raise InputError(
            f"{models[-1]}: no model folder; with --work, which takes the place of the text, name only models"
        )
    if text is not None and (Path(text) / "model.json").exists():
        raise InputError(f"{text}: a model, where the text should be; put a text last, or name a corpus with --work")
    if threads is not None:
        torch.set_num_threads(threads)
    summary = mix_models(
        models,
        text,
        work=work,
        weights=None if weights is None else comma_list("--weights", weights, float, "0.7,0.3"),
        output=output,
        tokenized=tokenized,
        max_words=max_words,
        device=device,
        force=force,
    )
    if json:
        print(to_json_text(summary.to_json(), indent=2))
    else:
        result_console().print(mix_table(summary))
    say("mix: not written; --output DIR writes it" if output is None else f"mix: written to {output}")
