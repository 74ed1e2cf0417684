"""From the records of a plan to its report, and to a folder of results: tables, figures, a README, the records."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from fewwords.codes.explain import Explanation, explain
from fewwords.codes.quality import words_with_stem
from fewwords.codes.sparse_codes import SparseCodes
from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.paper.cells import codes_file
from fewwords.paper.plan import DEFAULT_NONZEROS, Cell
from fewwords.paper.record import Record, read_record
from fewwords.paper.report.contents import Report, make_report
from fewwords.paper.report.figures import draw_figures
from fewwords.paper.report.markdown import put_headline, results_readme
from fewwords.paper.report.page import write_report
from fewwords.paper.spelling_cache import spelled_sizes
from fewwords.paper.tables.results import Results
from fewwords.store.files import atomic_write, write_json
from fewwords.vectors.word_vectors import WordVectors
from fewwords.vocabulary import Vocabulary
from fewwords.work_folder import vectors_path

PAPER_PAIRS = (("algorithm", "algorithms"), ("secret", "secrets"), ("debate", "debates"))


def write_paper(
    work: Path,
    plan: Sequence[Cell],
    *,
    base_size: int,
    command: str | None = None,
    results: Path | None = None,
    readme: Path | None = None,
    note: str | None = None,
) -> tuple[Path, Report]:
    """Write the report of the finished cells to `report/` of `work`, and to `results`; returns page and report.

    `command` is what a reader types to get the same. The headline goes between its marks in the file `readme`, with
    `note` behind it. Raises InputError when no cell is done, and when that file has no marks.
    """
    records = [record for cell in plan if (record := read_record(work, cell)) is not None]
    if not records:
        raise InputError(f"{work}: no cell of the plan is done yet; run the plan first")
    corpus = TokenCorpus.open(work)
    found = Results.gather(records, {cell.name for cell in plan if cell.words is None})
    folder = work / "report"
    figures = draw_figures(found, _pairs(work, plan, corpus, base_size), base_size, folder / "figures")
    report = make_report(
        found,
        corpus.description,
        _about(work, plan, records, base_size, command),
        drawn=figures,
        spelled=spelled_sizes(corpus, found.sizes, folder / "spelling.json"),
        note=note,
    )
    page = write_report(folder, report)
    if results is not None:
        _write_results(results, report, [path for paths in figures.values() for path in paths])
    if readme is not None:
        text = put_headline(readme.read_text(encoding="utf-8"), report.headline_markdown)
        with atomic_write(readme) as file:
            file.write(text.encode())
    return page, report


def _about(
    work: Path, plan: Sequence[Cell], records: Sequence[Record], base_size: int, command: str | None
) -> dict[str, str]:
    """General facts for the page."""
    about = {
        "command": command,
        "cells done": f"{len(records)} of {len(plan)}",
        "base words": f"{base_size:,}",
        "word vectors": _vectors(work),
        "test text": f"the first {max(record.test_words for record in records):,} words of the test part",
        "commits": ", ".join(sorted({str(record.commit) for record in records})),
        "machine": "; ".join(sorted({record.machine for record in records})),
    }
    return {name: told for name, told in about.items() if told is not None}


def _vectors(work: Path) -> str | None:
    """What the word vectors were made from; None if there are none."""
    if not vectors_path(work).exists():
        return None
    made_from = WordVectors.load(work).made_from
    passes = made_from.get("settings", {}).get("epochs")
    if passes is None:
        return str(made_from.get("kind"))
    return f"{made_from.get('kind')}, {made_from.get('words') or 0:,} running words, {passes} {'pass' if passes == 1 else 'passes'}"


def _pairs(work: Path, plan: Sequence[Cell], corpus: TokenCorpus, base_size: int) -> list[Explanation]:
    """Codes for figure 3: the paper's pairs of a base word and a rare one, or as many pairs from this corpus."""
    coded = [
        cell for cell in plan if cell.max_nonzeros == DEFAULT_NONZEROS and codes_file(work, cell, base_size, make=False)
    ]
    if not coded:
        return []
    cell = max(coded, key=lambda each: each.vocabulary_size)
    path = codes_file(work, cell, base_size, make=False)
    if path is None:
        return []
    codes, vocabulary = SparseCodes.load(path), corpus.vocabulary(cell.vocabulary_size)
    pairs = [pair for pair in PAPER_PAIRS if _is_pair(pair, codes, vocabulary)]
    for rank, rows in words_with_stem(codes, vocabulary.words):
        if len(pairs) >= len(PAPER_PAIRS):
            break
        plural = vocabulary.words[rank]
        pairs += [(vocabulary.words[row], plural) for row in rows if plural == vocabulary.words[row] + "s"]
    return [explain(word, codes, vocabulary) for pair in pairs[: len(PAPER_PAIRS)] for word in pair]


def _is_pair(pair: tuple[str, str], codes: SparseCodes, vocabulary: Vocabulary) -> bool:
    plain, derived = (vocabulary.ids.get(word, codes.num_words) for word in pair)
    return plain < codes.num_base <= derived < codes.num_words


def _write_results(folder: Path, report: Report, figures: Sequence[Path]) -> None:
    """Tables, figures, a README, and the records, from which `--report` can make them all again."""
    for name in ("cells", "figures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for record in report.results.records:
        write_json(folder / "cells" / f"{record.name}.json", record.to_json())
    for figure in figures:
        shutil.copyfile(figure, folder / "figures" / figure.name)
    write_json(folder / "tables.json", report.to_json())
    with atomic_write(folder / "README.md") as file:
        file.write(results_readme(report.headline_markdown, report.contents).encode())
