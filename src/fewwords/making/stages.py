"""The stages of `make`, in a work folder; each is skipped if the record says that it is done."""

import math
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from fewwords.codes.make import make_codes
from fewwords.cores import available_cores
from fewwords.corpus.make import prepare
from fewwords.corpus.settings import Settings
from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import DivergedError, InputError
from fewwords.evaluation.evaluate import Evaluation, evaluate
from fewwords.making.choice import Choice
from fewwords.making.minutes import (
    NUM_EVALUATIONS,
    TrainingTime,
    training_within,
    vectors_within,
    with_last_stretch,
)
from fewwords.making.record import Record
from fewwords.making.request import Request
from fewwords.models.neural.variants import settings_of
from fewwords.models.sealed_folder import sealed_files
from fewwords.packing.pack import Packed, pack
from fewwords.progress import listening, numbered, say, without_lines
from fewwords.store.folders import merged_folder, remove_folder
from fewwords.text.sources import find_sources
from fewwords.training.checkpoint import find_checkpoint
from fewwords.training.process import prepare_process
from fewwords.training.run import RECORD
from fewwords.training.settings import LAST_STRETCH, LAST_STRETCH_RATE, LAST_STRETCH_TIME, TrainingSettings
from fewwords.training.speed import measure_speed
from fewwords.training.train import train
from fewwords.vectors.make import make_vectors
from fewwords.vectors.settings import SkipGramSettings
from fewwords.vectors.skip_gram import train_skip_gram
from fewwords.work_folder import codes_path, corpus_folder, vectors_path

MEASURED_VECTOR_WORDS = 200_000
# For orders of n-grams with too little text to estimate their discounts; KenLM has the same ones for that.
KNESER_NEY_FALLBACK = (0.5, 1.0, 1.5)
_SEAL = "model.json"

Measure = Callable[[float], dict[str, Any]]


