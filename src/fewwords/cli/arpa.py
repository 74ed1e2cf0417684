"""`fewwords arpa`: Kneser-Ney models to and from ARPA files."""

from pathlib import Path
from typing import Annotated, Optional

import typer


def arpa(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A Kneser-Ney model folder, or an ARPA file.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The ARPA file (.gz: compressed), or the folder.")],
    words_of: Annotated[
        Optional[Path],
        typer.Option(metavar="MODEL", help="Number the words of an ARPA file as this model does.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace TARGET.")] = False,
) -> None:
    """Write a Kneser-Ney model as an ARPA file, for KenLM, SRILM and others, or make a model folder of such a file.

    \b
    Examples:
      fewwords arpa work/models/kn3-v22000 kn3.arpa.gz
      fewwords arpa lm.arpa work/models/lm
      fewwords arpa lm.arpa work/models/lm --words-of work/models/lstm-z-w-v22000
    """
    from fewwords.errors import InputError
    from fewwords.models.kneser_ney import read_arpa, write_arpa
    from fewwords.models.load import load
    from fewwords.progress import say

    seal = target if source.is_dir() else target / "model.json"  # without it, a folder was left unfinished
    if (seal.exists() or target.is_file()) and not force:
        raise InputError(f"{target}: is there already; use --force to replace it, or name another")
    if not source.is_dir():
        vocabulary = None if words_of is None else load(words_of).vocabulary
        model = read_arpa(source, vocabulary)
        model.save(target)
        say(f"{target}: {model.variant}, {model.num_words:,} words, {sum(model.size.num_ngrams):,} n-grams")
        return
    if words_of is not None:
        raise InputError("--words-of is for reading an ARPA file; a model folder has its words")
    say(f"{target}: {write_arpa(load(source), target):,} n-grams")
