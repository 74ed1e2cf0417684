"""The runs of the frontier: ours, and every rival, on the same words with the same recipe.

Trials on a quarter of the words, judged on dev, choose the shapes (`FINALS`) that train on all words and are told on test.
All start from the same word vectors: dense and coded models as they are, in other sizes by their leading directions
("fitted"), the other tables by least squares. Sizes of tables are chosen so that the packed files of 4 bits stay just below 1,
2 or 4 MB, because the best model of a size is one of at most that size; `docs/how-to/frontier.md` has the arithmetic.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from fewwords.codes.settings import DEFAULT_BASE_SIZE
from fewwords.errors import InputError
from fewwords.frontier.points import SVD_BANDS, svd_ranks
from fewwords.paper.plan import DEFAULT_NONZEROS, Cell, cell_name
from fewwords.training.settings import LAST_STRETCH, LAST_STRETCH_RATE, LAST_STRETCH_WORDS, TrainingSettings

DEFAULT_WORDS = 20_000_000
VOCABULARY_SIZE = 50_000
RETRAINING_SHARE = 10  # a tenth of the words
VECTOR_SIZE = 200
# More cells than values of state: 8 % less perplexity for 0.2 MB in 4 bits; and fewer values of state, for small files.
WIDE: dict[str, Any] = {"cell_size": 400}
NARROW: dict[str, Any] = {"size": 128}
# The rate of every other run makes this size of adaptive widths diverge: docs/log.md.
SLOWER: dict[str, Any] = {"learning_rate": 0.004}
OURS = "sparse codes"
# Words and ranks of the bands that fit 2 MB beside 600 cells.
BANDS_2MB: tuple[tuple[int, ...], tuple[int, ...]] = ((4_000, 13_000), (200, 48, 20))
ROUNDED = "-rounded"  # the end of a title: with a last stretch
TRIAL_SHARE = 4  # trials train on a quarter of the words
# What trains on all words: the best shapes of each size on dev, as far as trials have run (results/frontier.md), the dense model
# and 3-grams.
FINALS = (
    "codes-b4k-m2-tuned-e128-c400",
    "codes-b7k-m4-tuned-c600",
    "codes-b16k-m5-tuned-c800",
    "adaptive-1mb-e128-c400",
    "adaptive-2mb-c400",
    "adaptive-2mb-c600",
    "adaptive-4mb-c800",
    "dense-tied",
    "dense-tied-c600",
    "svd-retrained-2mb-c600",
    "kn3",
)


@dataclass(frozen=True)
class Run:
    """A cell with its place in the figure; `start` names the run that it goes on from.

    Runs with rounded weights take its model as it is, others an SVD of it by bands. `title` is short for the name of the cell,
    which has the size of the vocabulary and the words too.
    """

    title: str
    method: str
    cell: Cell
    base_size: int = DEFAULT_BASE_SIZE
    start: str | None = None
    after_training: bool = False

    @property
    def name(self) -> str:
        """The name of the cell."""
        return self.cell.name

    @property
    def is_rounded(self) -> bool:
        """Whether it is trained with rounded weights."""
        return "quantise_aware" in self.cell.training_changes

    @property
    def ours(self) -> bool:
        """Whether it is this project's method."""
        return self.method == OURS


def make_runs(
    words: int = DEFAULT_WORDS, vocabulary_size: int = VOCABULARY_SIZE, only: tuple[str, ...] = ()
) -> list[Run]:
    """All runs of so many words in order, or those with a title in `only`; raises InputError for an unknown title."""
    if words < 1:
        raise InputError(f"`words` {words}: choose 1 or more")
    runs = list(_Maker(words, vocabulary_size).runs())
    titles = [run.title for run in runs]
    for title in only:
        if title not in titles:
            raise InputError(f"`only` {title}: no such run; there are {', '.join(titles)}")
    return [run for run in runs if not only or run.title in only]