class Stages:
    """The stages of a request, to be called in order."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._started = time.monotonic()
        self._record = Record(request.work)
        self.is_new = self._record.is_empty

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._started

    def prepare(self) -> TokenCorpus:
        """The corpus of the texts."""
        request, settings = self.request, Settings(seed=self.request.seed)
        left = corpus_folder(request.work) / "corpus.json"
        with self._stage("prepare", asdict(settings), left, is_current=self._is_same_text) as (is_due, _):
            if is_due:
                jobs = request.threads or available_cores()
                prepare(request.texts, request.work, settings=settings, jobs=jobs, force=True)
        return TokenCorpus.open(request.work)

    def _is_same_text(self) -> bool:
        """Whether the texts are those that the corpus was made of, by their content."""
        work, sources = self.request.work, find_sources(self.request.texts)
        known = [source["sha256"] for source in TokenCorpus.open(work).description["sources"]]
        if len(sources) != len(known):
            return False
        for source, expected in zip(sources, known):
            digest = sha256()
            for chunk in source.chunks():
                digest.update(chunk)
            if digest.hexdigest() != expected:
                if not source.paths:  # it cannot be read twice
                    raise InputError(f"standard input: not the text that {work} was made of; name another `work`")
                return False
        return True

    def make_vectors(self, corpus: TokenCorpus, choice: Choice) -> None:
        """Skip-gram vectors of the vocabulary."""
        request, size = self.request, choice.vocabulary_size
        epochs, vector_size = choice.recipe.vector_epochs, choice.vector_size
        settings = SkipGramSettings(vector_size, epochs=epochs, seed=request.seed, threads=request.threads)

        def measure(seconds: float) -> dict[str, Any]:
            num_words = corpus.part("train").num_words
            sample = min(num_words, MEASURED_VECTOR_WORDS)
            started = time.monotonic()
            train_skip_gram(corpus, replace(settings, epochs=1, words=sample), vocabulary_size=size)
            passed = time.monotonic() - started
            epochs, words = vectors_within(seconds - passed, num_words, settings.passes(num_words), sample / passed)
            return {"epochs": epochs, "words": words}

        asked = {**_without_threads(settings), "vocabulary_size": size}
        with self._stage("vectors", asked, vectors_path(request.work), measure) as (is_due, chosen):
            if is_due:
                with without_lines():  # one for each pass, about their health
                    wanted = self._record.read_chosen(SkipGramSettings, {**asdict(settings), **chosen})
                    make_vectors(request.work, wanted, vocabulary_size=size, force=True)

    def make_codes(self, choice: Choice) -> None:
        """Codes of the rare words of the vocabulary."""
        work, size, base_size = self.request.work, choice.vocabulary_size, choice.base_size
        settings = choice.coding
        asked = {"vocabulary_size": size, "base_size": base_size, **asdict(settings)}
        with self._stage("codes", asked, codes_path(work, size, base_size)) as (is_due, _):
            if is_due:
                make_codes(work, size, base_size, settings, jobs=self.request.threads, force=True)

    def train(self, corpus: TokenCorpus, choice: Choice) -> TrainingTime:
        """The model, trained in the work folder and then put in its place; returns what there was time for."""
        request, recipe = self.request, choice.recipe
        sizes: dict[str, Any] = {"vocabulary_size": choice.vocabulary_size, "base_size": choice.base_size}
        given: dict[str, Any] = {
            "batch_words": recipe.batch_words,
            "learning_rate": recipe.learning_rate,
            "embedding_start": choice.embedding_start,
            "seed": request.seed,
            "threads": request.threads,
        }
        settings = TrainingSettings(epochs=recipe.epochs, **given)
        num_words, dev_words = (corpus.part(name).num_words for name in ("train", "dev"))

        def measure(seconds: float) -> dict[str, Any]:
            started = time.monotonic()
            model = settings_of(request.model, **choice.model_changes)
            speed = measure_speed(request.work, model, settings, **sizes)
            left = seconds - (time.monotonic() - started)
            share = 0 if choice.shape is None else LAST_STRETCH_TIME
            return asdict(training_within(left / (1 + share), num_words, dev_words, recipe.epochs, speed))

        asked = {"model": request.model, **sizes, **choice.model_changes}
        asked |= _without_threads(settings) if request.is_neural else {}
        measured = measure if request.is_neural else None
        folder, rounding = request.work / "training", request.work / "rounding"
        scratch = (folder, rounding)
        with self._stage("train", asked, request.output / _SEAL, measured, scratch=scratch) as (is_due, chosen):
            planned = self._record.read_chosen(TrainingTime, {"epochs": recipe.epochs, **chosen})
            if is_due:
                if request.is_neural:
                    changes = {
                        **given,
                        **choice.model_changes,
                        "dev_words": planned.dev_words,
                        "eval_every": max(1, math.ceil(planned.epochs * num_words / NUM_EVALUATIONS)),
                    }
                    say(f"train: {request.model}, {planned.epochs:.2g} passes over {num_words:,} words")
                else:
                    changes = {"discount_fallback": KNESER_NEY_FALLBACK}
                if choice.shape is None:
                    whole = {"epochs": planned.epochs} if request.is_neural else {}
                    self._train_in(folder, **sizes, **changes, **whole)
                else:
                    first, last = with_last_stretch(planned.epochs, num_words)
                    self._train_in(folder, **sizes, **changes, **first)
                    say(f"train: a last stretch with weights of {LAST_STRETCH['quantise_aware']} bits")
                    changes["learning_rate"] *= LAST_STRETCH_RATE
                    self._train_in(rounding, start=folder, **sizes, **changes, **last, **LAST_STRETCH)
                trained = folder if choice.shape is None else rounding
                # first, so that a model which is in its place is known to be this one
                self._record.finish(self._key("train"), trained / _SEAL)
                self._put_in_place(trained)
                for each in scratch:
                    remove_folder(each)
        return planned

    def _train_in(self, folder: Path, **settings: Any) -> None:
        """Train a model in a scratch folder, from its checkpoint where there is one, unless it is there."""
        if not (folder / _SEAL).exists():
            resume, work = find_checkpoint(folder) is not None, self.request.work
            try:
                train(work, self.request.model, output=folder, resume=resume, **settings)
            except DivergedError as error:
                remove_folder(folder)  # going on from there would end the same way
                told = (
                    f"training diverged; {work} has the corpus and the codes: train there with a lower `learning_rate`"
                )
                raise DivergedError(told, error.summary) from None

    def _put_in_place(self, folder: Path) -> None:
        """Copy a model folder to the output."""
        with merged_folder(self.request.output, _SEAL) as building:
            record = [RECORD] if (folder / RECORD).exists() else []
            for name in (*sealed_files(folder), *record):
                (building / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / name, building / name)

    def evaluate(self, planned: TrainingTime) -> Evaluation:
        """The model on the test part."""
        with self._numbered("evaluate"):
            if self.request.is_neural:
                prepare_process(self.request.threads)
            return evaluate(self.request.output, work=self.request.work, max_words=planned.test_words)

    def pack(self, planned: TrainingTime) -> Packed:
        """The model in one file of at most the size that was asked for; an older one is the older model's."""
        request, words = self.request, planned.dev_words
        with self._numbered("pack"):
            return pack(
                request.output, request.packed, size_mb=request.size_mb, work=request.work, max_words=words, force=True
            )

    @contextmanager
    def _stage(
        self,
        name: str,
        asked: dict[str, Any],
        left: Path,
        measure: Measure | None = None,
        *,
        is_current: Callable[[], bool] = lambda: True,
        scratch: Sequence[Path] = (),
    ) -> Iterator[tuple[bool, dict[str, Any]]]:
        """Whether a stage is due, and what was chosen for it in view of the time; it is recorded when the block ends.

        `asked` and, where it is finished, the file `left` and `is_current` decide. `measure` gets the seconds that are
        left; the folders `scratch` are removed where the stage starts over.
        """
        key, minutes = self._key(name), self.request.minutes
        asked = asked if measure is None else {**asked, "minutes": minutes}
        with self._numbered(name):
            if self._record.is_done(key, asked, left) and is_current():
                say(f"{name}: done before")
                yield False, self._record.begun(key, asked) or {}
                return
            self._refuse_to_replace()
            chosen = self._record.begun(key, asked)
            if chosen is None:
                for each in scratch:
                    remove_folder(each)
                chosen = {}
                if measure is not None and minutes is not None:
                    with listening(None):
                        chosen = measure(60 * minutes - self.seconds)
            self._record.begin(key, asked, chosen)
            yield True, chosen
            self._record.finish(key, left)

    def _key(self, name: str) -> str:
        """The name of a stage in the record; several models can be made in one work folder."""
        return f"train {self.request.output.resolve()}" if name == "train" else name

    @contextmanager
    def _numbered(self, name: str) -> Iterator[None]:
        stages = self.request.stages
        with numbered(stages.index(name) + 1, len(stages)):
            yield

    def _refuse_to_replace(self) -> None:
        """Raise InputError where something is to be done and a model is there that may not be replaced."""
        if (self.request.output / _SEAL).exists() and not self.request.force:
            raise InputError(
                f"{self.request.output}: there is a model already; use `force` to replace it, or name another `output`"
            )


def _without_threads(settings: Any) -> dict[str, Any]:
    """Settings without the one that is no part of what was asked for."""
    return {name: value for name, value in asdict(settings).items() if name != "threads"}
