"""Run the plan of the frontier: train each model that is not there, and record its points.

Writes `frontier/` of a work folder: `models/NAME`, `points/NAME.json`, written when a run is finished, and `logs/NAME.log`.
A run with points is done; one without continues from its checkpoint. Names tell vocabulary and words, so plans of several
sizes can share a folder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fewwords.cores import available_cores
from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.frontier.block_svd import block_svd
from fewwords.frontier.plan import OURS, Run
from fewwords.frontier.points import TEST_WORDS, Measure, Point, points_of
from fewwords.models.load import load
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.model import NeuralModel
from fewwords.models.packed.file import load_packed
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.models.shipped import find_model
from fewwords.paper.cells import codes_file, train_cell
from fewwords.paper.tasks import Task, TaskRunner
from fewwords.store.files import read_json, write_json
from fewwords.store.locks import lock_folder
from fewwords.store.typed import describe
from fewwords.training.checkpoint import remove_checkpoints
from fewwords.training.process import prepare_process

FORMAT = "fewwords frontier 1"


def frontier_folder(work: Path) -> Path:
    """Where everything of the frontier is."""
    return work / "frontier"


def _model_folder(work: Path, name: str) -> Path:
    return frontier_folder(work) / "models" / name


def points_path(work: Path, run: Run) -> Path:
    """The points of a finished run."""
    return frontier_folder(work) / "points" / f"{run.name}.json"


def read_points(path: Path, test_words: int | None = None) -> list[Point] | None:
    """The points in a file; None if it is not there, or measured on other than `test_words`, where that is given.

    Raises InputError for a damaged one.
    """
    if not path.is_file():
        return None
    found = describe(read_json(path), path, _Points, FORMAT, "the points of a run", "remove it to run it again")
    return list(found.points) if test_words in (None, found.test_words) else None


def run_frontier(
    work: Path, runs: Sequence[Run], *, jobs: int = 1, threads: int | None = None, test_words: int = TEST_WORDS
) -> dict[str, str]:
    """Do all runs without points on `test_words`, `jobs` at a time; returns the errors by name of run.

    With no test words, for trials, points have the perplexity of dev alone.

    As always with spawned processes, a script must call this under `if __name__ == "__main__"`.
    """
    if jobs < 1:
        raise InputError(f"`jobs` {jobs}: choose 1 or more")
    if test_words < 0:
        raise InputError(f"`test_words` {test_words}: choose 0 or more")
    TokenCorpus.open(work)
    folder = frontier_folder(work)
    share = threads or max(1, available_cores() // jobs)
    with lock_folder(folder, "frontier"):
        tasks = [
            Task(
                run.name,
                partial(do_run, work, run, threads=share, test_words=test_words),
                partial(codes_file, work, run.cell, run.base_size),  # no two runs make the same codes
            )
            for run in runs
            if read_points(points_path(work, run), test_words) is None
        ]
        return TaskRunner("frontier", tasks, folder / "logs", jobs, share).run()


def do_run(work: Path, run: Run, *, threads: int | None = None, test_words: int = TEST_WORDS) -> list[Point]:
    """Train the model of a run unless it is there, measure its points and record them."""
    known = read_points(points_path(work, run), test_words)
    if known is not None:
        return known
    prepare_process(threads)
    folder = _model_folder(work, run.name)
    if not (folder / "model.json").exists():
        start = None if run.start is None else _start_folder(work, run)
        train_cell(work, run.cell, folder, base_size=run.base_size, threads=threads, start=start)
    training = {name: value for name, value in run.cell.training_changes.items() if name == "precision"}
    measure = Measure(work, run.method, run.ours, run.name, test_words, training=training)
    points = points_of(folder, measure, after_training=run.after_training, is_rounded=run.is_rounded)
    _write_points(points_path(work, run), points, test_words)
    remove_checkpoints(folder)
    return points


def measure_packed(work: Path, model: str | Path, test_words: int = TEST_WORDS) -> list[Point]:
    """The point of a packed file, or of "english"; measured unless a file of this name and size is recorded.

    The record alone is enough where the file is gone.
    """
    file = find_model(model)
    path = frontier_folder(work) / "points" / f"{file.name}.json"
    known = read_points(path, test_words)
    if known is not None and not file.exists():
        return known
    if not file.is_file():
        raise InputError(f"{file}: not a packed file; make one with fewwords pack")
    num_bytes = file.stat().st_size
    if known is not None and [point.mb for point in known] == [num_bytes / 1e6]:
        return known
    packed = load_packed(file)
    is_coded = packed.codes is not None
    measure = Measure(work, OURS if is_coded else "dense", is_coded, file.stem, test_words)
    points = [measure.point(in_pytorch(packed), num_bytes, bits=packed.facts["bits"])]
    _write_points(path, points, test_words)
    return points


def _write_points(path: Path, points: Sequence[Point], test_words: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"format": FORMAT, "test_words": test_words, "points": [point.to_json() for point in points]})


def _start_folder(work: Path, run: Run) -> Path:
    """The folder of the model that a run starts from: a trained one, or its SVD, which is made if it is not there."""
    trained, folder = (_model_folder(work, name) for name in (str(run.start), f"{run.name}-start"))
    if not (trained / "model.json").exists():
        raise InputError(f"{trained}: {run.title} starts from this model, which is not trained yet; run it first")
    if run.is_rounded:
        return trained
    if not (folder / "model.json").exists():
        model, changes = load(trained), run.cell.model_changes
        assert isinstance(model, NeuralModel)
        save_neural(folder, block_svd(model, changes["band_words"], changes["band_ranks"]), "")
    return folder


@dataclass(frozen=True)
class _Points:
    """A file of points, measured on the first words of test."""

    test_words: int
    points: tuple[Point, ...]


def finished_points(work: Path, runs: Sequence[Run]) -> list[Point]:
    """The points of all finished runs, in the order of the plan."""
    return [point for run in runs for point in read_points(points_path(work, run)) or []]
