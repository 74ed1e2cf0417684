"""Models measured as keyboards, side by side: words suggested, keys saved (the protocol: docs/how-to/keyboard.md).

    python benchmarks/keyboard.py --on enwiki WORK MODEL… --on sotu WORK MODEL… --tables FOLDER --output results/keyboard

`--on NAME WORK MODEL…` types the first words of WORK's test part with each model; give models of one vocabulary. `--tables FOLDER`
measures two n-gram tables of Debian on the same words, from where their packages were unpacked:

    apt-get download onboard-data libpresage-data && for deb in *.deb; do dpkg -x $deb FOLDER; done

Without `--on`, a Kneser-Ney model of the built-in corpus is estimated and measured. Prints a card and, as its last line, one
JSON object; `--output NAME` writes NAME.md and NAME.json.
"""

import argparse
import json
import sqlite3
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.corpus import TokenCorpus, prepare
from fewwords.evaluation.keyboard import MOST_LETTERS, evaluate_keyboard, measure_keyboard
from fewwords.models.kneser_ney import estimate
from fewwords.models.load import load
from fewwords.text.sources import BUILTIN
from fewwords.vocabulary import SPECIAL_WORDS, UNKNOWN_ID, Vocabulary

WORDS, QUICK_WORDS = 10_000, 2_000
MARKS = tuple(". , - ( ) \" ' ; : ? ! / [ ] & – … ...".split())
ONBOARD, PRESAGE = "usr/share/onboard/models/en_US.lm", "usr/share/presage/database_en.db"
Ngram = tuple[str, ...]


class CountTable:
    """A table of n-gram counts that suggests words, as much of a `Model` as a keyboard needs.

    p(w | h) = sum_n weight_n c(h_n w) / c(h_n) over the last n words h_n; `weights` begin with that of single words. Marks are no
    words of these tables: they are never suggested, and a context goes on behind them.
    """

    def __init__(self, counts: Sequence[Counter[Ngram]], weights: Sequence[float]) -> None:
        singles = [word for (word,), _ in counts[0].most_common()]
        self.vocabulary = Vocabulary([*SPECIAL_WORDS, *MARKS, *singles], np.zeros(0, np.int64))
        self.num_words = len(self.vocabulary)
        ids = self.vocabulary.ids
        self._first_word = len(SPECIAL_WORDS) + len(MARKS)
        self._weights = weights
        total = counts[0].total()
        self._singles = np.zeros(self.num_words)
        self._singles[self._first_word :] = [count / total for _, count in counts[0].most_common()]
        self._after: dict[tuple[int, ...], tuple[list[int], list[float]]] = {}
        for order, table in enumerate(counts[1:], 1):
            for (*context, word), count in table.items():
                if word in ids and counts[order - 1][tuple(context)]:
                    words, shares = self._after.setdefault(tuple(map(ids.__getitem__, context)), ([], []))
                    words.append(ids[word])
                    shares.append(count / counts[order - 1][tuple(context)])

    def start(self) -> tuple[int, ...]:
        """No word yet."""
        return ()

    def feed_all(self, states: Sequence[tuple[int, ...]], words: Sequence[int]) -> list[tuple[int, ...]]:
        """The last words."""
        kept = len(self._weights) - 1
        return [
            state if UNKNOWN_ID < word < self._first_word else (*state, word)[-kept:]
            for state, word in zip(states, words)
        ]

    def log_probs_all(self, states: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
        """ln p of every word, [states, V]; -inf for what is no word of the table."""
        found = np.tile(self._weights[0] * self._singles, (len(states), 1))
        for row, state in zip(found, states):
            for order in range(1, len(state) + 1):
                words, shares = self._after.get(state[-order:], ([], []))
                row[words] += self._weights[order] * np.array(shares)
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float32] = np.log(found).astype(np.float32)
        return logs


def read_onboard(path: Path) -> CountTable:
    """Onboard's table: counts of words, and of pairs, nearly all of them names; lines `count word word` as in an ARPA file.

    Words are lower-cased, as in the text that is typed. Frequencies of words and of pairs are added as they are.
    """
    counts: list[Counter[Ngram]] = [Counter(), Counter()]
    for line in path.read_text(encoding="utf-8").splitlines():
        count, *words = line.split()[:3] or [""]
        if words and count.isdigit() and words[0] not in (*SPECIAL_WORDS, "<num>"):
            counts[len(words) - 1][tuple(word.lower() for word in words)] += int(count)
    return CountTable(counts, (1.0, 1.0))


