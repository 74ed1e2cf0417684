"""The cells that were run, in the panels that tables show: the paper's size first, the small budget second.

The cells of the paper's size are trained on all words of the training part; there KN3 is the row `kn3-all` of the plan.
Those of the small budget are all trained on the same first words, with several seeds and the controls. Those in
`longer` are in between.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from fewwords.paper.record import Record
from fewwords.paper.tables.seeds import Comparison, Runs, compare, gather_runs

ALL_OF_TRAIN = "-all"
Panel = Mapping[tuple[str, int], Runs]  # by model and vocabulary size


@dataclass(frozen=True)
class Pair:
    """Two models at one vocabulary size, from the same panel."""

    left: Runs
    right: Runs
    on_all_words: bool

    @property
    def comparison(self) -> Comparison | None:
        """The left one's perplexity over the right one's."""
        return compare(self.left, self.right)


@dataclass(frozen=True)
class Results:
    """All cells: `whole` at the paper's size, `small` of the small budget, `longer` between, `controls` by setting."""

    whole: Panel
    small: Panel
    longer: tuple[Runs, ...]
    controls: Mapping[tuple[str, str], Panel]
    cells: tuple[Runs, ...]

    @classmethod
    def gather(cls, records: Iterable[Record], on_all_words: Collection[str] = ()) -> "Results":
        """The results of records; those named in `on_all_words` were trained on the whole training part."""
        whole: dict[tuple[str, int], Runs] = {}
        small: dict[tuple[str, int], Runs] = {}
        longer: list[Runs] = []
        controls: dict[tuple[str, str], dict[tuple[str, int], Runs]] = {}
        cells = gather_runs(records)
        for key, runs in cells.items():
            place = (key.model, key.vocab_size)
            if key.knob is not None and key.setting is not None:
                controls.setdefault((key.knob, key.setting), {})[place] = runs
            elif runs.first.name in on_all_words:
                whole[key.model.removesuffix(ALL_OF_TRAIN), key.vocab_size] = runs
            elif key.group == "more words":
                longer.append(runs)
            else:
                small[place] = runs
        return cls(whole, small, tuple(longer), controls, tuple(cells.values()))

    @cached_property
    def records(self) -> list[Record]:
        """All records, by name."""
        return sorted((record for runs in self.cells for record in runs.records), key=lambda each: each.name)

    @cached_property
    def sizes(self) -> list[int]:
        """The vocabulary sizes of both panels."""
        return sorted({size for _, size in (*self.whole, *self.small)})

    def find(self, model: str, size: int, *, on_all_words: bool) -> Runs | None:
        """A model of one panel; a model "-all" is that of the paper's size in both."""
        if on_all_words or model.endswith(ALL_OF_TRAIN):
            return self.whole.get((model.removesuffix(ALL_OF_TRAIN), size))
        return self.small.get((model, size))

    def best(self, model: str, size: int) -> Runs | None:
        """A model at the paper's size, or else of the small budget."""
        return self.find(model, size, on_all_words=True) or self.find(model, size, on_all_words=False)

    def pair(self, model: str, other: str, size: int) -> Pair | None:
        """Two models at the paper's size if both were run there, else of the small budget; None if neither has both."""
        for on_all_words in (True, False):
            left = self.find(model, size, on_all_words=on_all_words)
            right = self.find(other, size, on_all_words=on_all_words)
            if left is not None and right is not None:
                return Pair(left, right, on_all_words)
        return None
