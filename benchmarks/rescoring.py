"""How many word errors of a real recogniser does rescoring take away?

espeak-ng speaks held-out sentences of a corpus with several voices and speeds, sox mixes in some noise, pocketsphinx (its own
acoustic model and trigram) gives lists of the 50 best hypotheses, and models of fewwords reorder them. The weights are tuned on
sentences of the dev part; the figures are of the test part. jiwer counts the errors. The speech is synthetic. `--real FOLDER` adds
the LibriVox utterances of Debian's pocketsphinx-testdata (`…/test/data/librivox`), with the same weights.

    apt-get install espeak-ng sox && pip install pocketsphinx==5.1.1 jiwer==4.0.0
    python benchmarks/rescoring.py --work WORK MODEL… --keep FOLDER --output results/rescoring

A sentence is taken if it has 5 to 25 words, all in pocketsphinx's dictionary; whether the models know them is not asked. Lists that
`--keep FOLDER` already has are not made again; they are files that `fewwords rescore` reads. Prints a card and, as its last line,
one JSON object.
"""

import argparse
import importlib.util
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fewwords.corpus import TokenCorpus, prepare
from fewwords.text.sources import BUILTIN
from fewwords.use.nbest import NBest
from fewwords.use.rescore import Weights, count_errors, reorder, score_lists, tune, word_errors
from fewwords.use.text_model import load
from speech.lists import VOICES, Lists, choose_sentences, make_lists, read_real

# The share of the recogniser's own trigram that is taken out of its score before a model's is added.
SHARES = (0.0, 0.5, 1.0)
END_MARKS = ("", ".")  # recognisers write no full stop, but the corpus has one
Scorer = Callable[..., list[list[float]]]  # of lists, with an `end_mark`
HEAD = """# Rescoring a recogniser

Written by `benchmarks/rescoring.py` at commit {commit}; do not edit. The same as data, with all weights: [{data}]({data}).
**The speech is synthetic**: espeak-ng speaks sentences of the corpus with {voices} American voices at two speeds, two thirds of
them with some white noise; pocketsphinx (its own acoustic model and trigram of 72,547 words, `maxhmmpf` 5,000) writes lists of
50 hypotheses, its own result first. A sentence has 5 to 25 words, all in pocketsphinx's dictionary; words outside a model's
vocabulary are not avoided. Weights, the share of pocketsphinx's own trigram that is taken out, and whether a full stop is added
are chosen on sentences of the dev part. The second row does the same without another model: it shows what the weights alone give,
and a model's own gain is over that row. `librivox` are real recordings, too few for a claim. Nothing is drawn at random. How to
do it: [docs/how-to/rescore.md](../docs/how-to/rescore.md).

"""


def word_error_rate(lists: Lists, heard: Sequence[str]) -> float:
    """Errors for each word that was said, counted by jiwer."""
    import jiwer

    return float(jiwer.wer(list(lists.said.values()), list(heard)))


@dataclass(frozen=True)
class Choice:
    """How a model is used: what is taken out of the recogniser's score, the mark at the end, the weights."""

    share: float
    end_mark: str
    weights: Weights
    dev_errors: int


def own_trigram(lists: Sequence[NBest], *, end_mark: str) -> list[list[float]]:
    """The scores of the recogniser's own trigram: what tuned weights give without another model."""
    return [[found.facts["trigram"] for found in each.hypotheses] for each in lists]


def choose(dev: Lists, scorer: Scorer) -> Choice:
    """The use with the fewest word errors on dev."""
    choices = []
    for end_mark in END_MARKS:
        scores = scorer(dev.lists, end_mark=end_mark)
        for share in SHARES:
            lists = dev.without_trigram(share)
            weights = tune(lists, scores, dev.said)
            errors = count_errors(reorder(lists, scores, weights)[0], dev.said).num_errors
            choices.append(Choice(share, end_mark, weights, errors))
    return min(choices, key=lambda choice: choice.dev_errors)


