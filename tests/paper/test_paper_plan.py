"""The plan: which cells there are, in which order, and what each depends on."""

import pytest

from fewwords.errors import InputError
from fewwords.models.neural.variants import settings_of
from fewwords.paper.plan import LARGER_SIZES, MODELS, VOCABULARY_SIZES, make_plan
from fewwords.training.settings import PRESETS, TrainingSettings


def test_the_whole_plan_has_every_row_at_every_size():
    plan = make_plan(5_000_000)
    table = {(cell.model, cell.vocabulary_size) for cell in plan if cell.group == "table 3"}
    assert table == {(model, size) for model in MODELS for size in VOCABULARY_SIZES}
    assert len({cell.name for cell in plan}) == len(plan)


def test_rows_of_table_3_share_recipe_and_budget():
    for cell in make_plan(5_000_000):
        if cell.group == "table 3" and cell.is_neural:
            start = {"bias_start": "zero", "divergence": 0.0} if cell.model.endswith("-zero-bias") else {}
            assert (cell.words, cell.training_changes, cell.tune_rate) == (5_000_000, start, False)
            assert settings_of(cell.variant, **cell.model_changes).tied == (cell.model == "lbl5")


def test_kneser_ney_reads_the_words_of_its_column_or_all():
    words = {cell.model: cell.words for cell in make_plan(70_000, more_words=()) if not cell.is_neural}
    assert words == {"kn3": 70_000, "kn3-all": None}


def test_every_control_turns_one_knob_of_its_reference():
    plan = {cell.name: cell for cell in make_plan(5_000_000)}
    controls = [cell for cell in plan.values() if cell.control is not None]
    knobs = {(cell.variant, cell.control.table, cell.control.setting) for cell in controls}
    assert knobs == {
        ("lstm-z", "embedding start", "random"),
        ("lstm-z-w", "embedding start", "random"),
        ("lstm-s", "bias start", "zero"),
        ("lstm-z", "bias start", "zero"),
        ("lstm-s", "bias start", "uniform"),
        ("lstm-z", "bias start", "uniform"),
        ("lstm-z", "tying", "tied"),
        ("lstm-z-w", "tying", "tied"),
        ("lstm-s", "recipe", "paper"),
        ("lstm-z", "recipe", "paper"),
        ("lstm-z-w", "recipe", "paper"),
        ("lstm-s", "normaliser", "one"),
        ("lstm-z", "normaliser", "constant"),
        ("lstm-z-w", "codes", "random"),
        ("lstm-z-w", "codes", "nearest"),
        ("lstm-z-w", "codes", "tuned"),
        ("lstm-z-w", "non-zeros", "4"),
        ("lstm-z-w", "non-zeros", "16"),
        ("lstm-z", "noise", "shared by the batch"),
        ("lstm-z-w", "noise", "shared by the batch"),
        ("lstm-s", "noise", "per position"),
        ("lstm-z", "noise", "per position"),
        ("lstm-z-w", "noise", "per position"),
        ("lstm-z", "loss", "softmax"),
    }
    for cell in controls:
        reference = plan[cell.control.reference]
        assert (reference.vocabulary_size, reference.words, reference.seed) == (22_000, cell.words, cell.seed)

        def facts(each):
            model = settings_of(each.variant, **each.model_changes).to_json()
            training = TrainingSettings(**each.training_changes).to_json()
            del model["variant"], training["divergence"]
            return {**model, **training, "max_nonzeros": each.max_nonzeros}

        mine, theirs = facts(cell), facts(reference)
        turned = {name for name in mine if mine[name] != theirs[name]}
        if cell.control.table == "recipe":
            assert cell.tune_rate
            assert turned == set(PRESETS["paper"]) - {"divergence", "tied"}  # the rows are untied already
        else:
            assert len(turned) == 1, cell.name


def test_a_plan_of_few_rows_depends_on_no_other():
    plan = make_plan(1_000, [100], ["lstm-z-zero-bias", "kn3"], more_words=(), num_seeds=1)
    assert [cell.name for cell in plan] == ["kn3-v100-w1k", "lstm-z-zero-bias-v100-w1k"]


def test_more_words_and_seeds():
    plan = make_plan(5_000_000, more_words=[20_000_000, 4_000_000], num_seeds=2)
    longer = [cell for cell in plan if cell.group == "more words"]
    assert {cell.vocabulary_size for cell in longer} == {50_000}
    names = ["kn3-v50000-w20M", "lstm-z-v50000-w20M", "lstm-z-w-v50000-w20M"]
    assert [(cell.name, cell.words) for cell in longer] == [(name, 20_000_000) for name in names]
    repeated = [(cell.model, cell.vocabulary_size) for cell in plan if cell.seed == 2]
    assert repeated[:3] == [("lstm-s", 22_000), ("lstm-z", 22_000), ("lstm-z-w", 22_000)]
    assert len(set(repeated)) == len(repeated) == 10
    assert {pair for pair in repeated if pair[0] == "lstm-z-wb"} == {("lstm-z-wb", size) for size in VOCABULARY_SIZES}
    assert not [cell for cell in make_plan(5_000_000, num_seeds=1) if cell.seed > 1]
    assert not [cell for cell in make_plan(5_000_000, more_words=()) if cell.group == "more words"]


def test_the_papers_size_comes_first_and_the_most_telling_cells_of_it_before_all():
    plan = make_plan(5_000_000, all_words=True, larger_sizes=LARGER_SIZES)
    long = [cell.name for cell in plan if cell.words is None and cell.is_neural]
    assert long == [
        "lstm-z-w-v50000",
        "lstm-z-v50000",
        "lstm-z-w-tied-v50000",
        "lstm-z-tied-v50000",
        "lstm-z-w-v22000",
        "lstm-z-v22000",
        "lstm-z-w-v200000",
        "lstm-z-w-v36000",
        "lstm-z-v36000",
        "lstm-z-w-v10000",
        "lstm-z-v10000",
        "lstm-s-v50000",
        "lstm-z-wb-v50000",
        "lbl5-v50000",
        "lstm-z-w-v100000",
        "lstm-z-v200000",
    ]
    neural = [cell.name for cell in plan if cell.is_neural]
    assert neural[: len(long)] == long
    counted = {(cell.model, cell.vocabulary_size) for cell in plan if cell.words is None and not cell.is_neural}
    assert counted == {("kn3-all", size) for size in (*VOCABULARY_SIZES, *LARGER_SIZES)} | {
        ("kn5-all", size) for size in VOCABULARY_SIZES
    }
    assert len({cell.name for cell in plan}) == len(plan)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"models": ["lstm-q"]}, "`models` lstm-q"),
        ({"vocabulary_sizes": [5, 5]}, "each only once"),
        ({"vocabulary_sizes": []}, "at least one size"),
        ({"words": 0}, "1 or more"),
        ({"num_seeds": 0}, "1 or more"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(arguments, told):
    with pytest.raises(InputError, match=told):
        make_plan(**arguments)
