"""How much of a plan is done, and about how long the rest takes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fewwords.paper.plan import Cell
from fewwords.paper.record import Record, read_record

# Until there is a record to go by: words per second on one core, and seconds of evaluation per word of the vocabulary.
_WORDS_PER_SECOND = {"softmax": 1_500.0, "nce-per-position": 9_000.0}
_DEFAULT_WORDS_PER_SECOND = 18_000.0
_EVALUATION_SECONDS_PER_WORD = 0.003


@dataclass(frozen=True)
class PlanStatus:
    """The record of each finished cell, and an estimate of the seconds of every cell."""

    plan: Sequence[Cell]
    records: dict[str, Record]
    seconds: dict[str, float]

    @property
    def left(self) -> list[Cell]:
        """The cells without a record, in order."""
        return [cell for cell in self.plan if cell.name not in self.records]

    def seconds_left(self, jobs: int) -> float:
        """An estimate for all remaining cells, `jobs` at a time."""
        return sum(self.seconds[cell.name] for cell in self.left) / jobs


def plan_status(work: Path, plan: Sequence[Cell], all_words: int) -> PlanStatus:
    """Look at the records; `all_words` are those of the whole training part."""
    records = {cell.name: record for cell in plan if (record := read_record(work, cell)) is not None}
    return PlanStatus(plan, records, {cell.name: _estimate(cell, records.values(), all_words) for cell in plan})


def _estimate(cell: Cell, records: Iterable[Record], all_words: int) -> float:
    words = cell.words or all_words
    if not cell.is_neural:
        return words / 500_000 + 10
    loss = str(cell.training_changes.get("loss", ""))
    known = [
        record.words_per_second
        for record in records
        if (record.variant, record.vocab_size) == (cell.variant, cell.vocabulary_size)
        and not loss
        and record.group != "control"  # some of them have slower losses
    ]
    rate = known[-1] if known else _WORDS_PER_SECOND.get(loss, _DEFAULT_WORDS_PER_SECOND)
    return words / rate + _EVALUATION_SECONDS_PER_WORD * cell.vocabulary_size
