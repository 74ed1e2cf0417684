"""What `make` was asked for, checked as far as that is possible without the text."""

import math
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from fewwords.errors import InputError
from fewwords.models.kneser_ney.names import order_of
from fewwords.models.neural.variants import settings_of


@dataclass(frozen=True)
class Request:
    """The arguments of `make`; raises InputError for those that no text could satisfy."""

    texts: tuple[str, ...]
    output: Path
    work: Path
    model: str
    vocabulary_size: int | None
    base_size: int | None
    size_mb: float | None
    minutes: float | None
    seed: int
    threads: int | None
    force: bool

    def __post_init__(self) -> None:
        if self.base_size is not None and not self.is_coded:
            raise InputError(f"`base_size` {self.base_size}: {self.model} has no codes; leave it out")
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise InputError(f"`minutes` {self.minutes}: give a number greater than 0")
        if self.size_mb is not None:
            self._check_size(self.size_mb)
        if self.threads is not None and self.threads < 1:
            raise InputError(f"`threads` {self.threads}: give 1 or more")
        if self.output.exists() and not self.output.is_dir():
            raise InputError(f"{self.output}: is a file, and a model is a folder; name another `output`")

    def _check_size(self, size_mb: float) -> None:
        if not 0 < size_mb < math.inf:
            raise InputError(f"`size_mb` {size_mb}: give a number greater than 0")
        if not self.is_coded or settings_of(self.model).encoder != "lstm":
            raise InputError(f"`size_mb` {size_mb:g}: {self.model} has no sizes to choose from; use `model` lstm-z-w")
        if self.packed.exists() and not (self.force or (self.output / "model.json").exists()):
            raise InputError(
                f"{self.packed}: is there already", remedy=("replace it with `force`", "name another `output`")
            )

    @property
    def packed(self) -> Path:
        """The packed file of a model for a size."""
        place = self.output.resolve()
        return place.with_name(f"{place.name}.few")

    @property
    def is_neural(self) -> bool:
        """Whether it is not a Kneser-Ney model."""
        return order_of(self.model) is None

    @property
    def is_coded(self) -> bool:
        """Whether the model has codes."""
        return self.is_neural and settings_of(self.model).is_coded

    @property
    def stages(self) -> list[str]:
        """The stages that the model needs, in order."""
        names = (
            "prepare",
            "vectors" * self.is_neural,
            "codes" * self.is_coded,
            "train",
            "evaluate",
            "pack" * (self.size_mb is not None),
        )
        return [name for name in names if name]

    def check_packages(self) -> None:
        """Raise ModuleNotFoundError now for what would be missing after an hour."""
        for package in ("torch", "gensim", "numba") if self.is_neural else ("numba",):
            import_module(package)