def read_presage(path: Path) -> CountTable:
    """Presage's table: an SQLite file with counts of 1-, 2- and 3-grams, weighted as in its presage.xml.

    It cuts words at apostrophes, so its `s` is our `'s`.
    """
    counts: list[Counter[Ngram]] = []
    with sqlite3.connect(path) as database:
        for order in (1, 2, 3):
            rows = database.execute(f"select * from _{order}_gram")
            counts.append(Counter({tuple("'s" if word == "s" else word for word in row[:-1]): row[-1] for row in rows}))
    return CountTable(counts, (0.01, 0.1, 0.89))


def measure(
    name: str, work: Path, models: Sequence[Path], tables: Path | None, num_words: int
) -> Iterator[dict[str, Any]]:
    """One row of figures for each model and table."""
    for path in models:
        model = load(path)
        row = evaluate_keyboard(path, work=work, max_words=num_words).to_json()
        yield {"text": name, "model": path.name, "vocabulary": model.num_words, "numbers": model.num_numbers} | row
    if tables is not None:
        corpus = TokenCorpus.open(work)
        whole, part = corpus.vocabulary(), corpus.part("test").head(num_words)
        for title, table in (
            ("onboard-data", read_onboard(tables / ONBOARD)),
            ("libpresage-data", read_presage(tables / PRESAGE)),
        ):
            sentences = (whole.decode(ids) for ids in part.sentences())
            words = table.num_words - len(SPECIAL_WORDS) - len(MARKS)
            yield {"text": name, "model": title, "vocabulary": words} | measure_keyboard(table, sentences).to_json()  # type: ignore[arg-type]


HEAD = """# Models as keyboards

Written by `benchmarks/keyboard.py` at commit {commit}; do not edit. The same as data: [{data}]({data}). Three suggestions, the
first words of the test part of each corpus; the protocol and the figures are in
[docs/how-to/keyboard.md](../docs/how-to/keyboard.md). Nothing is drawn at random. Columns with letters: the share of words that
are among the suggestions after so many. `onboard-data` and `libpresage-data` are the English n-gram tables of Debian, with
their own vocabularies: counts of words and of pairs, nearly all of them names (Onboard), and 1- to 3-grams of 82,000 words
(Presage). They are ranked by their frequencies, Presage's with the weights of its configuration. This measures the tables, not
the programs, which also learn from their users.

"""


def write_table(rows: Sequence[dict[str, Any]]) -> str:
    """The figures as Markdown, a table for each text."""
    letters = [f"{place} letter{'s' * (place > 1)}" for place in range(1, MOST_LETTERS + 1)]
    head = ["model", "words", "known", "top 1", "top 3", *letters, "keys saved"]
    lines = []
    for name in dict.fromkeys(row["text"] for row in rows):
        chosen = [row for row in rows if row["text"] == name]
        lines += [
            f"## {name}, {chosen[0]['words']:,} words typed",
            "",
            f"| {' | '.join(head)} |",
            "|---" * len(head) + "|",
        ]
        for row in chosen:
            shares = [row["coverage"], row["top_1"], *row["recall_after_letters"], row["keys_saved"]]
            cells = [row["model"], f"{row['vocabulary']:,}", *(f"{100 * share:.1f} %" for share in shares)]
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--on", nargs="+", action="append", metavar=("NAME WORK", "MODEL"), help="what to type, and with what"
    )
    parser.add_argument("--tables", type=Path, help="where Debian's packages were unpacked")
    parser.add_argument("--words", type=int, default=WORDS, help=f"how many words to type (default: {WORDS:,})")
    parser.add_argument("--quick", action="store_true", help=f"under a minute: {QUICK_WORDS:,} words")
    parser.add_argument("--output", type=Path, help="write OUTPUT.md and OUTPUT.json")
    options = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    num_words = QUICK_WORDS if options.quick else options.words
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        runs = options.on or [built_in(Path(name))]
        for title, work, *models in runs:
            rows += measure(title, Path(work), [Path(model) for model in models], options.tables, num_words)
    table = write_table(rows)
    print(table)
    facts = {"commit": commit, "suggestions": 3, "max_words": num_words, "rows": rows}
    if options.output:
        head = HEAD.format(commit=commit, data=f"{options.output.name}.json")
        options.output.with_suffix(".md").write_text(head + table, encoding="utf-8")
        options.output.with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(facts))


def built_in(folder: Path) -> list[str]:
    """A Kneser-Ney model of the built-in corpus."""
    corpus = prepare([BUILTIN], folder / "work")
    size = min(10_000, corpus.num_types)
    estimate(corpus.part("train", size), 3, vocabulary=corpus.vocabulary(size)).save(folder / "kn3")
    return ["sotu", str(folder / "work"), str(folder / "kn3")]


if __name__ == "__main__":
    main()
