"""The runs of the frontier, the most telling first: ours, and every rival, on the same words with the same recipe.

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
WIDE = 400  # cells of an LSTM with 200 values of state: 8 % less perplexity for 0.2 MB in 4 bits (docs/log.md)
NARROW = 128  # values of a state, with as many cells or more: the table costs less, and the LSTM learns as much
OURS = "sparse codes"


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
    """All runs in order, or those with a title in `only`; raises InputError for an unknown title."""
    if words < 1:
        raise InputError(f"`words` {words}: choose 1 or more")
    runs = list(_Maker(words, vocabulary_size).runs())
    titles = [run.title for run in runs]
    for title in only:
        if title not in titles:
            raise InputError(f"`only` {title}: no such run; there are {', '.join(titles)}")
    return [run for run in runs if not only or run.title in only]


@dataclass(frozen=True)
class _Maker:
    words: int
    vocabulary_size: int

    def runs(self) -> Iterator[Run]:
        tall = self.vocabulary_size / VOCABULARY_SIZE  # small vocabularies, for trials, have small tables
        wide: dict[str, Any] = {"cell_size": WIDE}
        dense = self._dense("dense-tied", after_training=True)
        yield dense
        yield self._coded("codes-b8k")
        closest = [
            self._coded("codes-b6k-tuned-c400", base_size=6_000, tune_codes=True, **wide),
            self._adaptive("adaptive-2mb-c400", tall, (5_000, 13_000), (200, 56, 24), **wide),
            self._coded("codes-b2k-n4-tuned", base_size=2_000, nonzeros=4, tune_codes=True),
            self._adaptive("adaptive-1mb", tall, (2_000, 8_000), (200, 40, 8)),
        ]
        yield from closest
        yield self._adaptive("adaptive-2mb", tall, (6_000, 14_000), (200, 64, 28))
        larger = [
            self._table("low-rank-48-c400", "low-rank", rank=48, **wide),
            self._coded("codes-b16k-tuned-c400", base_size=16_000, tune_codes=True, **wide),
            self._adaptive("adaptive-4mb-c400", tall, (16_000,), (200, 88), **wide),
        ]
        yield from larger
        yield self._dense("dense-tied-100", size=100)
        yield self._run("kn3", "Kneser-Ney", "kn3")
        yield self._coded("codes-b4k", base_size=4_000)
        yield self._coded("codes-b2k-n4", base_size=2_000, nonzeros=4)
        yield self._coded("codes-b8k-tuned-c400", tune_codes=True, **wide)
        yield self._table("low-rank-60", "low-rank", rank=60)
        yield self._coded("codes-b2k", base_size=2_000)
        yield self._coded("codes-b4k-tuned-c400", base_size=4_000, tune_codes=True, **wide)
        yield self._table("low-rank-20", "low-rank", rank=20)
        yield self._table("low-rank-32", "low-rank", rank=32)
        yield self._table("hashed-1mb", "hashed", num_buckets=_scaled(4_600, tall))
        yield self._table("hashed-2mb", "hashed", num_buckets=_scaled(14_000, tall))
        yield self._table("hashed-2mb-c400", "hashed", num_buckets=_scaled(11_000, tall), **wide)
        yield self._coded("codes-b16k", base_size=16_000)
        yield self._table("quotient-1mb", "quotient", num_buckets=_scaled(5_500, tall))
        yield self._table("quotient-2mb", "quotient", num_buckets=_scaled(15_000, tall))
        yield self._table("quotient-sum-1mb", "quotient", num_buckets=_scaled(5_500, tall), combination="sum")
        yield self._adaptive("adaptive-4mb", tall, (16_000,), (200, 104))
        yield self._coded("codes-nearest", "nearest base word", training={"codes": "nearest"})
        yield self._table("low-rank-100", "low-rank", rank=100)
        yield self._dense("dense-tied-50", size=50)
        for number, (band_words, shares) in enumerate(SVD_BANDS):
            yield self._retrained(f"svd-retrained-{number + 1}", band_words, svd_ranks(VECTOR_SIZE, shares))
        for run in (*closest, dense, *larger):
            yield self._rounded(run)
        narrow: dict[str, Any] = {"size": NARROW, **wide}
        yield self._coded("codes-b2k-n4-tuned-e128-c400", base_size=2_000, nonzeros=4, tune_codes=True, **narrow)
        yield self._adaptive("adaptive-1mb-e128-c400", tall, (2_000, 8_000), (NARROW, 32, 8), **narrow)
        yield self._coded("codes-b8k-tuned-e128-c600", tune_codes=True, size=NARROW, cell_size=600)
        yield self._coded("codes-b4k-n4-tuned-c400", base_size=4_000, nonzeros=4, tune_codes=True, **wide)
        yield self._coded("codes-b8k-e100", size=100)
        yield self._coded("codes-b8k-e300", size=300)
        yield self._coded("codes-b4k-e300", base_size=4_000, size=300)
        yield self._coded("codes-b4k-e400", base_size=4_000, size=400)
        yield self._coded("codes-b8k-c400", **wide)
        yield self._coded("codes-b8k-tuned", tune_codes=True)
        yield self._coded("codes-b8k-n4-tuned-c400", nonzeros=4, tune_codes=True, **wide)
        yield self._coded("codes-b8k-n4", nonzeros=4)
        yield self._coded("codes-b4k-n4", base_size=4_000, nonzeros=4)
        yield self._coded("codes-b1k", base_size=1_000)
        yield self._coded("codes-b8k-two-layers", num_layers=2)
        yield self._coded("codes-b8k-untied", tied=False)
        yield self._dense("dense-tied-c400", **wide)
        yield self._dense("dense", tied=False)

    def _run(
        self,
        name: str,
        method: str,
        variant: str,
        *,
        size: int = VECTOR_SIZE,
        nonzeros: int = DEFAULT_NONZEROS,
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
        base_size = _scaled(base_size, self.vocabulary_size / VOCABULARY_SIZE)
        return replace(self._run(name, method, "lstm-z-w", tied=tied, **more), base_size=base_size)

    def _table(self, name: str, storage: str, method: str | None = None, **more: Any) -> Run:
        return self._run(name, method or storage, "lstm-z", tied=True, embedding=storage, output=storage, **more)

    def _adaptive(
        self, name: str, tall: float, band_words: tuple[int, ...], band_ranks: tuple[int, ...], **more: Any
    ) -> Run:
        words = tuple(_scaled(each, tall) for each in band_words)
        return self._table(name, "adaptive", band_words=words, band_ranks=band_ranks, **more)

    def _rounded(self, run: Run) -> Run:
        """A last stretch of a run with weights of 4 bits."""
        cell = run.cell
        rate = LAST_STRETCH_RATE * TrainingSettings.learning_rate
        training = {**cell.training_changes, **LAST_STRETCH, "learning_rate": rate}
        words = max(1, round(LAST_STRETCH_WORDS * self.words))
        title = f"{run.title}-rounded"
        rounded = replace(cell, name=self._name(title), words=words, training_changes=training)
        return replace(run, title=title, cell=rounded, start=run.name)

    def _retrained(self, name: str, band_words: tuple[int, ...], band_ranks: tuple[int, ...]) -> Run:
        words = tuple(_scaled(each, self.vocabulary_size / VOCABULARY_SIZE) for each in band_words)
        run = self._table(
            name,
            "adaptive",
            "block SVD, retrained",
            band_words=words,
            band_ranks=band_ranks,
            words=max(1, self.words // RETRAINING_SHARE),
            training={"learning_rate": 0.002},
        )
        return replace(run, start=self._name("dense-tied"))


def _scaled(count: int, share: float) -> int:
    return max(1, round(count * share))
