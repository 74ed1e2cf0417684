"""`make.json` of a work folder: which stages are done, with which settings, and the hash of what each left.

A stage counts as done if it was asked for with the same settings and the file it left is unchanged. Beginning a stage
forgets all that come after it, so nothing made from other text or other settings is ever used again. Settings that were
measured (how much fits into the time) are kept with the stage when it begins: a run that goes on uses them again.
"""

from pathlib import Path
from typing import Any

from fewwords.errors import InputError
from fewwords.store.files import read_json, sha256_of, write_json

FORMAT = "fewwords make 1"
NAME = "make.json"
_ORDER = ("prepare", "vectors", "codes", "train")


class Record:
    """The stages of a work folder, by name; after a blank the name may say more (`train PATH`)."""

    def __init__(self, work: Path) -> None:
        self._path = work / NAME
        self._stages: dict[str, dict[str, Any]] = {}
        if self._path.exists():
            facts = read_json(self._path)
            if not isinstance(facts, dict) or facts.get("format") != FORMAT:
                raise InputError(f"{self._path}: not the record of this version; remove {work}, or name another `work`")
            self._stages = facts["stages"]
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
        stage = self._stages.get(name, {})
        return stage.get("asked") == asked and left.is_file() and stage.get("left") == sha256_of(left)

    def begun(self, name: str, asked: dict[str, Any]) -> dict[str, Any] | None:
        """What was chosen when the stage began with these settings; None if it did not."""
        stage = self._stages.get(name, {})
        chosen: dict[str, Any] | None = stage.get("chosen")
        return chosen if stage.get("asked") == asked else None

    def begin(self, name: str, asked: dict[str, Any], chosen: dict[str, Any]) -> None:
        """Note that a stage begins; what is made from it, and a model left half-trained, is forgotten."""
        place = _place(name)
        self._stages = {
            other: stage
            for other, stage in self._stages.items()
            if _place(other) < place or (_place(other) == place and stage["left"])
        }
        self._stages[name] = {"asked": asked, "chosen": chosen, "left": None}
        self._write()

    def finish(self, name: str, left: Path) -> None:
        """Note that a stage is done and left this file."""
        self._stages[name]["left"] = sha256_of(left)
        self._write()

    def _write(self) -> None:
        write_json(self._path, {"format": FORMAT, "stages": self._stages})


def _place(name: str) -> int:
    return _ORDER.index(name.split()[0])
