"""Tables, headline, claims and controls from made-up records."""

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from paper_records import ALL_WORDS, SIZES, gather, make_json, make_record, memory_of

from fewwords.evaluation.spelling import Spelled
from fewwords.models.neural.memory import memory_reduction
from fewwords.paper.record import Record
from fewwords.paper.tables import published
from fewwords.paper.tables.claims import Claim, claims_table, make_claims
from fewwords.paper.tables.controls import ControlRow, controls_table, make_controls
from fewwords.paper.tables.corpus_table import corpus_table
from fewwords.paper.tables.headline import headline_table, make_headline
from fewwords.paper.tables.memory import base_rows, memory_grid, reduction_table, reductions
from fewwords.paper.tables.perplexity import longer_table, small_table, whole_table
from fewwords.paper.tables.results import Results
from fewwords.paper.tables.spelled import cell_bits, spelled_table
from fewwords.paper.tables.table import Table, Value, value
from fewwords.paper.tables.training_words import words_curve

Make = Callable[..., Record]
AHEAD = "LSTM-z,w is ahead of LSTM-z at every"


def claim(results: Results, words: str) -> Claim:
    (found,) = [each for each in make_claims(results) if words in each.claim]
    return found


def control(results: Results, knob: str, setting: str, model: str) -> ControlRow:
    (found,) = [row for row in make_controls(results) if (row.knob, row.setting, row.model) == (knob, setting, model)]
    return found


def place(table: Table, row: str, column: str) -> Value:
    (found,) = [each for each in table.rows if value(each[0]).text == row]
    return value(found[list(table.columns).index(column)])


def test_panels_are_told_apart(results: Results) -> None:
    assert {runs.first.train_words for runs in results.whole.values()} == {ALL_WORDS}
    assert len({runs.first.train_words for runs in results.small.values()}) == 1
    assert {runs.first.train_words for runs in results.longer} == {30_000_000}
    assert results.sizes == [*SIZES, 200_000]
    assert {size for model, size in results.whole if model == "kn5"} == set(SIZES)
    assert results.small["lstm-z", 22_000].first.seed == 1
    assert len(results.small["lstm-z", 22_000].records) == 3


def test_table_3_has_ours_the_papers_and_the_ratio(results: Results) -> None:
    for panel, table in ((results.whole, whole_table(results)), (results.small, small_table(results))):
        for (model, size), runs in panel.items():
            found = place(table, published.label(model), f"V = {size:,}")
            paper = published.published_perplexity(model, size)
            if runs.mean is None:
                assert found.text == "diverged (3.5 M)"
            else:
                assert found.text == f"{runs.mean:.1f}"
                assert paper is None or f"paper {paper:.1f}, {runs.mean / paper:.2f}×" in found.note
            assert ("3 seeds" in found.note) == (len(runs.records) == 3)
    assert place(small_table(results), "LSTM-z", "V = 22,000").note.endswith("paper 104.4, 1.03×")
    assert "paper 159.9" in place(whole_table(results), "KN3", "V = 50,000").note


def test_every_missing_cell_is_not_run_yet_or_not_planned(results: Results) -> None:
    assert place(whole_table(results), "LSTM-z,wb", "V = 50,000") == Value("not run yet", "paper 138.2")
    assert place(whole_table(results), "LSTM-s", "V = 10,000") == Value("–", "paper 107.3")
    assert place(whole_table(results), "LSTM-z", "V = 200,000") == Value("not run yet")
    assert place(whole_table(results), "LSTM-z,wb", "V = 200,000") == Value("–")
    small, whole = (
        [value(each).text for row in table.rows for each in row[1:]]
        for table in (small_table(gather([])), whole_table(gather([])))
    )
    assert small == ["not run yet"] * 24
    # KN3, KN5, LSTM-z and LSTM-z,w at four sizes; LBL5, LSTM-s, LSTM-z,wb and the tied ones at the largest
    assert (whole.count("not run yet"), whole.count("–"), len(whole)) == (4 * 4 + 5, 5 * 3, 9 * 4)


