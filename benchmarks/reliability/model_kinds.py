"""Models: folders of every kind, packed files, ARPA files, and unfinished runs, which are resumed."""

import io
from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fewwords.cli.use import info
from fewwords.models.kneser_ney import read_arpa, write_arpa
from fewwords.models.neural.model import NeuralModel
from fewwords.models.packed.model import PackedModel
from fewwords.packing.pack import pack
from fewwords.progress import Progress, listening
from fewwords.training.train import train
from fewwords.use.text_model import TextModel, load
from reliability import samples
from reliability.kind import Kind
from reliability.samples import Work

SENTENCES = ("The old man saw a dog.", "Mary liked it, zzz!", "")


def use_model(model: TextModel) -> list[Any]:
    """The answers of a model to all that it can be asked; raises ArithmeticError where they cannot be right."""
    log_probs = model.log_probs(model.feed(model.start(), "the"))
    total = float(np.exp(log_probs.astype(np.float64)).sum())
    if isinstance(model.model, (NeuralModel, PackedModel)) and not abs(total - 1) < 1e-3:
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


def _use_saved_model(work: Work, folder: Path, name: str = "model", device: str = "numpy") -> Any:
    with redirect_stdout(io.StringIO()) as shown:
        info(folder / name, json=True)
    return use_model(load(folder / name, device)), shown.getvalue().replace(str(folder), "")


def _neural(variant: str, device: str = "cpu") -> Kind:
    return Kind(
        lambda work, folder: samples.save_neural_model(work, variant, folder / "model"),
        partial(_use_saved_model, device=device),
    )


def _packed(variant: str, bits: int) -> Kind:
    def make(work: Work, folder: Path) -> None:
        model = work.folder.parent / f"to-pack-{variant}"
        samples.save_neural_model(work, variant, model)
        pack(model, folder / "model.few", bits=bits)

    return Kind(make, partial(_use_saved_model, name="model.few"))


def _make_n_gram(work: Work, folder: Path) -> None:
    samples.save_n_gram_model(work, folder / "model")


def _make_mixture(work: Work, folder: Path) -> None:
    samples.save_mixed_model(work, folder / "model", work.folder.parent / "components")


def _make_arpa(name: str, work: Work, folder: Path) -> None:
    write_arpa(samples.save_n_gram_model(work, work.folder.parent / "n-grams"), folder / name)


def _use_arpa(name: str, work: Work, folder: Path) -> Any:
    return use_model(TextModel(read_arpa(folder / name)))


class _EnoughError(Exception):
    """A training run has come far enough."""


def _train(work: Work, folder: Path, *, words: int = 600, **settings: Any) -> Any:
    return train(
        work.folder,
        "lstm-z-w",
        vocabulary_size=work.size,
        base_size=samples.BASE_SIZE,
        output=folder / "run",
        embedding_size=samples.SIZE,
        hidden_size=samples.SIZE,
        words=words,
        batch_words=64,
        num_noise=8,
        eval_every=words // 2,
        threads=1,
        resume=True,
        **settings,
    )


def _make_run(work: Work, folder: Path, *, words: int = 600, **settings: Any) -> None:
    def stop(report: "str | Progress") -> None:
        if isinstance(report, Progress) and report.description.startswith("training") and report.done > words - 100:
            raise _EnoughError

    try:
        with listening(stop):
            _train(work, folder, words=words, **settings)
    except _EnoughError:
        return
    raise AssertionError("the run was not interrupted")


def _use_run(work: Work, folder: Path, **settings: Any) -> Any:
    summary = asdict(_train(work, folder, **settings))
    answers = use_model(load(folder / "run"))
    return [{name: summary[name] for name in ("words", "best_words", "dev_perplexity", "learning_rate")}, answers]


_TUNING = {"tune_lr": True, "words": 300}  # for each of the rates

MODEL_KINDS: dict[str, Kind] = {
    **{variant: _neural(variant) for variant in ("lstm-z-w", "lstm-z-wb", "lstm-z", "gru-z-w", "lbl5")},
    "lstm-z-w-numpy": _neural("lstm-z-w", "numpy"),
    "packed": _packed("lstm-z-w", 4),
    "packed-lbl5": _packed("lbl5", 8),
    "kn3": Kind(_make_n_gram, _use_saved_model),
    "mix": Kind(_make_mixture, _use_saved_model),
    "arpa": Kind(partial(_make_arpa, "lm.arpa"), partial(_use_arpa, "lm.arpa")),
    "arpa-gz": Kind(partial(_make_arpa, "lm.arpa.gz"), partial(_use_arpa, "lm.arpa.gz")),
    "checkpoint": Kind(_make_run, _use_run),
    "tuning": Kind(partial(_make_run, **_TUNING), partial(_use_run, **_TUNING)),
}
