"""Two processes that train one model: a step of theirs is a step of one process on both batches.

Run as a program, this file is one of the two processes: WORK OUTPUT SETTINGS, with its rank in the environment.
"""

import itertools
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from fewwords.models.neural.variants import settings_of
from fewwords.training import run as run_file
from fewwords.training.checkpoint import read_checkpoint
from fewwords.training.distributed import Group, joined_group
from fewwords.training.gradients import clip_gradients, collect_gradients
from fewwords.training.loop import train_neural as train
from fewwords.training.objective import make_objective
from fewwords.training.settings import TrainingSettings
from fewwords.training.start import gather_materials, start_model
from fewwords.training.trainer import Trainer

MODEL = settings_of("lstm-z-w", embedding_size=16, hidden_size=16, tune_codes=True)
SIZES = {"vocabulary_size": 23, "base_size": 12}


class LoneRank(Group):
    """The seeds of one of two processes, without the other."""

    def __init__(self, rank: int) -> None:
        super().__init__(rank)


def make_trainer(work, settings: TrainingSettings, group: Group) -> Trainer:
    materials = gather_materials(work, MODEL, settings, **SIZES)
    model = start_model(materials, MODEL, settings)
    objective = make_objective(settings, MODEL, materials.vocabulary)
    part = materials.corpus.part("train", 23)
    return Trainer(model, objective, part, settings, settings.budget(part.num_words), group)


def test_two_processes_equal_one(work, tmp_path, quick):
    # batches of 900 sentences and of the rest, so that their weights differ
    settings = quick(words=None, epochs=4, batch_words=4_500, eval_every=8_000, clip=0.01)
    run_both(work, tmp_path, settings)
    first, second = (make_trainer(work, settings, LoneRank(rank)) for rank in range(2))
    batches = list(itertools.islice(first._batches, 2))
    counts = [first._num_predictions(batch) for batch in batches]
    assert counts[0] != counts[1]
    second.model = first.model  # one model, the noise of two processes
    loss = (counts[0] * first._loss(batches[0]) + counts[1] * second._loss(batches[1])) / sum(counts)
    loss.backward()
    gradients = collect_gradients(first.optimiser.parameters.values())
    assert clip_gradients(gradients, settings.clip) > settings.clip
    first.optimiser.step(gradients, first.learning_rate)
    first.model.project_codes()
    ours = dict(first.model.named_parameters())
    for rank in range(2):
        theirs = load_file(tmp_path / f"step.{rank}.safetensors")
        assert theirs.keys() == ours.keys()
        for name, tensor in theirs.items():
            torch.testing.assert_close(tensor, ours[name].detach(), rtol=1e-4, atol=2e-6, msg=name)
    # whole runs: both processes know the same result, and a resumed run is the same to the bit
    told = [json.loads((tmp_path / f"summary.{rank}.json").read_text()) for rank in range(2)]
    assert told[0] == told[1]
    assert told[0][0] > 2 * json.loads((tmp_path / "stopped.1.json").read_text())
    whole, parts = (read_checkpoint(tmp_path / name / "checkpoint") for name in ("whole", "parts"))
    for kind in ("weights", "optimiser", "random"):
        for name, tensor in getattr(whole, kind).items():
            assert torch.equal(tensor, getattr(parts, kind)[name]), name
    assert sorted(whole.random) == ["dropout.0", "dropout.1", "noise.0", "noise.1"]
    assert not torch.equal(whole.random["noise.0"], whole.random["noise.1"])


def run_both(work, output, settings):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    shared = {"MASTER_ADDR": "localhost", "MASTER_PORT": port, "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, str(work), str(output), json.dumps(settings.to_json())]
    workers = [subprocess.Popen(command, env={**os.environ, **shared, "RANK": str(rank)}) for rank in range(2)]
    try:
        assert [worker.wait(timeout=100) for worker in workers] == [0, 0]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


class Asked(run_file.Interruption):
    """An interruption that is there from the first step."""

    def __enter__(self) -> "Asked":
        self.asked = True
        return self


def be_one_of_two(work: str, output: Path, settings: TrainingSettings) -> None:
    """Save the parameters after one step, then train to the end, once at a stretch and once in two parts."""
    with joined_group(torch.device("cpu")) as group:
        trainer = make_trainer(work, settings, group)
        trainer.step()
        weights = {name: parameter.detach() for name, parameter in trainer.model.named_parameters()}
        save_file(weights, output / f"step.{group.rank}.safetensors")
        summary = train(work, MODEL, settings, output=output / "whole", **SIZES)
        told = [summary.words, summary.dev_perplexity, summary.gap_mean]
        (output / f"summary.{group.rank}.json").write_text(json.dumps(told))
        real = run_file.Interruption
        run_file.Interruption = Asked if group.rank == 1 else real  # one is asked to stop, and both must
        try:
            train(work, MODEL, settings, output=output / "parts", **SIZES)
            raise AssertionError("was not stopped")
        except KeyboardInterrupt:
            run_file.Interruption = real
        stopped = read_checkpoint(output / "parts" / "checkpoint").state["run"]["words"]
        (output / f"stopped.{group.rank}.json").write_text(json.dumps(stopped))
        group.wait()  # before the first process writes the next one
        train(work, MODEL, settings, output=output / "parts", resume=True, **SIZES)


if __name__ == "__main__":
    be_one_of_two(sys.argv[1], Path(sys.argv[2]), TrainingSettings(**json.loads(sys.argv[3])))
