"""Tables, claims and controls from made-up records."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from fewwords.models.neural.memory import memory_reduction
from fewwords.paper.tables import published
from fewwords.paper.tables.make import make_tables

Make = Callable[..., dict[str, Any]]
EMPTY: dict[str, Any] = {}


@pytest.fixture
def tables(records: list[dict[str, Any]], corpus: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    return make_tables(records, corpus, about)


def claim(tables: dict[str, Any], words: str) -> dict[str, Any]:
    (found,) = [each for each in tables["claims"] if words in each["claim"]]
    return dict(found)


def control(tables: dict[str, Any], name: str, model: str) -> dict[str, Any]:
    (found,) = [each for each in tables["controls"] if (each["name"], each["model"]) == (name, model)]
    return dict(found)


def test_all_of_it_is_strict_json(tables: dict[str, Any]) -> None:
    assert json.loads(json.dumps(tables, allow_nan=False)) == tables
    sections = "table1 table2 table3 table4 table4_details more_words controls figure4 claims runs about".split()
    assert set(sections) <= set(tables)


def test_table_3_has_ours_the_papers_and_the_ratio(tables: dict[str, Any], records: list[dict[str, Any]]) -> None:
    for record in (each for each in records if each["group"] == "table 3" and each["seed"] == 1):
        entry = tables["table3"][record["model"]][str(record["vocab_size"])]
        assert (entry["ppl"], entry["run"], entry["seed"]) == (record["ppl"], record["name"], 1)
        assert entry["train_words"] == record["train_words"]
        if not entry["diverged"]:
            assert entry["ratio"] == pytest.approx(entry["mean"] / entry["paper"])
    assert tables["table3"]["lstm-z"]["22000"]["seeds"] == 3
    assert tables["table3"]["lstm-z"]["22000"]["paper"] == 104.4
    assert tables["table3"]["kn3-all"]["50000"]["paper"] == 159.9
    assert tables["table3"]["lstm-z"]["10000"]["spread"] is None
    assert tables["table3"]["lstm-s-zero-bias"]["22000"]["diverged"]


def test_table_4_and_its_arithmetic(tables: dict[str, Any]) -> None:
    for model, row in published.TABLE_4.items():
        for size, paper in row.items():
            details = tables["table4_details"][model][str(size)]
            ours = memory_reduction(size, 8_003, 8.0, coded_bias=model == "lstm-z-wb")
            assert tables["table4"][model][str(size)] == pytest.approx(ours, abs=0.01)
            assert details["arithmetic"] == pytest.approx(ours)
            assert details["points"] == pytest.approx(details["percent"] - paper)
            assert details["arithmetic_at_implied"] == pytest.approx(paper, abs=0.015)


def test_another_base_is_not_held_against_table_4(record: Make) -> None:
    small = record("lstm-z-w", 10_000)
    small["memory"]["embedding"] = 3_003 * 200
    tables = make_tables([small], EMPTY, EMPTY)
    assert tables["table4_details"]["lstm-z-w"]["10000"]["paper"] is None
    assert claim(tables, "table 4")["holds"] is None


def test_figure_4_grows_by_what_a_word_costs(tables: dict[str, Any]) -> None:
    memory = tables["figure4"]["memory"]
    words = memory[-1]["vocab_size"] - memory[0]["vocab_size"]
    growth = {model: (memory[-1][model] - memory[0][model]) / words for model in ("lstm-z", "lstm-z-w", "lstm-z-wb")}
    # dense: two rows of 200 and a bias; coded: 8 indices and values, with or without a bias
    assert growth == {"lstm-z": 401, "lstm-z-w": 17, "lstm-z-wb": 16}
    assert len(memory) > 2 * len(published.VOCABULARY_SIZES)
    assert set(published.VOCABULARY_SIZES) <= {line["vocab_size"] for line in memory}


@pytest.mark.parametrize(
    ("dense", "coded", "holds", "status"),
    [
        (100.0, 95.0, True, "holds"),
        (100.0, 105.0, False, "fails"),
        (100.0, 99.0, None, "within the spread"),
        (100.0, math.nan, False, "fails"),
    ],
)
def test_a_claim_needs_twice_the_spread(
    record: Make, dense: float, coded: float, holds: bool | None, status: str
) -> None:
    records = [record("lstm-s", 22_000, seed=seed, ppl=ppl) for seed, ppl in ((1, 100.0), (2, 101.5))]
    records += [record("lstm-z", 22_000, ppl=dense), record("lstm-z-w", 22_000, ppl=coded)]
    found = claim(make_tables(records, EMPTY, EMPTY), "LSTM-z,w is ahead of LSTM-z at every")
    assert (found["holds"], found["status"]) == (holds, status)
    if not math.isnan(coded):
        assert f"{coded / dense:.3f}" in found["says"]
        assert ("within the spread" in found["says"]) == (holds is None)


def test_without_a_spread_nothing_is_decided(record: Make) -> None:
    tables = make_tables([record("lstm-z", 22_000), record("lstm-z-w", 22_000)], EMPTY, EMPTY)
    found = claim(tables, "LSTM-z,w is ahead of LSTM-z at every")
    assert (found["holds"], found["status"]) == (None, "no spread measured")
    assert "no spread measured" in tables["headline"]["says"]


def test_claims_on_kneser_ney_hold_below_nine_tenths(record: Make) -> None:
    seeds = [record("lstm-z", 22_000, seed=seed, ppl=ppl) for seed, ppl in ((1, 100.0), (2, 100.1))]
    for level, holds in ((120.0, True), (105.0, False)):
        tables = make_tables([*seeds, record("kn3", 22_000, ppl=level)], EMPTY, EMPTY)
        assert claim(tables, "same number of words")["holds"] is holds


def test_claims_on_zregression_are_held_against_the_controls_too(record: Make) -> None:
    seeds = [record("lstm-z", 22_000, seed=seed, ppl=ppl) for seed, ppl in ((1, 100.0), (2, 100.1))]
    for setting, level, holds in (("per position", 100.1, None), ("per position", 120.0, True), ("other", 120.0, None)):
        turned = {"table": "noise", "setting": setting, "reference": ""}
        pair = [
            record(model, 22_000, group="control", control=turned, name=model, ppl=ppl)
            for model, ppl in (("lstm-s", level), ("lstm-z", 100.0))
        ]
        found = claim(
            make_tables([*seeds, *pair], EMPTY, EMPTY), "ahead of LSTM-s with noise for each position, as in the paper"
        )
        assert found["holds"] is holds
        assert ("not run yet" in found["says"]) == (setting == "other")


def test_made_up_cells_check_the_other_claims(tables: dict[str, Any]) -> None:
    assert claim(tables, "becomes unstable")["holds"] is True
    assert claim(tables, "hardly grows")["holds"] is True
    assert "17.0 in LSTM-z,w, 401.0 in LSTM-z" in claim(tables, "hardly grows")["says"]
    # 0.22 left of 0.35: 40 % of the variance
    assert claim(tables, "estimates Z well")["holds"] is True
    assert claim(tables, "when the biases of both start at zero")["holds"] is True


def test_training_that_rises_and_recovers_is_unstable(record: Make) -> None:
    for curve, holds in (([300.0, 500.0, 200.0], True), ([300.0, 250.0, 200.0], False)):
        runs = [record("lstm-s-zero-bias", 22_000), record("lstm-z-zero-bias", 22_000)]
        for run, values in zip(runs, (curve, [300.0, 250.0, 200.0])):
            run["curve"] = [{"words": 1.0, "dev_perplexity": value} for value in values]
        found = claim(make_tables(runs, EMPTY, EMPTY), "becomes unstable")
        assert found["holds"] is holds
    assert "1.67" not in found["says"]


def test_controls_say_what_the_numbers_say(tables: dict[str, Any]) -> None:
    random = control(tables, "codes: random", "lstm-z-w")
    assert random["ratio"] == pytest.approx(random["mean"] / tables["table3"]["lstm-z-w"]["22000"]["mean"])
    assert f"loses {100 * (random['ratio'] - 1):.1f} %" in random["says"]
    assert random["says"].endswith("what the codes say matters, not only their number.")
    assert random["reference"] == "lstm-z-w-v22000"
    assert " gains " in control(tables, "loss: softmax", "lstm-z-w")["says"]
    constant = control(tables, "normaliser: constant", "lstm-z")["says"]
    assert "within twice the spread" in constant
    assert " loses " not in constant
    assert "diverges" in control(tables, "bias start: zero", "lstm-s")["says"]


def test_lstm_s_is_the_control_of_the_normaliser(record: Make) -> None:
    turned = {"table": "normaliser", "setting": "one", "reference": "lstm-z-v22000"}
    records = [record("lstm-s", 22_000, control=turned), record("lstm-z", 22_000), record("lstm-z", 22_000, seed=2)]
    found = control(make_tables(records, EMPTY, EMPTY), "normaliser: one", "lstm-z")
    assert found["run"] == "lstm-s-v22000"
    assert found["says"].startswith("LSTM-z with Z fixed at 1 loses")


def test_what_is_missing_is_not_run_yet() -> None:
    tables = make_tables([], EMPTY, EMPTY)
    assert {each["says"] for each in tables["controls"]} == {"not run yet"}
    assert {each["status"] for each in tables["claims"]} == {"not run yet"}
    assert tables["headline"] is None
    assert tables["table3"] == {}


def test_a_control_without_its_reference(record: Make) -> None:
    turned = {"table": "codes", "setting": "random", "reference": "lstm-z-w-v22000"}
    found = control(
        make_tables([record("lstm-z-w", 22_000, group="control", control=turned, name="random")], EMPTY, EMPTY),
        "codes: random",
        "lstm-z-w",
    )
    assert found["ratio"] is None
    assert "missing" in found["says"]


def test_more_words_against_fewer(tables: dict[str, Any]) -> None:
    for run in tables["more_words"]:
        fewer = tables["table3"][run["model"]][str(run["vocab_size"])]
        assert run["ratio_to_fewer"] == pytest.approx(run["mean"] / fewer["mean"])
        assert run["train_words"] > fewer["train_words"] == run["fewer_words"]
    assert len(tables["more_words"]) == 2


def test_the_headline_tells_of_the_longest_runs(records: list[dict[str, Any]]) -> None:
    longer = [{**record} for record in records if record["group"] == "more words"]
    for record in longer:
        record.update(name=f"{record['name']}-still", train_words=60_000_000, ppl=50.0 + (record["model"] == "lstm-z"))
    told = make_tables([*records, *longer], EMPTY, EMPTY)["headline"]["says"]
    assert "Trained on 60.0 M words they have 50.0 and 51.0, the 3-gram model of all " in told
    alone = [each for each in longer if each["model"] == "lstm-z-w"]
    told = make_tables([*records, *alone], EMPTY, EMPTY)["headline"]["says"]
    assert "Trained on 30.0 M words they have " in told
    plain = [record for record in records if record["group"] != "more words"]
    assert "Trained on" not in make_tables(plain, EMPTY, EMPTY)["headline"]["says"]


def test_runs_name_every_record(tables: dict[str, Any], records: list[dict[str, Any]]) -> None:
    assert set(tables["runs"]) == {record["name"] for record in records}
    assert tables["runs"]["lstm-z-v22000"]["command"].startswith("fewwords train")
    assert tables["table2"]["rows"][0]["paper"] == 1_600_000_000
    assert tables["corpus"]["train.tokens"] == "ab" * 32
