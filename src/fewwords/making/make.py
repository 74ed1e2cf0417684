"""`make`: text in, a model folder out, in one call that goes on where an earlier one stopped.

The stages are those of the pipeline: prepare, vectors, codes, train, evaluate, in a work folder beside the model. The
model is trained there and is put in its place when it is complete. Stages that are done are not repeated unless the text
or their settings have changed (see `record`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.evaluate import Evaluation
from fewwords.making.choice import Choice, check_text, choose
from fewwords.making.request import Request
from fewwords.making.stages import Stages
from fewwords.packing.pack import Packed
from fewwords.progress import say
from fewwords.store.folders import remove_folder
from fewwords.store.locks import lock_folder


@dataclass(frozen=True)
class Made:
    """A model that was made: its folder, the settings chosen for it, its evaluation on test, and how long it all took.

    `packed` is its packed file, where a size was asked for.
    """

    folder: Path
    choice: Choice
    evaluation: Evaluation
    seconds: float
    packed: Packed | None = None

    @property
    def perplexity(self) -> float:
        """On test, normalised over the whole vocabulary, `<unk>` and `</s>` counted."""
        return self.evaluation.total.perplexity.value

    @property
    def megabytes(self) -> float:
        """The files of the model, in millions of bytes."""
        return sum(self.evaluation.files.values()) / 1e6


def make(
    texts: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    model: str = "lstm-z-w",
    vocabulary_size: int | None = None,
    base_size: int | None = None,
    size_mb: float | None = None,
    minutes: float | None = None,
    work: str | Path | None = None,
    keep_work: bool = False,
    seed: int = 1,
    threads: int | None = None,
    force: bool = False,
) -> Made:
    """Make a model of texts (paths, folders, globs, "-", "builtin:sotu") in the folder `output`.

    Sizes and passes are chosen from the text unless they are given (see `choice`); with `size_mb` they are those of the best
    model that packs into so many megabytes, and the packed file OUTPUT.few is made too. `minutes` bounds the whole, by less
    training. The same call goes on where an earlier one was stopped. The work folder is OUTPUT.work, which is removed
    at the end unless `keep_work` is given, or another one, `work`, which stays. `force` replaces a model that is there.
    Raises InputError for anything that cannot work.
    """
    named = [texts] if isinstance(texts, (str, Path)) else texts
    output = Path(output)
    place = output.resolve()  # "." has no name
    folder = place.with_name(f"{place.name}.work") if work is None else Path(work)
    request = Request(
        tuple(str(each) for each in named),
        output,
        folder,
        model,
        vocabulary_size,
        base_size,
        size_mb,
        minutes,
        seed,
        threads,
        force,
    )
    request.check_packages()
    with lock_folder(folder, "make"):
        stages = Stages(request)
        try:
            corpus = _prepare(stages, is_temporary=work is None)
            made = _make(stages, corpus)
        except KeyboardInterrupt:
            say(f"make: stopped; the same command goes on from here ({folder} has what is done)")
            raise
        if work is None and not keep_work:
            remove_folder(folder)
    return made


def _prepare(stages: Stages, *, is_temporary: bool) -> TokenCorpus:
    """The corpus; a text of which no model can be made leaves nothing behind."""
    try:
        corpus = stages.prepare()
        check_text(", ".join(stages.request.texts), *(corpus.part(name).num_words for name in ("train", "dev", "test")))
    except InputError:
        if is_temporary and stages.is_new:
            remove_folder(stages.request.work)
        raise
    return corpus


def _make(stages: Stages, corpus: TokenCorpus) -> Made:
    request = stages.request
    choice = choose(
        corpus.part("train").num_words,
        corpus.vocabulary().counts,
        vocabulary_size=request.vocabulary_size,
        base_size=request.base_size,
        size_mb=request.size_mb,
    )
    base = f", {choice.base_size:,} of them base words" if request.is_coded else ""
    why = "" if choice.shape is None else f", {choice.shape.told}: the largest that fits {request.size_mb:g} MB"
    say(f"make: a vocabulary of {choice.vocabulary_size:,} words{base}{why}")
    if request.is_neural:
        stages.make_vectors(corpus, choice)
    if request.is_coded:
        stages.make_codes(choice)
    planned = stages.train(corpus, choice)
    evaluation = stages.evaluate(planned)
    packed = None if request.size_mb is None else stages.pack(planned)
    return Made(request.output, choice, evaluation, stages.seconds, packed)