def compare(parts: Mapping[str, Lists], models: Sequence[Path]) -> list[dict[str, Any]]:
    """A row of word error rates for the recogniser, each model, and the best that reordering could do."""
    told = {part: lists for part, lists in parts.items() if part != "dev"}

    def row(name: str, order: Callable[[Lists], Sequence[NBest]], choice: Choice | None = None) -> dict[str, Any]:
        heard = {part: [each.hypotheses[0].text for each in order(lists)] for part, lists in told.items()}
        rates = {part: word_error_rate(told[part], heard[part]) for part in told}
        return {"order": name, **rates, **({} if choice is None else asdict(choice))}

    def best(lists: Lists) -> list[NBest]:
        scores = [
            [-word_errors(lists.said[each.utterance].split(), found.text.split()) for found in each.hypotheses]
            for each in lists.lists
        ]
        return reorder(lists.lists, scores, Weights(0.0, 1.0, 0.0))[0]

    rows = [row("pocketsphinx", lambda lists: lists.lists)]
    scorers: dict[str, Scorer] = {"its own trigram, weights tuned": own_trigram}
    scorers |= {path.name: partial(score_lists, load(path)) for path in models}
    for name, scorer in scorers.items():
        choice = choose(parts["dev"], scorer)

        def order(lists: Lists, choice: Choice = choice, scorer: Scorer = scorer) -> list[NBest]:
            return reorder(
                lists.without_trigram(choice.share), scorer(lists.lists, end_mark=choice.end_mark), choice.weights
            )[0]

        rows.append(row(name, order, choice))
    return [*rows, row("best of the list", best)]


def write_table(rows: Sequence[dict[str, Any]], parts: Mapping[str, Lists]) -> str:
    """Word error rates as Markdown, and how many errors there are less than in the recogniser's own order."""
    told = [part for part in parts if part != "dev"]
    head = ["order", *(f"{part}, {len(parts[part].lists)} utterances" for part in told), "fewer errors, test"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        rates = [f"{100 * row[part]:.2f} %" for part in told]
        fewer = 100 * (1 - row["test"] / rows[0]["test"])
        lines.append(f"| {' | '.join([row['order'], *rates, f'{fewer:+.1f} %'])} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path, help="model folders")
    parser.add_argument("--work", type=Path, help="a prepared folder (default: the built-in corpus)")
    parser.add_argument("--sentences", type=int, default=300, help="of the test part")
    parser.add_argument("--tuning", type=int, default=100, help="sentences of the dev part, for the weights")
    parser.add_argument("--real", type=Path, help="the folder of the LibriVox utterances")
    parser.add_argument("--keep", type=Path, help="where lists are kept, and found again")
    parser.add_argument("--jobs", type=int, default=1, help="recognisers at once")
    parser.add_argument("--output", type=Path, help="write OUTPUT.md and OUTPUT.json")
    parser.add_argument("--quick", action="store_true", help="under a minute: five sentences each")
    options = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    missing = [name for name in ("espeak-ng", "sox") if shutil.which(name) is None]
    missing += [name for name in ("pocketsphinx", "jiwer") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"left out: needs {', '.join(missing)} (see the head of {__file__})")
        return
    with tempfile.TemporaryDirectory() as name:
        work = options.work or Path(name) / "work"
        corpus = TokenCorpus.open(work) if options.work else prepare([BUILTIN], work)
        keep = options.keep or Path(name) / "lists"
        numbers = {"dev": options.tuning, "test": options.sentences}
        parts = {}
        for part, number in numbers.items():
            speeches = list(choose_sentences(corpus, part, 5 if options.quick else number))
            parts[part] = make_lists(part, speeches, keep, options.jobs)
        if options.real:
            speeches, sounds = read_real(options.real)
            parts["librivox"] = make_lists("librivox", speeches, keep, options.jobs, sounds)
        rows = compare(parts, options.models)
    table = write_table(rows, parts)
    print(table)
    sizes = {
        part: [len(lists.lists), sum(len(said.split()) for said in lists.said.values())]
        for part, lists in parts.items()
    }
    facts = {"commit": commit, "utterances_and_words": sizes, "rows": rows}
    if options.output:
        head = HEAD.format(commit=commit, data=f"{options.output.name}.json", voices=len(VOICES))
        options.output.with_suffix(".md").write_text(head + table, encoding="utf-8")
        options.output.with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