def make_trials(
    words: int = DEFAULT_WORDS, vocabulary_size: int = VOCABULARY_SIZE, only: tuple[str, ...] = ()
) -> list[Run]:
    """The same shapes on a quarter of the words, without last stretches, which cost every method the same."""
    runs = make_runs(max(1, words // TRIAL_SHARE), vocabulary_size, only)
    return [run for run in runs if not run.is_rounded]


def make_finals(
    words: int = DEFAULT_WORDS, vocabulary_size: int = VOCABULARY_SIZE, only: tuple[str, ...] = ()
) -> list[Run]:
    """The runs of the shapes that were chosen, with their last stretches, or those with a title in `only`."""
    runs = make_runs(words, vocabulary_size, only)
    return runs if only else [run for run in runs if run.title.removesuffix(ROUNDED) in FINALS]


@dataclass(frozen=True)
class _Maker:
    words: int
    vocabulary_size: int

    def runs(self) -> Iterator[Run]:
        """All shapes, method by method, and each with a last stretch after it."""
        for run in (*self._ours(), *self._rivals()):
            yield run
            if run.cell.is_neural:
                yield self._rounded(run)

    def _ours(self) -> Iterator[Run]:
        yield self._coded("codes-b8k")
        yield self._coded("codes-b8k-untied", tied=False)
        yield self._coded("codes-b8k-tuned", tune_codes=True)
        yield self._coded("codes-b8k-n4", nonzeros=4)
        yield self._coded("codes-b8k-e100", size=100)
        yield self._coded("codes-b4k-e400", base_size=4_000, size=400)
        yield self._coded("codes-b8k-two-layers", num_layers=2)
        yield self._coded("codes-b1k", base_size=1_000)
        tuned: dict[str, Any] = {"tune_codes": True}
        yield self._coded("codes-b2k-n4-tuned", base_size=2_000, nonzeros=4, **tuned)
        yield self._coded("codes-b2k-n4-tuned-e128-c400", base_size=2_000, nonzeros=4, **tuned, **NARROW, **WIDE)
        yield self._coded("codes-b2k-m3-tuned-e128-c400", base_size=2_000, mean_nonzeros=3, **tuned, **NARROW, **WIDE)
        yield self._coded("codes-b4k-m2-tuned-e128-c400", base_size=4_000, mean_nonzeros=2, **tuned, **NARROW, **WIDE)
        yield self._coded("codes-b2k-m2-tuned-c350", base_size=2_000, mean_nonzeros=2, **tuned, cell_size=350)
        yield self._coded("codes-b4k-n4-tuned-c400", base_size=4_000, nonzeros=4, **tuned, **WIDE)
        yield self._coded("codes-b6k-tuned-c400", base_size=6_000, **tuned, **WIDE)
        yield self._coded("codes-b7k-m4-tuned-c600", base_size=7_000, mean_nonzeros=4, **tuned, cell_size=600)
        yield self._coded("codes-b8k-tuned-e128-c600", **tuned, **NARROW, cell_size=600)
        yield self._coded("codes-b8k-m5-tuned-c400", mean_nonzeros=5, **tuned, **WIDE)
        yield self._coded("codes-b16k-m5-tuned-c800", base_size=16_000, mean_nonzeros=5, **tuned, cell_size=800)
        yield self._coded(
            "codes-b15k-m5-tuned-e300-c600", base_size=15_000, mean_nonzeros=5, **tuned, size=300, cell_size=600
        )

    def _rivals(self) -> Iterator[Run]:
        yield self._dense("dense-tied", after_training=True)
        yield self._dense("dense", tied=False)
        yield self._dense("dense-tied-50", size=50)
        yield self._dense("dense-tied-100", size=100)
        yield self._dense("dense-tied-c400", **WIDE)
        yield self._dense("dense-tied-c600", after_training=True, cell_size=600)
        yield self._table("low-rank-20", "low-rank", rank=20)
        yield self._table("low-rank-60", "low-rank", rank=60)
        yield self._table("low-rank-48-c400", "low-rank", rank=48, **WIDE)
        yield self._table("low-rank-100", "low-rank", rank=100)
        yield self._table("hashed-1mb", "hashed", num_buckets=4_600)
        yield self._table("hashed-2mb", "hashed", num_buckets=14_000)
        yield self._table("quotient-1mb", "quotient", num_buckets=5_500)
        yield self._table("quotient-2mb", "quotient", num_buckets=15_000)
        yield self._table("quotient-sum-1mb", "quotient", num_buckets=5_500, combination="sum")
        yield self._adaptive("adaptive-1mb", (2_000, 8_000), (200, 40, 8))
        yield self._adaptive("adaptive-1mb-e128-c400", (2_000, 8_000), (128, 32, 8), **NARROW, **WIDE)
        yield self._adaptive("adaptive-1mb-c350", (1_200, 6_000), (200, 32, 6), cell_size=350)
        yield self._adaptive("adaptive-2mb", (6_000, 14_000), (200, 64, 28))
        yield self._adaptive("adaptive-2mb-c400", (5_000, 13_000), (200, 56, 24), **WIDE)
        yield self._adaptive("adaptive-2mb-c600", *BANDS_2MB, cell_size=600)
        yield self._adaptive("adaptive-4mb-c400", (16_000,), (200, 88), **WIDE)
        yield self._adaptive("adaptive-4mb-c800", (14_000,), (200, 72), cell_size=800, training=SLOWER)
        yield self._coded("codes-nearest", "nearest base word", training={"codes": "nearest"})
        yield self._run("kn3", "Kneser-Ney", "kn3")
        for number, (band_words, shares) in enumerate(SVD_BANDS):
            ranks = svd_ranks(VECTOR_SIZE, shares)
            yield self._retrained(f"svd-retrained-{number + 1}", "dense-tied", band_words, ranks)
        yield self._retrained("svd-retrained-2mb-c600", "dense-tied-c600", *BANDS_2MB, cell_size=600)

    def _run(
        self,
        name: str,
        method: str,
        variant: str,
        *,
        size: int = VECTOR_SIZE,
        nonzeros: int = DEFAULT_NONZEROS,
        mean_nonzeros: float | None = None,
        words: int | None = None,
        training: dict[str, Any] | None = None,
        **model: Any,
    ) -> Run:
        if size != VECTOR_SIZE:
            training = {"embedding_start": "fitted", **(training or {})}
            model |= {"embedding_size": size, "hidden_size": size}
        cell = Cell(
            self._name(name),
            "more words",
            method,
            variant,
            self.vocabulary_size,
            words or self.words,
            max_nonzeros=nonzeros,
            mean_nonzeros=mean_nonzeros,
            model_changes=model,
            training_changes=training or {},
        )
        return Run(name, method, cell)

    def _name(self, title: str) -> str:
        """`codes-b8k-v50000-w20M`; the words are those of the plan, also where a run goes on for a few more."""
        return cell_name(title, self.vocabulary_size, self.words)

    def _dense(self, name: str, *, tied: bool = True, after_training: bool = False, **more: Any) -> Run:
        method = "dense" if tied else "dense, untied"
        return replace(self._run(name, method, "lstm-z", tied=tied, **more), after_training=after_training)

    def _coded(
        self, name: str, method: str = OURS, *, base_size: int = DEFAULT_BASE_SIZE, tied: bool = True, **more: Any
    ) -> Run:
        base_size = _scaled(base_size, self._share)
        return replace(self._run(name, method, "lstm-z-w", tied=tied, **more), base_size=base_size)

    @property
    def _share(self) -> float:
        """Small vocabularies, for small tries of everything, have small tables."""
        return self.vocabulary_size / VOCABULARY_SIZE

    def _table(
        self, name: str, storage: str, method: str | None = None, *, num_buckets: int | None = None, **more: Any
    ) -> Run:
        if num_buckets is not None:
            more["num_buckets"] = _scaled(num_buckets, self._share)
        return self._run(name, method or storage, "lstm-z", tied=True, embedding=storage, output=storage, **more)

    def _adaptive(
        self,
        name: str,
        band_words: tuple[int, ...],
        band_ranks: tuple[int, ...],
        method: str | None = None,
        **more: Any,
    ) -> Run:
        words = tuple(_scaled(each, self._share) for each in band_words)
        return self._table(name, "adaptive", method, band_words=words, band_ranks=band_ranks, **more)

    def _rounded(self, run: Run) -> Run:
        """A last stretch of a run with weights of 4 bits."""
        cell = run.cell
        rate = LAST_STRETCH_RATE * TrainingSettings.learning_rate
        training = {**cell.training_changes, **LAST_STRETCH, "learning_rate": rate}
        words = max(1, round(LAST_STRETCH_WORDS * self.words))
        title = f"{run.title}{ROUNDED}"
        rounded = replace(cell, name=self._name(title), words=words, training_changes=training)
        return replace(run, title=title, cell=rounded, start=run.name, after_training=False)

    def _retrained(
        self, name: str, start: str, band_words: tuple[int, ...], band_ranks: tuple[int, ...], **more: Any
    ) -> Run:
        more |= {"words": max(1, self.words // RETRAINING_SHARE), "training": {"learning_rate": 0.002}}
        run = self._adaptive(name, band_words, band_ranks, "block SVD, retrained", **more)
        return replace(run, start=self._name(start))


def _scaled(count: int, share: float) -> int:
    return max(1, round(count * share))
