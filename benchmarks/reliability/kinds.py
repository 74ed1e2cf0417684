"""Every kind of file that fewwords reads: how a sample is made, and how it is read and then used a little.

Using it matters: a wrong array does no harm before something reads through it. What `use` returns must be the same for
the same files, and every number in it must be finite. A new kind of file is one more entry in `KINDS`.
"""

import bz2
import gzip
import io
import shutil
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fewwords.cli.corpus import show
from fewwords.cli.use import info
from fewwords.codes import SparseCodes
from fewwords.codes.explain import explain
from fewwords.corpus import TokenCorpus, prepare
from fewwords.errors import InputError
from fewwords.layers.code_table import CodeTable
from fewwords.models.kneser_ney import read_arpa, write_arpa
from fewwords.models.neural.model import NeuralModel
from fewwords.progress import Progress, listening
from fewwords.training.train import train
from fewwords.use.nbest import read_lists, write_lists
from fewwords.use.rescore import Weights, reorder, score_lists
from fewwords.use.text_model import TextModel, load
from fewwords.vectors import WordVectors
from fewwords.vectors.imported import import_vectors
from fewwords.vectors.neighbours import nearest_words
from fewwords.vocabulary import Vocabulary
from fewwords.work_folder import corpus_folder
from reliability import samples
from reliability.inputs import Special
from reliability.samples import Work

SENTENCES = ("The old man saw a dog.", "Mary liked it, zzz!", "")


@dataclass(frozen=True)
class Kind:
    """`make` writes a sample into an empty folder; `use` reads it from a folder, which it may change.

    `specials` are what a file may be replaced by and must not be waited for.
    """

    make: Callable[[Work, Path], Any]
    use: Callable[[Work, Path], Any]
    specials: tuple[Special, ...] = tuple(Special)


def use_model(model: TextModel) -> list[Any]:
    """The answers of a model to all that it can be asked; raises ArithmeticError where they cannot be right."""
    log_probs = model.log_probs(model.feed(model.start(), "the"))
    total = float(np.exp(log_probs.astype(np.float64)).sum())
    if isinstance(model.model, NeuralModel) and not abs(total - 1) < 1e-3:
        raise ArithmeticError(f"the probabilities of the next word add up to {total}")
    answers: list[Any] = [
        total,
        [[asdict(word) for word in scores] for scores in model.full_scores_all(SENTENCES)],
        [[asdict(each) for each in model.suggest(text, 3)] for text in ("the ", "Th", "the old", "")],
        model.sample("the", max_words=5, seed=1),
        min(model.perplexity(SENTENCES[0]), 1e300),  # infinite where huge weights give a word no chance
    ]
    if model.model.codes is not None:
        answers.append(asdict(model.explain(model.vocabulary.words[-1])))
    return answers


def _use_model_folder(work: Work, folder: Path) -> Any:
    with redirect_stdout(io.StringIO()) as shown:
        info(folder / "model", json=True)
    return use_model(load(folder / "model")), shown.getvalue().replace(str(folder), "")


def _neural(variant: str) -> Kind:
    return Kind(lambda work, folder: samples.save_neural_model(work, variant, folder / "model"), _use_model_folder)


def _make_n_gram(work: Work, folder: Path) -> None:
    samples.save_n_gram_model(work, folder / "model")


def _make_mixture(work: Work, folder: Path) -> None:
    samples.save_mixed_model(work, folder / "model", work.folder.parent / "components")


def _make_arpa(name: str, work: Work, folder: Path) -> None:
    write_arpa(samples.save_n_gram_model(work, work.folder.parent / "n-grams"), folder / name)


def _use_arpa(name: str, work: Work, folder: Path) -> Any:
    return use_model(TextModel(read_arpa(folder / name)))


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


class _EnoughError(Exception):
    """A training run has come far enough."""


def _train(work: Work, folder: Path, **settings: Any) -> Any:
    return train(
        work.folder,
        "lstm-z-w",
        vocabulary_size=work.size,
        base_size=samples.BASE_SIZE,
        output=folder / "run",
        embedding_size=samples.SIZE,
        hidden_size=samples.SIZE,
        words=600,
        batch_words=64,
        num_noise=8,
        eval_every=300,
        threads=1,
        resume=True,
        **settings,
    )


def _make_run(work: Work, folder: Path, **settings: Any) -> None:
    def stop(report: "str | Progress") -> None:
        if isinstance(report, Progress) and report.description.startswith("training") and report.done > 500:
            raise _EnoughError

    try:
        with listening(stop):
            _train(work, folder, **settings)
    except _EnoughError:
        return
    raise AssertionError("the run was not interrupted")


def _use_run(work: Work, folder: Path, **settings: Any) -> Any:
    summary = asdict(_train(work, folder, **settings))
    answers = use_model(load(folder / "run"))
    return [{name: summary[name] for name in ("words", "best_words", "dev_perplexity", "learning_rate")}, answers]


