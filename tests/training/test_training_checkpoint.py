"""Checkpoints are whole at every moment, and nothing but what was written is read; the record is cut to fit."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from fewwords.errors import InputError
from fewwords.training import checkpoint as checkpoints
from fewwords.training.checkpoint import (
    Checkpoint,
    find_checkpoint,
    read_best,
    read_checkpoint,
    recover_checkpoint,
    remove_checkpoints,
    write_checkpoint,
)
from fewwords.training.record import append_line, cut_after, read_lines


def make(value: float) -> Checkpoint:
    weights = {"w": torch.full((3,), value)}
    return Checkpoint(
        weights, {"w.step": torch.tensor(value)}, {"noise.0": torch.zeros(4, dtype=torch.uint8)}, {"n": value}
    )


def test_round_trip_and_best(tmp_path):
    assert find_checkpoint(tmp_path) is None
    write_checkpoint(tmp_path, make(1.0), is_best=False)
    with pytest.raises(InputError, match=r"best\.safetensors"):
        read_best(tmp_path)
    write_checkpoint(tmp_path, make(2.0), is_best=True)
    write_checkpoint(tmp_path, make(3.0), is_best=False)
    found = find_checkpoint(tmp_path)
    assert found == tmp_path / "checkpoint"
    read = read_checkpoint(found)
    assert (read.state, read.weights["w"].tolist(), read.optimiser["w.step"].item()) == ({"n": 3.0}, [3.0] * 3, 3.0)
    assert read_best(tmp_path)["w"].tolist() == [2.0] * 3
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


def test_a_full_disk_names_the_checkpoint(tmp_path, monkeypatch):
    """safetensors tells of a full disk by an error of its own."""
    write_checkpoint(tmp_path, make(1.0), is_best=True)

    def fail(*_):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(checkpoints, "save_file", fail)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_checkpoint(tmp_path, make(2.0), is_best=True)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "checkpoint"))
    assert read_checkpoint(tmp_path / "checkpoint").state["n"] == 1.0
    remove_checkpoints(tmp_path)
    assert list(tmp_path.iterdir()) == []


class KilledError(BaseException):
    """Stands for SIGKILL: nothing after it happens."""


def test_a_kill_at_any_moment_leaves_a_whole_checkpoint(tmp_path, monkeypatch):
    """Stop the writer before each of its steps that change the disk, and go on from what is left."""
    moments = 0

    def count(real):
        def counted(*arguments, **options):
            nonlocal countdown
            countdown -= 1
            if countdown < 0:
                raise KilledError
            return real(*arguments, **options)

        return counted

    for patched, name in ((shutil, "rmtree"), (os, "link"), (checkpoints, "save_file"), (checkpoints, "write_json")):
        monkeypatch.setattr(patched, name, count(getattr(patched, name)))
    for name in ("rename", "mkdir"):
        monkeypatch.setattr(Path, name, count(getattr(Path, name)))

    countdown = 1000
    while True:
        folder = tmp_path / str(moments)
        countdown = 1000
        folder.mkdir()
        write_checkpoint(folder, make(1.0), is_best=True)
        countdown = moments
        try:
            write_checkpoint(folder, make(2.0), is_best=False)
        except KilledError:
            countdown = 1000
            found = find_checkpoint(folder)
            assert found is not None
            assert read_checkpoint(found).state["n"] in (1.0, 2.0)
            recover_checkpoint(folder)
            assert read_checkpoint(folder / "checkpoint").state["n"] in (1.0, 2.0)
            assert read_best(folder)["w"].tolist() == [1.0] * 3
            write_checkpoint(folder, make(3.0), is_best=False)
            assert [path.name for path in folder.iterdir()] == ["checkpoint"]
            moments += 1
            continue
        break
    assert moments >= 8


@pytest.mark.parametrize(
    "name", ["weights.safetensors", "optimiser.safetensors", "random.safetensors", "best.safetensors"]
)
def test_changed_or_missing_files_are_refused(tmp_path, name):
    write_checkpoint(tmp_path, make(1.0), is_best=True)
    path = tmp_path / "checkpoint" / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.unlink()
    with pytest.raises(InputError, match=f"{name}: missing"):
        read_checkpoint(tmp_path / "checkpoint")
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"{name}: not the file"):
        read_checkpoint(tmp_path / "checkpoint")


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "fewwords checkpoint 1", "state": {}}', '{"format": "x"}'])
def test_a_damaged_state_is_refused(tmp_path, text):
    write_checkpoint(tmp_path, make(1.0), is_best=True)
    (tmp_path / "checkpoint" / "state.json").write_text(text)
    with pytest.raises(InputError, match=r"state\.json"):
        read_checkpoint(tmp_path / "checkpoint")


def test_record_is_cut_to_the_checkpoint(tmp_path):
    path = tmp_path / "training.jsonl"
    for words in (10, 20, 30):
        append_line(path, {"words": words, "loss": 0.1})
    with path.open("ab") as file:
        file.write(json.dumps({"words": 15}).encode()[:-1])  # torn by a kill
    cut_after(path, 20)
    assert [line["words"] for line in read_lines(path)] == [10, 20]
    append_line(path, {"words": 30})
    assert [line["words"] for line in read_lines(path)] == [10, 20, 30]


def test_lines_without_a_number_of_words_are_cut(tmp_path):
    path = tmp_path / "training.jsonl"
    for words in (100, "x", [], None, 300):
        append_line(path, {"words": words})
    cut_after(path, 200)
    assert read_lines(path) == [{"words": 100}]


def test_a_pipe_is_no_record_and_no_weights(tmp_path):
    write_checkpoint(tmp_path, make(1.0), is_best=True)
    best = tmp_path / "checkpoint" / "best.safetensors"
    best.unlink()
    for path in (best, tmp_path / "training.jsonl"):
        os.mkfifo(path)
    with pytest.raises(InputError, match=r"best\.safetensors: not a file"):
        read_best(tmp_path)
    with pytest.raises(InputError, match=r"training\.jsonl: not a file"):
        cut_after(tmp_path / "training.jsonl", 200)