def test_table_4_and_its_arithmetic(results: Results) -> None:
    found = {(each.model, each.vocab_size): each for each in reductions(results)}
    for model, row in published.TABLE_4.items():
        for size, paper in row.items():
            each = found[model, size]
            ours = memory_reduction(size, 8_003, 8.0, coded_bias=model == "lstm-z-wb")
            assert each.percent == pytest.approx(ours, abs=0.01)
            assert each.arithmetic == pytest.approx(ours)
            assert each.points == pytest.approx(each.percent - paper)
            assert each.arithmetic_at_implied == pytest.approx(paper, abs=0.015)
    # two rows of 200 and a bias for each of 200,000 words, an LSTM of 321,600 numbers and 201 of ZRegression, 4 bytes each
    dense = 4 * (401 * 200_000 + 321_600 + 201) / 1e6
    table = reduction_table(results)
    assert place(table, "LSTM-z, MB (float32)", "V = 200,000").text == f"{dense:.1f}"
    coded = 4 * (2 * 8_003 * 200 + 200_000 + 321_600 + 201 + 2 * 8 * (200_000 - 8_003)) / 1e6
    assert place(table, "LSTM-z,w, MB (float32)", "V = 200,000").text == f"{coded:.1f}"
    assert place(table, "LSTM-z,wb", "V = 200,000").text == "–"  # not planned


def test_another_base_is_not_held_against_table_4() -> None:
    small = make_json("lstm-z-w", 10_000)
    less = small["memory"]["embedding"] - 3_003 * 200
    for name in ("embedding", "parameters", "total", "paper_total"):
        small["memory"][name] -= less
    results = gather([Record.from_json(small, "x")])
    assert base_rows(results.records[0]) == 3_003
    assert [each.paper for each in reductions(results)] == [None]
    assert claim(results, "table 4").holds is None


def test_figure_4_grows_by_what_a_word_costs(results: Results) -> None:
    grid = memory_grid(results)
    first, last = min(grid.arithmetic), max(grid.arithmetic)
    models = ("lstm-z", "lstm-z-w", "lstm-z-wb")
    growth = {
        model: (grid.arithmetic[last][model] - grid.arithmetic[first][model]) / (last - first) for model in models
    }
    # dense: two rows of 200 and a bias; coded: 8 indices and values, with or without a bias
    assert growth == {"lstm-z": 401, "lstm-z-w": 17, "lstm-z-wb": 16}
    assert last == 200_000
    assert len(grid.arithmetic) > 2 * len(published.VOCABULARY_SIZES)
    assert set(published.VOCABULARY_SIZES) <= set(grid.arithmetic)
    # what was trained is what the arithmetic says, and LSTM-z was not trained with 200,000 words
    for (model, size), numbers in grid.measured.items():
        assert numbers == grid.arithmetic[size][model]
    assert ("lstm-z-w", 200_000) in grid.measured
    assert ("lstm-z", 200_000) not in grid.measured


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
    found = claim(gather(records), AHEAD)
    assert (found.holds, found.status) == (holds, status)
    if not math.isnan(coded):
        assert f"{coded / dense:.3f}" in found.says
        assert ("within the spread" in found.says) == (holds is None)


def test_without_a_spread_nothing_is_decided(record: Make) -> None:
    results = gather([record("lstm-z", 22_000), record("lstm-z-w", 22_000)])
    found = claim(results, AHEAD)
    assert (found.holds, found.status) == (None, "no spread measured")
    headline = make_headline(results, {})
    assert headline is not None
    assert "no spread measured" in headline.says


def test_a_claim_is_judged_at_the_papers_size_where_both_cells_are_there(record: Make) -> None:
    seeds = [record("lstm-z", 22_000, seed=seed, ppl=ppl) for seed, ppl in ((1, 100.0), (2, 100.1))]
    small = [record("lstm-z-w", size, ppl=120.0) for size in (10_000, 22_000)] + [record("lstm-z", 10_000, ppl=100.0)]
    coded = record("lstm-z-w", 22_000, budget="", ppl=50.0)
    found = claim(gather([*seeds, *small, coded]), AHEAD)
    assert found.at == {10_000: False, 22_000: False}  # LSTM-z was not run at the paper's size
    assert "all" not in found.says
    dense = record("lstm-z", 22_000, budget="", ppl=60.0)
    found = claim(gather([*seeds, *small, coded, dense]), AHEAD)
    assert found.at == {10_000: False, 22_000: True}
    assert found.status == "fails at some sizes"
    assert re.search(r"on all 93\.0 M words 0\.833 .*at 22,000; on 5\.0 M words 1\.200 .*at 10,000", found.says)


