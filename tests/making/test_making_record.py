"""The record of `make`: what was noted is found again, and a record that somebody changed is refused in a line."""

import json
from pathlib import Path
from typing import Any

import pytest

from fewwords.errors import InputError
from fewwords.making.minutes import TrainingTime
from fewwords.making.record import NAME, Record

ASKED = {"seed": 1}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    record = Record(tmp_path)
    record.begin("vectors", ASKED, {"epochs": 2})
    record.finish("vectors", tmp_path / NAME)
    record.begin("train made", ASKED, {"epochs": 0.5})
    return tmp_path


def test_what_was_noted_is_found_again(work: Path) -> None:
    record = Record(work)
    assert not record.is_empty
    assert record.begun("vectors", ASKED) == {"epochs": 2}
    assert record.begun("vectors", {"seed": 2}) is None
    assert record.read_chosen(TrainingTime, record.begun("train made", ASKED) or {}).epochs == 0.5
    assert not record.is_done("train made", ASKED, work / NAME)


@pytest.mark.parametrize(
    "stages",
    [
        None,
        [],
        {"train": 1},
        {"train": {}},
        {"train": {"asked": [], "chosen": {}, "left": None}},
        {"train": {"asked": {}, "chosen": {}, "left": 5}},
        {"bake": {"asked": {}, "chosen": {}, "left": None}},
        {"": {"asked": {}, "chosen": {}, "left": None}},
    ],
)
def test_a_changed_record_is_refused(work: Path, stages: Any) -> None:
    facts = json.loads((work / NAME).read_text())
    (work / NAME).write_text(json.dumps({**facts, "stages": stages}))
    with pytest.raises(InputError, match=rf"{NAME}: not the record .*; remove "):
        Record(work)


@pytest.mark.parametrize("chosen", [{"epochs": "x"}, {"epochs": 1, "bread": 2}, {"epochs": None}])
def test_changed_choices_are_refused(work: Path, chosen: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=rf"{NAME}: .*; remove "):
        Record(work).read_chosen(TrainingTime, chosen)
