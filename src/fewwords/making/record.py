"""`make.json` of a work folder: which stages are done, with which settings, and the hash of what each left.

A stage counts as done if it was asked for with the same settings and the file it left is unchanged. Beginning a stage
forgets all that come after it, so nothing made from other text or other settings is ever used again. Settings that were
measured (how much fits into the time) are kept with the stage when it begins: a run that goes on uses them again.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fewwords.errors import InputError
from fewwords.store.files import sha256_of, write_json
from fewwords.store.typed import Made, read_description, read_object

FORMAT = "fewwords make 1"
NAME = "make.json"
_ORDER = ("prepare", "vectors", "codes", "train")


@dataclass(frozen=True)
class _Stage:
    """The settings that a stage was asked for with, those that were measured, and the hash of what it left."""

    asked: dict[str, Any]
    chosen: dict[str, Any]
    left: str | None = None


@dataclass(frozen=True)
class _Description:
    """What the file says besides its format."""

    stages: dict[str, _Stage]

    def __post_init__(self) -> None:
        if unknown := [name for name in self.stages if name.split()[:1] not in [[stage] for stage in _ORDER]]:
            raise InputError(f"{unknown[0]:.40} is no stage")


class Record:
    """The stages of a work folder, by name; after a blank the name may say more (`train PATH`)."""

    def __init__(self, work: Path) -> None:
        self._path = work / NAME
        self._stages: dict[str, _Stage] = {}
        if self._path.exists():
            what = "the record of this version"
            self._stages = dict(read_description(self._path, _Description, FORMAT, what, _remedy(work)).stages)
        elif work.is_dir() and any(not each.name.startswith(".") for each in work.iterdir()):
            raise InputError(
                f"{work}: has files of others in it; name an empty or a new `work` folder, or remove this one"
            )

    @property
    def is_empty(self) -> bool:
        """Whether no stage was ever begun."""
        return not self._stages

    def is_done(self, name: str, asked: dict[str, Any], left: Path) -> bool:
        """Whether the stage was finished with these settings and `left` is still the file that it left."""
        stage = self._stages.get(name)
        return stage is not None and stage.asked == asked and left.is_file() and stage.left == sha256_of(left)

    def begun(self, name: str, asked: dict[str, Any]) -> dict[str, Any] | None:
        """What was chosen when the stage began with these settings; None if it did not."""
        stage = self._stages.get(name)
        return stage.chosen if stage is not None and stage.asked == asked else None

    def read_chosen(self, kind: type[Made], chosen: dict[str, Any]) -> Made:
        """Settings with those among them that were chosen; raises InputError where the record has been changed."""
        try:
            return read_object(kind, chosen)
        except InputError as error:
            raise InputError(f"{self._path}: {error}", remedy=_remedy(self._path.parent)) from None

    def begin(self, name: str, asked: dict[str, Any], chosen: dict[str, Any]) -> None:
        """Note that a stage begins; what is made from it, and a model left half-trained, is forgotten."""
        place = _place(name)
        self._stages = {
            other: stage
            for other, stage in self._stages.items()
            if _place(other) < place or (_place(other) == place and stage.left)
        }
        self._stages[name] = _Stage(asked, chosen)
        self._write()

    def finish(self, name: str, left: Path) -> None:
        """Note that a stage is done and left this file."""
        self._stages[name] = replace(self._stages[name], left=sha256_of(left))
        self._write()

    def _write(self) -> None:
        write_json(
            self._path, {"format": FORMAT, "stages": {name: vars(stage) for name, stage in self._stages.items()}}
        )


def _remedy(work: Path) -> str:
    return f"remove {work}, or name another `work`"


def _place(name: str) -> int:
    return _ORDER.index(name.split()[0])