def test_kneser_ney_of_the_same_words_is_that_of_the_panel(record: Make) -> None:
    records = [record("lstm-z", 22_000, seed=seed, ppl=ppl) for seed, ppl in ((1, 100.0), (2, 100.1))]
    records += [record("kn3", 22_000, ppl=120.0), record("kn3-all", 22_000, ppl=80.0)]
    results = gather(records)
    assert claim(results, "same number of words").holds is True
    assert claim(results, "on the whole corpus").holds is False
    whole = gather([*records, record("lstm-z", 22_000, budget="", ppl=60.0)])
    for words in ("same number of words", "on the whole corpus"):
        assert "on all 93.0 M words 0.750" in claim(whole, words).says


def test_claims_on_kneser_ney_hold_below_nine_tenths(record: Make) -> None:
    seeds = [record("lstm-z", 22_000, seed=seed, ppl=ppl) for seed, ppl in ((1, 100.0), (2, 100.1))]
    for level, holds in ((120.0, True), (105.0, False)):
        results = gather([*seeds, record("kn3", 22_000, ppl=level)])
        assert claim(results, "same number of words").holds is holds


def test_claims_on_zregression_are_held_against_the_controls_too(record: Make) -> None:
    seeds = [record("lstm-z", 22_000, seed=seed, ppl=ppl) for seed, ppl in ((1, 100.0), (2, 100.1))]
    for setting, level, holds in (("per position", 100.1, None), ("per position", 120.0, True), ("other", 120.0, None)):
        turned = {"table": "noise", "setting": setting, "reference": ""}
        pair = [
            record(model, 22_000, group="control", control=turned, name=model, ppl=ppl)
            for model, ppl in (("lstm-s", level), ("lstm-z", 100.0))
        ]
        found = claim(gather([*seeds, *pair]), "ahead of LSTM-s with noise for each position, as in the paper")
        assert found.holds is holds
        assert ("not run yet" in found.says) == (setting == "other")


def test_made_up_cells_check_the_other_claims(results: Results) -> None:
    assert claim(results, "becomes unstable").holds is True
    assert claim(results, "hardly grows").holds is True
    assert "17.0 in LSTM-z,w, 401.0 in LSTM-z" in claim(results, "hardly grows").says
    # 0.22 left of 0.35: 40 % of the variance
    assert claim(results, "estimates Z well").holds is True
    assert claim(results, "when the biases of both start at zero").holds is True
    table = claims_table(make_claims(results))
    assert [value(row[1]).style for row in table.rows if "becomes unstable" in value(row[0]).text] == ["holds"]


def test_training_that_rises_and_recovers_is_unstable(record: Make) -> None:
    for curve, holds in (([300.0, 500.0, 200.0], True), ([300.0, 250.0, 200.0], False)):
        lines = [[{"words": 1, "dev_perplexity": each} for each in values] for values in (curve, [300.0, 250.0, 200.0])]
        models = ("lstm-s-zero-bias", "lstm-z-zero-bias")
        found = claim(
            gather(record(model, 22_000, curve=each) for model, each in zip(models, lines)), "becomes unstable"
        )
        assert found.holds is holds
    assert "1.67" not in found.says


def test_controls_say_what_the_numbers_say(results: Results) -> None:
    random = control(results, "codes", "random", "lstm-z-w")
    assert random.comparison is not None
    assert random.runs is not None
    mean, reference = random.runs.mean, results.small["lstm-z-w", 22_000].mean
    assert mean is not None
    assert reference is not None
    assert random.comparison.ratio == pytest.approx(mean / reference)
    assert f"loses {100 * (random.comparison.ratio - 1):.1f} %" in random.says
    assert random.says.endswith("what the codes say matters, not only their number.")
    assert random.reference is results.small["lstm-z-w", 22_000]
    assert " gains " in control(results, "loss", "softmax", "lstm-z-w").says
    constant = control(results, "normaliser", "constant", "lstm-z").says
    assert "within twice the spread" in constant
    assert " loses " not in constant
    assert "diverges" in control(results, "bias start", "zero", "lstm-s").says
    shown = [value(row[3]).text for row in controls_table(make_controls(results)).rows]
    assert shown == [row.says for row in make_controls(results)]


