"""What the stages before a model write and read: the corpus, its vocabulary, vectors, files to import, codes, records."""

import gzip
import io
import shutil
from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch

from fewwords.cli.corpus import show
from fewwords.codes import SparseCodes
from fewwords.codes.explain import explain
from fewwords.corpus import TokenCorpus
from fewwords.layers.code_table import CodeTable
from fewwords.making.minutes import TrainingTime
from fewwords.making.record import Record
from fewwords.vectors import WordVectors
from fewwords.vectors.imported import import_vectors
from fewwords.vectors.neighbours import nearest_words
from fewwords.vectors.settings import SkipGramSettings
from fewwords.vocabulary import Vocabulary
from fewwords.work_folder import corpus_folder
from reliability import samples
from reliability.kind import Kind
from reliability.samples import Work


def _make_codes(work: Work, folder: Path) -> None:
    work.codes.save(folder / "codes.safetensors")


def _use_codes(work: Work, folder: Path) -> Any:
    codes = SparseCodes.load(folder / "codes.safetensors")
    if codes.num_words != work.size:
        return codes.num_words
    vocabulary = work.corpus.vocabulary()
    return (
        [asdict(explain(word, codes, vocabulary)) for word in (vocabulary.words[3], vocabulary.words[-1])],
        [each.tolist() for each in codes.row(codes.num_words - 1)],
        float(codes.to_csr().sum()),
        codes.quantise().num_bytes,
        CodeTable(codes).combine_rare(torch.ones(codes.num_base, 2)).sum().item(),
    )


def _make_vectors(work: Work, folder: Path) -> None:
    work.vectors.save(folder)


def _use_vectors(work: Work, folder: Path) -> Any:
    shape = WordVectors.stored_shape(folder)
    vectors = WordVectors.load(folder)
    vocabulary = work.corpus.vocabulary()
    vectors.check_fits(vocabulary)
    return shape, nearest_words(vectors, vocabulary, "dog", 3)


def _make_vector_file(layout: str, work: Work, folder: Path) -> None:
    words = [(word, row) for word, row in zip(work.corpus.vocabulary().words, work.vectors.values)][3:]
    header = f"{len(words)} {samples.SIZE}\n".encode()
    rows = [word.encode() + b" " + " ".join(f"{value:.4f}" for value in row).encode() + b"\n" for word, row in words]
    if layout == "binary":
        rows = [word.encode() + b" " + row.astype("<f4").tobytes() + b"\n" for word, row in words]
    content = (b"" if layout == "glove" else header) + b"".join(rows)
    path = folder / _vector_file(layout)
    path.write_bytes(gzip.compress(content, mtime=0) if layout == "gzip" else content)


def _vector_file(layout: str) -> str:
    return "vectors.vec.gz" if layout == "gzip" else "vectors.vec"


def _use_vector_file(layout: str, work: Work, folder: Path) -> Any:
    vectors = import_vectors(folder / _vector_file(layout), work.corpus.vocabulary())
    return (
        vectors.size,
        vectors.num_without_vector,
        vectors.values.sum(axis=1).tolist(),
        vectors.neighbours([9], 3)[0].tolist(),
    )


def _make_corpus(work: Work, folder: Path) -> None:
    shutil.copytree(corpus_folder(work.folder), corpus_folder(folder))


def _use_corpus(work: Work, folder: Path) -> Any:
    corpus = TokenCorpus.open(folder)
    vocabulary = corpus.vocabulary()
    found: list[Any] = [vocabulary.fingerprint, corpus.made_from, asdict(corpus.rules), corpus.num_types]
    for name in ("train", "dev", "test"):
        part = corpus.part(name)  # type: ignore[arg-type]
        found.append([vocabulary.decode(ids.tolist()) for ids in part.sentences(0, 20)])
    batches = corpus.part("train", 20).batches(64)
    found.append([next(batches).ids.tolist() for _ in range(3)])
    with redirect_stdout(io.StringIO()) as shown:
        show(folder)
        show(folder, sample=3)
    return [*found, shown.getvalue()]


def _make_words(work: Work, folder: Path) -> None:
    work.corpus.vocabulary().save(folder / "words.tsv")


def _use_words(work: Work, folder: Path) -> Any:
    vocabulary = Vocabulary.load(folder / "words.tsv")
    whole = [vocabulary.encode(["the", "dog", "zzz"]), vocabulary.fingerprint, int(vocabulary.counts.sum())]
    return whole, vocabulary.head(10).counts.tolist(), vocabulary.starting_with("th").indices(100)


_ASKED = {"seed": 1, "sizes": [10, 2]}


def _make_record(work: Work, folder: Path) -> None:
    record = Record(folder)
    record.begin("vectors", _ASKED, {"epochs": 2, "words": None})
    record.begin("train made", _ASKED, {"epochs": 0.5})


def _use_record(work: Work, folder: Path) -> Any:
    record = Record(folder)
    vectors, training = record.begun("vectors", _ASKED), record.begun("train made", _ASKED)
    found = [
        record.is_done("vectors", _ASKED, folder / "make.json"),
        asdict(record.read_chosen(SkipGramSettings, vectors or {})),
        asdict(record.read_chosen(TrainingTime, training or {"epochs": 1.0})),
    ]
    record.begin("train made", _ASKED, {})
    record.finish("train made", work.folder.parent / "text.txt")
    return [*found, (folder / "make.json").read_text()]


STAGE_KINDS: dict[str, Kind] = {
    "codes": Kind(_make_codes, _use_codes),
    "vectors": Kind(_make_vectors, _use_vectors),
    **{
        f"vectors-{layout}": Kind(partial(_make_vector_file, layout), partial(_use_vector_file, layout))
        for layout in ("text", "glove", "binary", "gzip")
    },
    "corpus": Kind(_make_corpus, _use_corpus),
    "words": Kind(_make_words, _use_words),
    "make": Kind(_make_record, _use_record),
}
