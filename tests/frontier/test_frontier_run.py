"""The plan, runs from training to points on a tiny corpus, and the report of points."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.errors import InputError
from fewwords.evaluation.perplexity import part_perplexity
from fewwords.frontier.plan import FINALS, Run, make_finals, make_runs, make_trials
from fewwords.frontier.points import Point
from fewwords.frontier.report import best_at, envelope, write_frontier
from fewwords.frontier.run import (
    do_run,
    finished_points,
    frontier_folder,
    measure_packed,
    points_path,
    read_points,
    run_frontier,
)
from fewwords.models.load import load
from fewwords.models.neural.variants import VARIANTS, settings_of
from fewwords.packing.pack import pack
from fewwords.vectors.word_vectors import WordVectors

SIZE = 120


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frontier")
    chance = random.Random(5)
    lines = (" ".join(f"w{int(900 * chance.random() ** 4)}" for _ in range(6)) for _ in range(900))
    (folder / "text.txt").write_text("\n".join(lines))
    prepare(
        [str(folder / "text.txt")], folder / "work", settings=Settings(tokenized=True), dev_words=300, test_words=300
    )
    vocabulary = TokenCorpus.open(folder / "work").vocabulary()
    values = np.random.default_rng(1).normal(size=(len(vocabulary), 200)).astype(np.float32)
    values[:3] = 0
    WordVectors(values, values.any(axis=1), vocabulary.fingerprint).save(folder / "work")
    return folder / "work"


def run_of(name: str, words: int = 2_000) -> Run:
    (found,) = make_runs(words, SIZE, (name,))
    return found


def model_folder(work: Path, name: str) -> Path:
    return frontier_folder(work) / "models" / run_of(name).name


def test_every_run_of_the_plan_has_settings_that_can_be_trained() -> None:
    runs = make_runs()
    assert len({run.name for run in runs}) == len(runs)
    assert (runs[0].title, runs[0].name) == ("codes-b8k", "codes-b8k-v50000-w20M")
    for run in runs:
        if run.cell.variant in VARIANTS:
            settings_of(run.cell.variant, **run.cell.model_changes)
    methods = {run.method for run in runs}
    assert {"dense", "low-rank", "hashed", "quotient", "adaptive", "nearest base word", "Kneser-Ney"} <= methods
    assert all(run.ours == run.title.startswith("codes-b") for run in runs)
    names = {run.name for run in runs}
    assert all(run.start is None or run.start in names for run in runs)
    with pytest.raises(InputError, match="no such run; there are codes-b8k, "):
        make_runs(only=("no",))


def test_trials_have_every_shape_on_a_quarter_of_the_words_and_finals_those_that_were_chosen() -> None:
    trials, finals = make_trials(), make_finals()
    assert {run.title for run in trials} == {run.title for run in make_runs() if not run.is_rounded}
    assert {run.cell.words for run in trials if run.start is None} == {5_000_000}
    assert set(FINALS) == {run.title for run in finals if not run.is_rounded}
    assert {run.title for run in finals if run.is_rounded} == {f"{title}-rounded" for title in FINALS if title != "kn3"}
    assert [run.title for run in make_finals(only=("codes-b1k",))] == ["codes-b1k"]


@pytest.mark.parametrize("name", ["codes-b8k", "low-rank-20", "dense-tied-100", "kn3"])
def test_a_run_ends_in_points_whose_perplexity_is_that_of_the_model(work: Path, name: str) -> None:
    run = run_of(name)
    points = do_run(work, run, threads=1, test_words=200)
    model = load(model_folder(work, name))
    test = TokenCorpus.open(work).part("test", SIZE)
    assert points[0].ppl == part_perplexity(model, test, max_words=200).value
    assert points[0].train_words == pytest.approx(2_000, abs=20)
    assert [point.settings["bits"] for point in points[:4]] == ([32, 8, 8, 8] if name == "kn3" else [32, 8, 4, 4])
    assert points[1].mb < points[0].mb or name == "kn3"
    assert all(point.ppl == pytest.approx(points[0].ppl, rel=0.3) for point in points)
    assert read_points(points_path(work, run)) == points
    assert do_run(work, run, test_words=200) == points  # it is not done again
    assert read_points(points_path(work, run), 100) is None  # on other words it is measured again
    assert read_points(points_path(work, run_of(name, 3_000))) is None  # and a plan of other words has its own models
    assert not (model_folder(work, name) / "checkpoint").exists()


def test_a_trial_is_measured_on_dev_alone(work: Path, command: Callable[..., Any]) -> None:
    (trial,) = make_trials(8_000, SIZE, ("codes-b8k",))
    shown = command(
        *("frontier", "--work", work, "--trials", "--only", "codes-b8k", "--vocab-size", SIZE, "--words", 8_000),
        *("--threads", 1, "--precision", "bfloat16"),
    )
    assert shown.code == 0, shown.err
    points = read_points(points_path(work, trial), 0) or []
    assert [point.ppl for point in points] == [None] * 4
    assert {point.settings["precision"] for point in points} == {"bfloat16"}  # told with each point
    assert f"{points[-1].dev_ppl:.2f}" in shown.out
    with pytest.raises(InputError, match="measured on test yet; run the plan first"):
        write_frontier(points, work / "nothing")
    assert not (work / "nothing").exists()


def test_the_bytes_of_ours_are_those_of_the_packer(work: Path, tmp_path: Path) -> None:
    points = do_run(work, run_of("codes-b8k"), threads=1, test_words=200)
    for bits, point in ((8, points[1]), (4, points[3])):
        folder = model_folder(work, "codes-b8k")
        packed = pack(folder, tmp_path / f"{bits}.few", bits=bits, work=work)
        told = (folder / "README.md").stat().st_size  # the card, and what it was made from
        assert 0 < packed.num_bytes - 1e6 * point.mb < told + 1_000
        assert part_perplexity(load(packed.path), TokenCorpus.open(work).part("test", SIZE), max_words=200).value == (
            pytest.approx(point.ppl, rel=1e-4)
        )


def test_a_packed_file_stands_in_the_report(work: Path, tmp_path: Path, command: Callable[..., Any]) -> None:
    do_run(work, run_of("codes-b8k"), threads=1, test_words=200)
    packed = pack(model_folder(work, "codes-b8k"), tmp_path / "mine.few", bits=8, work=work)
    options = ["frontier", "--work", work, "--report", "--vocab-size", SIZE, "--words", 2_000, "--test-words", 200]
    shown = command(*options, "--results", tmp_path / "results", "--packed", packed.path)
    assert shown.code == 0, shown.err
    (point,) = measure_packed(work, packed.path, 200)
    expected = part_perplexity(load(packed.path), TokenCorpus.open(work).part("test", SIZE), max_words=200).value
    assert point.ppl == pytest.approx(expected, rel=1e-4)
    assert (point.mb, point.ours, point.run) == (packed.num_bytes / 1e6, True, "mine")
    assert point.to_json() in json.loads((tmp_path / "results" / "frontier.json").read_text())
    refused = command(*options, "--packed", model_folder(work, "codes-b8k"))
    assert refused.code == 2
    assert "not a packed file" in refused.err
    packed.path.unlink()
    assert measure_packed(work, packed.path, 200) == [point]  # the record is enough


def test_a_retrained_svd_starts_from_the_dense_run(work: Path) -> None:
    run = run_of("svd-retrained-1")
    with pytest.raises(
        InputError, match="dense-tied-v120-w2k: svd-retrained-1 starts from this model, which is not trained yet"
    ):
        do_run(work, run, threads=1, test_words=200)
    dense = do_run(work, run_of("dense-tied"), threads=1, test_words=200)
    assert {point.method for point in dense} == {"dense", "product quantisation"}  # the SVD's bands need more words
    points = do_run(work, run, threads=1, test_words=200)
    assert {point.method for point in points} == {"block SVD, retrained"}
    assert points[0].ppl == pytest.approx(dense[0].ppl, rel=0.1)
    assert points[0].train_words - dense[0].train_words == pytest.approx(200, abs=20)


@pytest.mark.parametrize("name", ["codes-b6k-tuned-c400", "adaptive-1mb-e128-c400"])
def test_a_last_stretch_with_rounded_weights_goes_on_from_its_run(work: Path, name: str) -> None:
    before = do_run(work, run_of(name), threads=1, test_words=200)
    (point,) = do_run(work, run_of(f"{name}-rounded"), threads=1, test_words=200)
    assert point.settings == {"bits": 4, "encoder_bits": 4}
    assert point.mb <= before[3].mb
    assert point.ppl == pytest.approx(before[0].ppl, rel=0.1)
    assert point.train_words - before[0].train_words == pytest.approx(200, abs=20)
    assert (point.method, point.ours) == (before[0].method, before[0].ours)


def test_runs_in_processes_and_a_failure_stops_no_other(work: Path) -> None:
    runs = [run_of("hashed-1mb"), run_of("svd-retrained-2")]
    model_folder(work, "dense-tied").rename(work / "elsewhere")
    failures = run_frontier(work, runs, threads=1, test_words=200)
    assert list(failures) == [runs[1].name]
    assert len(finished_points(work, runs)) == 4


def test_codes_that_cannot_be_made_are_the_failure_of_their_run(work: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus").symlink_to(work / "corpus")  # and no vectors
    run = run_of("codes-b1k")
    failures = run_frontier(tmp_path, [run], threads=1)
    assert list(failures) == [run.name]
    assert "vectors" in failures[run.name]


def test_the_command_shows_its_plan_and_refuses_unknown_runs(work: Path, command: Callable[..., Any]) -> None:
    shown = command("frontier", "--work", work, "--plan", "--only", "kn3", "--vocab-size", SIZE, "--words", 2_000)
    assert shown.code == 0, shown.err
    assert "1 runs" in shown.out
    refused = command("frontier", "--work", work, "--only", "gpt")
    assert refused.code == 2
    assert "no such run; there are codes-b8k" in refused.err


def point(method: str, mb: float, ppl: float, dev: float | None = None, ours: bool = False, bits: int = 4) -> Point:
    return Point(
        method=method,
        settings={"bits": bits},
        mb=mb,
        ppl=ppl,
        dev_ppl=ppl if dev is None else dev,
        train_words=5,
        ours=ours,
        run=f"{method}-{mb}",
    )


def test_dev_chooses_and_test_is_told() -> None:
    points = [point("a", 0.9, 100, dev=90), point("b", 0.8, 95, dev=91), point("codes", 1, 80, ours=True)]
    points.append(point("b", 1.5, 60))
    best = best_at(points, 1)
    assert (best.rival, best.ours) == (points[0], points[2])
    assert best.lead == pytest.approx(20)
    assert best_at(points, 0.5).lead is None
    assert envelope([point("a", 1, 9), point("a", 2, 10), point("a", 3, 8)]) == [point("a", 1, 9), point("a", 3, 8)]
    assert envelope([point("a", 1, 9), point("a", 1.01, 8), point("a", 2, 7)]) == [
        point("a", 1.01, 8),
        point("a", 2, 7),
    ]


def test_the_report_has_all_points_and_tells_where_a_rival_is_ahead(tmp_path: Path) -> None:
    points = [point("dense", 0.9, 100), point("codes", 0.8, 90, ours=True), point("dense", 1.9, 70)]
    points.append(point("codes", 3.9, 70.2, ours=True))
    readme = tmp_path / "README.md"
    readme.write_text("A\n<!-- frontier -->\nold\n<!-- /frontier -->\nB\n")
    write_frontier(points, tmp_path / "results", readme)
    written = json.loads((tmp_path / "results" / "frontier.json").read_text())
    keys = {"method", "settings", "mb", "ppl", "dev_ppl", "train_words", "ours", "run"}
    assert [each["ppl"] for each in written] == [100, 90, 70, 70.2]
    assert all(set(each) == keys for each in written)
    told = (tmp_path / "results" / "frontier.md").read_text()
    assert "Sparse codes are ahead at 1 MB." in told
    assert "The best rival is ahead at 2 MB." in told
    assert "level at 4 MB and 8 MB: within 0.8 %" in told
    assert "+10.0 %" in told
    assert (tmp_path / "results" / "figures" / "frontier.svg").stat().st_size > 1_000
    assert readme.read_text().startswith("A\n<!-- frontier -->\n![")
    assert "old" not in readme.read_text()
    assert "Not finished" not in told
    assert "Trials" not in told
    tried = [replace(each, ppl=None, dev_ppl=each.mb * 100) for each in points]
    write_frontier(points, tmp_path / "results", readme, trials=tried, missing=["kn3", "dense"])
    for path in (tmp_path / "results" / "frontier.md", readme):
        assert "**Not finished.** Still to run, so that rows may change: kn3, dense.\n\nModels of" in path.read_text()
    assert "| codes-0.8 | codes | 0.8 | 80.00 | 0.800 | 80.00 |" in (tmp_path / "results" / "frontier.md").read_text()
    assert len(json.loads((tmp_path / "results" / "frontier.json").read_text())) == len(points)  # and no trial
    with pytest.raises(InputError, match="run the plan first"):
        write_frontier([], tmp_path)


def test_the_report_sets_the_small_model_beside_the_dense_one_and_shows_plans_of_more_words(tmp_path: Path) -> None:
    points = [point("dense", 80, 80, bits=32), point("codes", 1.3, 78, ours=True), point("codes", 1.5, 70, ours=True)]
    points += [point("codes", 1.2, 81, ours=True), point("dense", 90, 60, bits=32)]
    more = [[replace(each, train_words=20, ppl=(each.ppl or 0) - 10) for each in points], []]
    write_frontier(points, tmp_path, more=more)
    told = (tmp_path / "frontier.md").read_text()
    assert "A dense model in float32 has 80.0 in 80.00 MB, sparse codes 78.0 in 1.30 MB. A dense model" in told
    assert "A dense model in float32 has 60.0 in 90.00 MB, no sparse codes are as good." in told
    assert "Models of 20 words" in told
    assert "has 70.0 in 80.00 MB, sparse codes 68.0 in 1.30 MB." in told
    assert len(json.loads((tmp_path / "frontier.json").read_text())) == 10


def test_the_report_marks_runs_in_bfloat16(tmp_path: Path) -> None:
    points = [point("dense", 2, 80, bits=4), point("codes", 1, 78, ours=True, bits=4)]
    write_frontier(points, tmp_path)
    assert "†" not in (tmp_path / "frontier.md").read_text()
    write_frontier([points[0], replace(points[1], settings={"bits": 4, "precision": "bfloat16"})], tmp_path)
    told = (tmp_path / "frontier.md").read_text()
    assert "| dense-2 | dense | 4 bits |" in told
    assert "| codes-1 † | codes | 4 bits |" in told
    assert "† with an encoder in bfloat16" in told