def test_lstm_s_is_the_control_of_the_normaliser(record: Make) -> None:
    turned = {"table": "normaliser", "setting": "one", "reference": "lstm-z-v22000-w5M"}
    records = [record("lstm-s", 22_000, control=turned), record("lstm-z", 22_000), record("lstm-z", 22_000, seed=2)]
    found = control(gather(records), "normaliser", "one", "lstm-z")
    assert found.runs is not None
    assert found.runs.first.name == "lstm-s-v22000-w5M"
    assert found.says.startswith("LSTM-z with Z fixed at 1 loses")


def test_what_is_missing_is_not_run_yet() -> None:
    results = gather([])
    controls = make_controls(results)
    assert len(controls) == 24  # as many as the plan has
    assert {row.says for row in controls} == {"not run yet"}
    assert {each.status for each in make_claims(results)} == {"not run yet"}
    assert make_headline(results, {}) is None
    assert headline_table(results, None, {}).rows == []
    assert longer_table(results) is None
    assert words_curve(results) is None
    assert spelled_table(results, {}) is None


def test_a_control_without_its_reference(record: Make) -> None:
    turned = {"table": "codes", "setting": "random", "reference": "lstm-z-w-v22000-w5M"}
    results = gather([record("lstm-z-w", 22_000, group="control", control=turned, name="random")])
    found = control(results, "codes", "random", "lstm-z-w")
    assert found.comparison is None
    assert "missing" in found.says


def test_more_words_against_fewer_and_all(results: Results) -> None:
    table = longer_table(results)
    assert table is not None
    assert len(table.rows) == 3
    means = [results.small["lstm-z", 50_000].mean, results.whole["lstm-z", 50_000].mean]
    (between,) = [runs.mean for runs in results.longer if runs.first.model == "lstm-z"]
    assert between is not None
    for column, mean in zip(("over the small budget's", "over all words'"), means):
        assert mean is not None
        assert place(table, "LSTM-z", column).text == f"{between / mean:.3f}"


def test_the_headline_is_of_the_papers_size(results: Results) -> None:
    headline = make_headline(results, {})
    assert headline is not None
    assert (headline.vocab_size, headline.train_words, headline.on_all_words) == (50_000, ALL_WORDS, True)
    dense, coded = memory_of("lstm-z", 50_000), memory_of("lstm-z-w", 50_000)
    assert dense is not None
    assert coded is not None
    assert f"from {4 * dense.total / 1e6:.1f} MB to {4 * coded.total / 1e6:.1f} MB" in headline.says
    means = [results.whole[model, 50_000].mean for model in ("lstm-z-w", "lstm-z", "kn3")]
    assert [headline.ppl, headline.dense_ppl, headline.kn3_ppl] == means
    assert "Trained on all 93.0 M words" in headline.says
    table = headline_table(results, headline, {})
    assert place(table, "LSTM-z,w", "V = 50,000") == Value(f"{headline.ppl:.1f}", "129.2")
    with_coded = sorted(size for model, size in results.whole if model == "lstm-z-w")
    assert list(table.columns[1:]) == [f"V = {size:,}" for size in with_coded]
    assert with_coded[-1] == 200_000
    assert place(table, "LSTM-z", "V = 200,000") == Value("not run yet", "")


def test_the_headline_tells_the_largest_vocabulary(results: Results) -> None:
    headline = make_headline(results, {})
    assert headline is not None
    dense, coded = memory_of("lstm-z", 200_000), memory_of("lstm-z-w", 200_000)
    assert dense is not None
    assert coded is not None
    assert f"With 200,000 words LSTM-z,w has {4 * coded.total / 1e6:.1f} MB" in headline.says
    assert headline.says.endswith(f"LSTM-z would have {4 * dense.total / 1e6:.1f} MB.")
    assert headline.largest is not None
    means = [results.whole[model, 200_000].mean for model in ("lstm-z-w", "kn3")]
    assert [headline.largest.ppl, headline.largest.kn3_ppl] == means
    rival = make_record("lstm-z", 200_000, budget="", factor=0.6)
    headline = make_headline(gather([*results.records, rival]), {})
    assert headline is not None
    assert headline.vocab_size == 50_000  # the paper's largest
    assert headline.says.endswith(f"LSTM-z has {4 * dense.total / 1e6:.1f} MB and {rival.ppl:.1f}.")
    no_larger = make_headline(gather(record for record in results.records if record.vocab_size <= 50_000), {})
    assert no_larger is not None
    assert no_larger.largest is None


