"""Cells and the runner, on a corpus of a few hundred words."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.errors import InputError
from fewwords.evaluation.evaluate import evaluate
from fewwords.evaluation.perplexity import part_perplexity
from fewwords.models.load import load
from fewwords.paper import cells, make_plan, plan_status, run_plan, spelling_cache
from fewwords.paper.cells import cell_folder, run_cell
from fewwords.paper.record import Record, read_record, record_path
from fewwords.paper.tasks import Task, TaskRunner
from fewwords.vectors.word_vectors import WordVectors

BASE_SIZE = 12
MODELS = ["kn3", "lstm-z", "lstm-z-w"]


@pytest.fixture(scope="module")
def corpus_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    chance = random.Random(5)
    # many rare words, or there is nothing to estimate discounts from
    lines = (" ".join(f"w{int(900 * chance.random() ** 4)}" for _ in range(6)) for _ in range(900))
    (folder / "text.txt").write_text("\n".join(lines))
    settings = Settings(tokenized=True)
    prepare([str(folder / "text.txt")], folder / "work", settings=settings, dev_words=300, test_words=300)
    vocabulary = TokenCorpus.open(folder / "work").vocabulary()
    values = np.random.default_rng(1).normal(size=(len(vocabulary), 200)).astype(np.float32)
    values[:3] = 0
    WordVectors(values, values.any(axis=1), vocabulary.fingerprint).save(folder / "work")
    return folder / "work"


@pytest.fixture
def work(corpus_folder: Path, tmp_path: Path) -> Path:
    """A work folder of its own on the same corpus and vectors."""
    for name in ("corpus", "vectors"):
        (tmp_path / name).symlink_to(corpus_folder / name)
    return tmp_path


def small_plan(**changes):
    arguments = {"models": MODELS, "more_words": (), "controls": False, "num_seeds": 1, **changes}
    return make_plan(2_000, [30], arguments.pop("models"), **arguments)


def test_the_plan_runs_and_is_never_run_again(work, capfd):
    plan = small_plan()
    assert run_plan(work, plan, base_size=BASE_SIZE, threads=1) == {}
    records = {cell.name: read_record(work, cell) for cell in plan}
    logs = {path.name: path.read_text() for path in (work / "paper" / "logs").iterdir()}
    assert set(logs) == {f"{cell.name}.log" for cell in plan}
    assert "training lstm-z" in logs["lstm-z-v30-w2k.log"]
    assert "training lstm-z:" not in capfd.readouterr().err  # all that a cell says is in its log
    before = {path: path.stat().st_mtime_ns for path in (work / "paper").rglob("*") if path.is_file()}
    assert run_plan(work, plan, base_size=BASE_SIZE, threads=1) == {}
    assert before == {path: path.stat().st_mtime_ns for path in (work / "paper").rglob("*") if path.is_file()}
    status = plan_status(work, plan, 5_000)
    assert (status.left, status.seconds_left(1)) == ([], 0)

    for cell in plan:
        record = records[cell.name]
        assert isinstance(record, Record)
        saved = load(cell_folder(work, cell))
        test = TokenCorpus.open(work).part("test", 30)
        assert record.ppl == pytest.approx(part_perplexity(saved, test).value, rel=1e-6)
        assert record.train_words <= 2_000 < record.train_words + 7
        assert record.test_words == test.num_words
        assert not (cell_folder(work, cell) / "checkpoint").exists()
    coded, dense = records["lstm-z-w-v30-w2k"], records["lstm-z-v30-w2k"]
    assert coded.memory.to_json() == coded.formula_memory.to_json()
    assert coded.memory.total == coded.numbers
    assert coded.reduction_percent == pytest.approx(100 * (1 - coded.memory.paper_total / dense.memory.paper_total))
    assert [line.words for line in dense.curve] == sorted(line.words for line in dense.curve)
    last = dense.curve[-1]
    assert None not in (last.dev_loss, last.log_z_mean, last.gap_mean)
    assert (dense.learning_rate, dense.trials) == (0.008, ())
    assert records["kn3-v30-w2k"].memory is None


def test_a_cell_that_diverges_is_recorded(work):
    (cell,) = small_plan(models=["lstm-z"])
    wild = {"learning_rate": 50.0, "clip": 0.0, "divergence": 0.0, "schedule": "constant"}
    assert run_plan(work, [replace(cell, training_changes=wild)], base_size=BASE_SIZE, threads=1) == {}
    record = read_record(work, cell)
    assert record is not None
    assert record.has_diverged
    json.loads(record_path(work, cell).read_text(), parse_constant=pytest.fail)
    assert "training lstm-z diverged" in (work / "paper" / "logs" / f"{cell.name}.log").read_text()


def test_a_cell_of_the_papers_recipe_chooses_its_rate(work):
    plan = make_plan(600, [30], ["lstm-z"], more_words=(), num_seeds=1)
    (cell,) = [cell for cell in plan if cell.control is not None and cell.control.table == "recipe"]
    record = run_cell(work, cell, base_size=BASE_SIZE, threads=1)
    assert len(record.trials) == 5
    assert record.learning_rate in [trial.learning_rate for trial in record.trials]
    assert "--batch-words 256" in record.command
    assert "--tune-lr" in record.command


def test_the_command_of_a_record_trains_the_same_model(work, command):
    (cell,) = small_plan(models=["lstm-z-w"])
    cell = cell.at("bfloat16")
    record = run_cell(work, cell, base_size=BASE_SIZE, threads=1)
    assert "--untied" in record.command
    assert "--precision bfloat16" in record.command
    words = record.command.replace("WORK", str(work)).split()[1:]
    assert command(*words, "--threads", 1, "--output", work / "again").code == 0
    theirs, ours = load(cell_folder(work, cell)), load(work / "again")
    for name, tensor in theirs.network.state_dict().items():
        assert tensor.equal(ours.network.state_dict()[name]), name


def test_an_interrupted_cell_goes_on(work, monkeypatch):
    (cell,) = small_plan(models=["lstm-z"])

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cells, "evaluate", stop)
        with pytest.raises(KeyboardInterrupt):
            run_cell(work, cell, base_size=BASE_SIZE, threads=1)
    assert read_record(work, cell) is None
    monkeypatch.setattr(cells, "train_neural", lambda *_, **__: pytest.fail("the training was done"))
    assert run_cell(work, cell, base_size=BASE_SIZE, threads=1).name == cell.name


def test_a_failing_cell_stops_no_other(work):
    plan = small_plan(models=["kn3", "lstm-z"])
    bad = [
        replace(plan[-1], name="bad", training_changes={"learning_rate": -1.0}),
        replace(plan[-1], name="worse", training_changes={"no_such_setting": 1}),
    ]
    failures = run_plan(work, [*bad, *plan], base_size=BASE_SIZE, jobs=2, threads=1)
    assert set(failures) == {"bad", "worse"}
    assert failures["bad"] == "`learning_rate` -1.0: give a number greater than 0"
    log = work / "paper" / "logs" / "worse.log"
    assert failures["worse"].startswith("internal error (TypeError: ")
    assert failures["worse"].endswith(f"see {log}")
    assert "Traceback" in log.read_text()
    assert all(read_record(work, cell) for cell in plan)


def test_a_cell_whose_process_is_killed_is_a_failure(work):
    (cell,) = small_plan(models=["lstm-z"])
    long = replace(cell, training_changes={"epochs": 10_000.0})
    task = Task(cell.name, partial(run_cell, work, long, base_size=BASE_SIZE, threads=1))
    runner = TaskRunner("paper", [task], work / "paper" / "logs", 1, 1)
    runner._start(runner.waiting.pop())
    os.kill(runner.running[0].process.pid, signal.SIGKILL)
    assert runner.run() == {
        cell.name: f"the process ended with exit code -9; see {work / 'paper' / 'logs' / cell.name}.log"
    }


def write_numpy_threads(path: Path) -> None:
    path.write_text(os.environ["OPENBLAS_NUM_THREADS"])


def test_tasks_have_their_threads_in_numpy_too(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    task = Task("task", partial(write_numpy_threads, tmp_path / "threads"))
    assert TaskRunner("paper", [task], tmp_path, 1, 3).run() == {}
    assert (tmp_path / "threads").read_text() == "3"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "7"


def test_sigterm_is_passed_on_and_cells_write_their_checkpoints(work):
    (cell,) = small_plan(models=["lstm-z"])
    script = """if True:
        import sys
        from dataclasses import replace
        from pathlib import Path
        from fewwords.paper import make_plan, run_plan
        if __name__ == "__main__":
            (cell,) = make_plan(2_000, [30], ["lstm-z"], more_words=(), controls=False, num_seeds=1)
            cell = replace(cell, training_changes={"epochs": float(sys.argv[2])})
            run_plan(Path(sys.argv[1]), [cell], base_size=12, jobs=2, threads=1)
    """
    path = work / "script.py"
    path.write_text(script)
    process = subprocess.Popen([sys.executable, path, work, "10000"], stderr=subprocess.PIPE, text=True)
    checkpoint = cell_folder(work, cell) / "checkpoint"
    deadline = time.monotonic() + 60
    while not checkpoint.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)
    process.terminate()
    _, told = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in told
    log = (work / "paper" / "logs" / f"{cell.name}.log").read_text()
    assert "stopped after" in log
    assert checkpoint.exists()
    assert read_record(work, cell) is None
    assert not list((work / "paper").glob(".*.lock"))


def test_cells_side_by_side_give_the_records_of_cells_one_by_one(work, corpus_folder, tmp_path_factory, command):
    options = ["--words", 2_000, "--vocab-sizes", 30, "--models", "kn3,lstm-z", "--base-size", BASE_SIZE]
    options += ["--more-words", 0, "--no-controls", "--seeds", 1, "--threads", 1]
    other = tmp_path_factory.mktemp("side")
    for name in ("corpus", "vectors"):
        (other / name).symlink_to(corpus_folder / name)
    assert command("paper", "--work", work, *options).code == 0
    done = command("paper", "--work", other, *options, "--jobs", 2)
    assert done.code == 0, done.err
    names = sorted(path.name for path in (work / "paper" / "cells").iterdir())
    assert names == sorted(path.name for path in (other / "paper" / "cells").iterdir())
    for name in names:
        one, two = (json.loads((folder / "paper" / "cells" / name).read_text()) for folder in (work, other))
        assert one["ppl"] == two["ppl"], name  # one thread each: the same bits
    assert "KN3" in done.out
    spelled = json.loads((work / "report" / "spelling.json").read_text())
    assert set(spelled["sizes"]) == {"30"}
    shown = command("paper", "--work", work, *options, "--plan")
    assert "2 cells, 2 done, about 0:00 left" in shown.out
    assert (work / "report" / "index.html").is_file()


def test_codes_of_other_sizes_go_to_files_of_their_own(work):
    plan = [cell for cell in make_plan(600, [30], ["lstm-z-w"], more_words=()) if cell.max_nonzeros == 4]
    path = cells.codes_file(work, plan[0], BASE_SIZE)
    assert path is not None
    assert path.name == "v30-b12-n4.safetensors"


def test_bad_input_is_told_in_a_line(work, tmp_path, command):
    for arguments, told in (
        (["--vocab-sizes", "a,b"], "--vocab-sizes a,b"),
        (["--jobs", "0"], "--jobs 0"),
        (["--models", "lstm-q"], "lstm-q"),
    ):
        failed = command("paper", "--work", work, "--words", 100, *arguments)
        assert failed.code == 2
        assert told in failed.errors[0]
    failed = command("paper", "--work", tmp_path / "nothing")
    assert (failed.code, len(failed.errors)) == (2, 1)


def test_a_damaged_record_is_refused_with_its_name(work, command):
    (cell,) = small_plan(models=["kn3"])
    run_cell(work, cell, base_size=BASE_SIZE)
    path = record_path(work, cell)
    path.write_text('{"format": "something else"}')
    with pytest.raises(InputError, match=f"{cell.name}.json: not the record of a cell .*remove it"):
        read_record(work, cell)
    path.unlink()
    assert read_record(work, cell) is None
    assert evaluate(cell_folder(work, cell), work=work).variant == "kn3"


def test_spelling_is_worked_out_once(work, monkeypatch):
    corpus = TokenCorpus.open(work)
    path = work / "report" / "spelling.json"
    first = spelling_cache.spelled_sizes(corpus, [30, 40], path)
    monkeypatch.setattr(spelling_cache, "spell_part", lambda *_: pytest.fail("it was known"))
    assert spelling_cache.spelled_sizes(corpus, [40, 30], path) == first
    assert set(first) == {30, 40}
    assert spelling_cache.spelled_sizes(corpus, [corpus.num_types], path) == {}
