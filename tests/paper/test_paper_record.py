"""Records: every committed one loads and comes back as it was; what is no record is refused in one line."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from paper_records import make_json, make_record

from fewwords.errors import InputError
from fewwords.paper.plan import Control
from fewwords.paper.record import Record

COMMITTED = sorted((Path(__file__).parents[2] / "results" / "cells").glob("*.json"))


def test_committed_records_come_back_as_they_were() -> None:
    assert len(COMMITTED) > 50
    for path in COMMITTED:
        value = json.loads(path.read_bytes())
        assert Record.from_json(value, path).to_json() == value
        assert list(Record.from_json(value, path).to_json()) == list(value)


def test_values_are_typed() -> None:
    control = {"table": "codes", "setting": "random", "reference": "x"}
    record = make_record("lstm-z-w", 22_000, control=control, trials=[{"learning_rate": 0.1, "dev_perplexity": None}])
    assert record.control == Control("codes", "random", "x")
    assert record.memory is not None
    assert record.memory.total == record.numbers
    assert record.memory.total - record.memory.paper_total == 4 * 200  # the second bias vector of the LSTM
    assert record.curve[-1].words == record.train_words
    assert record.trials[0].dev_perplexity is None


def test_what_has_a_default_may_be_missing() -> None:
    value = make_json("kn3", 22_000)
    for name in ("control", "curve", "memory", "gap_mean", "learning_rate", "commit", "corpus"):
        del value[name]
    record = Record.from_json(value, "x")
    assert (record.control, record.curve, record.memory, record.corpus) == (None, (), None, None)


@pytest.mark.parametrize("ppl", [None, math.nan, math.inf])
def test_a_perplexity_that_is_no_number_is_none(ppl: float | None) -> None:
    assert make_record("lstm-z", 22_000, ppl=ppl).ppl is None
    assert make_record("lstm-z", 22_000, ppl=ppl).has_diverged


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"format": "fewwords cell 2"}, "the format is not 'fewwords cell 1'"),
        ({"surprise": 1}, "surprise is not a known name"),
        ({"vocab_size": "22000"}, "vocab_size is '22000'"),
        ({"seed": True}, "seed is True"),
        ({"seconds": None}, "seconds is None"),
        ({"group": "table 9"}, "group is 'table 9'"),
        ({"curve": [{"words": 5}, {"words": "five"}]}, "curve[1].words is 'five'"),
        ({"curve": [{"steps": 5}]}, "curve[0].words is missing"),
        ({"control": {"table": "codes"}}, "control.setting is missing"),
        ({"control": "codes"}, "control is not an object"),
        ({"corpus": {"train.tokens": 5}}, "corpus.train.tokens is 5"),
        ({"memory": {"embedding": 1}}, "memory: 'encoding' is missing"),
    ],
)
def test_what_is_no_record_is_refused_in_a_line(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as error:
        Record.from_json({**make_json("lstm-z", 22_000), **changes}, "cells/lstm-z.json")
    assert str(error.value).startswith("cells/lstm-z.json: ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_name_is_refused() -> None:
    value = make_json("lstm-z", 22_000)
    del value["ppl"]
    with pytest.raises(InputError, match="ppl is missing"):
        Record.from_json(value, "x")
    with pytest.raises(InputError, match="x: not the record"):
        Record.from_json([], "x")


def test_sums_of_the_memory_are_checked() -> None:
    value = make_json("lstm-z", 22_000)
    value["memory"]["total"] += 1
    with pytest.raises(InputError, match="memory: it does not add up"):
        Record.from_json(value, "x")