def test_the_headline_compares_vocabularies_by_bits_per_character(results: Results) -> None:
    # 200,000 words and 8,000 ends are 208,000 predictions; the larger vocabulary has no letters left to pay for
    texts = {
        50_000: Spelled(200_000, 8_000, 6_000, 500, letter_bits=150_000.0, num_characters=1e6),
        200_000: Spelled(200_000, 8_000, 0, 0, letter_bits=0.0, num_characters=1e6),
    }
    headline = make_headline(results, texts)
    assert headline is not None
    dense, coded = results.whole["lstm-z", 50_000].mean, results.whole["lstm-z-w", 200_000].mean
    assert dense is not None
    assert coded is not None
    few = (208_000 * math.log2(dense) + 150_000) / 1e6
    many = 208_000 * math.log2(coded) / 1e6
    assert f"{many:.3f} for LSTM-z,w with 200,000 words, {few:.3f} for LSTM-z with 50,000." in headline.says
    table = headline_table(results, headline, texts)
    row = "bits per character, LSTM-z → LSTM-z,w"
    assert place(table, row, "V = 200,000").text == f"– → {many:.3f}"
    assert place(table, row, "V = 50,000").text.startswith(f"{few:.3f} → ")


def test_the_headline_of_a_small_budget_alone(records: list[Record]) -> None:
    results = gather(record for record in records if record.group != "more words" and "-all" not in record.model)
    headline = make_headline(results, {})
    assert headline is not None
    assert not headline.on_all_words
    assert "Trained on 5.0 M words" in headline.says
    columns = headline_table(results, headline, {}).columns
    assert list(columns[1:]) == [f"V = {size:,}" for size in SIZES]


def test_ratios_by_training_words_at_the_largest_common_size(results: Results, records: list[Record]) -> None:
    curve = words_curve(results)
    assert curve is not None
    assert curve.vocab_size == 50_000
    assert [point.train_words for point in curve.points] == [4_999_987, 30_000_000, ALL_WORDS]
    coded, dense, kneser_ney = (results.whole[model, 50_000].mean for model in ("lstm-z-w", "lstm-z", "kn3"))
    assert coded is not None
    assert dense is not None
    assert kneser_ney is not None
    assert curve.points[-1].coded_over_dense.ratio == pytest.approx(coded / dense)
    assert curve.points[-1].kn3_over_coded is not None
    assert curve.points[-1].kn3_over_coded.ratio == pytest.approx(kneser_ney / coded)
    # without the longest runs at 50,000 words two budgets are left there, as at 22,000
    fewer = [record for record in records if record.name != "lstm-z-v50000"]
    curve = words_curve(gather(fewer))
    assert curve is not None
    assert (curve.vocab_size, len(curve.points)) == (50_000, 2)


def test_bits_per_character_from_perplexity_and_letters(record: Make) -> None:
    # 200,000 words and 8,000 ends at a perplexity of 64 are six bits each
    text = Spelled(200_000, 8_000, 10_000, 500, letter_bits=250_000.0, num_characters=1_000_000.0)
    results = gather([record("lstm-z", 22_000, ppl=64.0), record("lstm-z", 50_000, budget="", ppl=64.0)])
    assert cell_bits(results.small["lstm-z", 22_000], text) == pytest.approx((6 * 208_000 + 250_000) / 1e6)
    assert cell_bits(results.small["lstm-z", 22_000], dataclasses.replace(text, num_words=100)) is None
    table = spelled_table(results, {22_000: text, 50_000: text})
    assert table is not None
    assert [[value(each).text for each in row] for row in table.rows[:2]] == [
        ["LSTM-z", "–", "1.498"],
        ["LSTM-z", "1.498", "–"],
    ]
    assert place(table, "bits to spell one", "V = 22,000").text == "25.0"
    assert "0.2 % of the words" in table.notes[1]


def test_table_2_tells_what_was_used(results: Results, corpus: dict[str, Any]) -> None:
    table = corpus_table(results, corpus)
    assert place(table, "train (n-gram)", "the paper").text == "1,600,000,000"
    assert place(table, "train (neural)", "used by a run").text == f"{ALL_WORDS:,}"
    assert place(table, "test", "used by a run").text == "200,000"