_NBEST = {
    "srilm": ["-10.5 -3 3 the old man", "-11 -2 3 the cold man", "", "-4 -1 2 a dog", "-4.5 -1 2 a fog"],
    "kaldi": ["one-1 the old man", "one-2 the cold man", "two-1 a dog", "two-2 a fog"],
    "json": [
        '{"utterance": "one", "text": "the old man", "score": -10.5, "more": [1, {"a": null}]}',
        '{"utterance": "one", "text": "the cold man", "score": -11}',
        '{"utterance": "two", "text": "a dog"}',
    ],
}


def _make_nbest(form: str, work: Work, folder: Path) -> None:
    suffix = "jsonl" if form == "json" else "txt"
    (folder / f"lists.{suffix}").write_text("\n".join(_NBEST[form]) + "\n")
    samples.save_n_gram_model(work, work.folder.parent / "scorer")


def _use_nbest(work: Work, folder: Path) -> Any:
    path = next(iter(sorted(folder.glob("lists.*"))), folder / "lists.txt")
    if not path.is_file():
        raise InputError("no such file")  # the command line has looked
    with path.open(encoding="utf-8", errors="replace") as file:
        form, lists = read_lists(file, path.name)
    scores = score_lists(load(work.folder.parent / "scorer"), lists)
    best, ordered = reorder(lists, scores, Weights(1.0, 2.0, 0.5))
    return form, list(write_lists(best, ordered, form))


_WIKI = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/"><siteinfo><sitename>W</sitename></siteinfo>
<page><title>Cats</title><ns>0</ns><id>1</id><revision><id>1</id><text xml:space="preserve">'''Cats''' are [[animal|animals]].
{{Infobox|a={{b|c}}}} They eat fish.&lt;ref name="x"&gt;A book.&lt;/ref&gt; Nobody knows why they sleep so long.
== History ==
* One old man had a cat. [http://a.b It was red.]
{| class="x"
| cell || other
|}
The king saw the cat, and it was good.</text></revision></page>
<page><title>Dogs</title><ns>0</ns><id>2</id><redirect title="Cats" /><revision><text>#REDIRECT [[Cats]]</text></revision></page>
</mediawiki>
"""
_TEXTS: dict[str, Callable[[], bytes]] = {
    "txt": lambda: samples.make_text(12).encode(),
    "gz": lambda: gzip.compress(samples.make_text(12).encode(), mtime=0),
    "bz2": lambda: bz2.compress(samples.make_text(12).encode()),
    "zst": lambda: _zstandard(samples.make_text(12).encode()),
    "xml": _WIKI.encode,
    "xml.bz2": lambda: bz2.compress(_WIKI.encode()),
    "jsonl": lambda: b'{"title": "Cats", "text": "The old man saw a dog. Mary liked the cat."}\n' * 3,
}


def _zstandard(text: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(text)


def _make_source(suffix: str, work: Work, folder: Path) -> None:
    (folder / f"text.{suffix}").write_bytes(_TEXTS[suffix]())


def _use_source(suffix: str, work: Work, folder: Path) -> Any:
    corpus = prepare([str(folder / f"text.{suffix}")], folder / "work", dev_words=0, test_words=0)
    return corpus.vocabulary().words, [ids.tolist() for ids in corpus.part("train").sentences(0, 50)]


# A text may come through a named pipe (`prepare <(zcat text.gz)`), and then prepare waits for it.
_NO_PIPES = tuple(special for special in Special if special is not Special.PIPE)

KINDS: dict[str, Kind] = {
    "lstm-z-w": _neural("lstm-z-w"),
    "lstm-z-wb": _neural("lstm-z-wb"),
    "lstm-z": _neural("lstm-z"),
    "gru-z-w": _neural("gru-z-w"),
    "lbl5": _neural("lbl5"),
    "kn3": Kind(_make_n_gram, _use_model_folder),
    "mix": Kind(_make_mixture, _use_model_folder),
    "arpa": Kind(partial(_make_arpa, "lm.arpa"), partial(_use_arpa, "lm.arpa")),
    "arpa-gz": Kind(partial(_make_arpa, "lm.arpa.gz"), partial(_use_arpa, "lm.arpa.gz")),
    "codes": Kind(_make_codes, _use_codes),
    "vectors": Kind(_make_vectors, _use_vectors),
    **{
        f"vectors-{layout}": Kind(partial(_make_vector_file, layout), partial(_use_vector_file, layout))
        for layout in ("text", "glove", "binary", "gzip")
    },
    "corpus": Kind(_make_corpus, _use_corpus),
    "words": Kind(_make_words, _use_words),
    "checkpoint": Kind(_make_run, _use_run),
    "tuning": Kind(partial(_make_run, tune_lr=True), partial(_use_run, tune_lr=True)),
    **{f"nbest-{form}": Kind(partial(_make_nbest, form), _use_nbest) for form in _NBEST},
    **{
        f"text-{suffix}": Kind(partial(_make_source, suffix), partial(_use_source, suffix), _NO_PIPES)
        for suffix in _TEXTS
    },
}
