"""Whole runs: they learn, stop, resume to the same bits, recover, and touch nothing that grows with the vocabulary."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from fewwords.codes import random_codes
from fewwords.corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.perplexity import part_perplexity
from fewwords.models.load import load
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.variants import settings_of
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.packing.pack import pack
from fewwords.progress import listening
from fewwords.training import run as run_file
from fewwords.training.checkpoint import find_checkpoint, read_checkpoint
from fewwords.training.held_out import HeldOut
from fewwords.training.loop import train_neural as train
from fewwords.training.objective import make_objective
from fewwords.training.record import read_lines
from fewwords.training.trainer import Trainer
from fewwords.vocabulary import Vocabulary

SMALL = {"embedding_size": 16, "hidden_size": 16}
TABLES = {
    "low-rank": {"embedding": "low-rank", "output": "low-rank", "rank": 3, "tied": True},
    "hashed": {"embedding": "hashed", "output": "hashed", "num_buckets": 15},
    "quotient": {"embedding": "quotient", "output": "quotient", "num_buckets": 15, "tied": True},
    "adaptive": {
        "embedding": "adaptive",
        "output": "adaptive",
        "band_words": (15,),
        "band_ranks": (4, 2),
        "tied": True,
    },
}
TIMES = ("seconds", "words_per_second")


@pytest.fixture
def run(work, tmp_path, quick):
    """Train into a folder of this test, by its name."""

    def do(name, variant="lstm-z-w", model=None, resume=False, force=False, tune_lr=False, **changes):
        return train(
            work,
            settings_of(variant, **{**SMALL, **(model or {})}),
            quick(**changes),
            vocabulary_size=23,
            base_size=12,
            output=tmp_path / name,
            resume=resume,
            force=force,
            tune_lr=tune_lr,
        )

    return do


def record(folder):
    lines = read_lines(folder / "training.jsonl")
    return [{name: value for name, value in line.items() if name not in TIMES} for line in lines]


def assert_same_run(folder, other):
    """The same weights, moments, random states, numbers and model, times apart."""
    ours, theirs = (read_checkpoint(find_checkpoint(path)) for path in (folder, other))
    for kind in ("weights", "optimiser", "random"):
        mine, yours = getattr(ours, kind), getattr(theirs, kind)
        assert mine.keys() == yours.keys()
        for name in mine:
            assert torch.equal(mine[name], yours[name]), f"{kind} {name}"
    runs = [{k: v for k, v in c.state["run"].items() if "seconds" not in k} for c in (ours, theirs)]
    assert runs[0] == runs[1]
    assert record(folder) == record(other)
    assert (folder / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()


@pytest.mark.parametrize("table", TABLES)
def test_a_model_with_a_word_table_learns(run, table):
    """Words that share numbers cannot be told apart quite; the text's perplexity is 2, and that of single words 16."""
    assert run("model", "lstm-z", TABLES[table], words=None, epochs=3, learning_rate=0.02).dev_perplexity < 6


@pytest.mark.parametrize(
    ("variant", "changes", "bound"),
    [
        ("lstm-z", {}, 2.1),
        ("lstm-z", {"precision": "bfloat16"}, 2.1),
        ("lstm-s", {"loss": "softmax", "num_noise": None, "epochs": 3}, 2.1),
        ("lbl5", {}, 2.1),
        # random codes: the scores of eight words are means of other words' scores, and cannot be just right
        ("lstm-z-w", {}, 3.0),
    ],
)
def test_a_model_learns_the_entropy_of_its_text(run, work, variant, changes, bound):
    """The text's perplexity is 2 by construction (see conftest); nothing can do better on new sentences of it."""
    defaults = {"words": None, "epochs": 6, "batch_words": 60, "learning_rate": 0.02, "eval_every": 20_000}
    summary = run("model", variant, **{**defaults, **changes})
    assert 1.99 < summary.dev_perplexity < bound
    assert abs(summary.gap_mean) < 0.3 or variant == "lstm-s"
    saved = load(summary.folder)
    assert saved.made_from["result"]["dev_perplexity"] == summary.dev_perplexity
    assert part_perplexity(saved, TokenCorpus.open(work).part("dev", 23)).value == summary.dev_perplexity
    assert "perplexity" in (summary.folder / "README.md").read_text()


def test_the_same_seed_gives_the_same_run_and_another_does_not(run, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(name, seed=seed, words=1500, model={"dropout": 0.2})
    assert_same_run(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a/model.safetensors").read_bytes() != (tmp_path / "c/model.safetensors").read_bytes()


@pytest.mark.parametrize("encoder", [{}, {"cell_size": 24}, {"encoder": "gru"}])
def test_the_encoder_of_a_bfloat16_run_has_gradients_like_those_of_float32(work, quick, encoder):
    """Numbers of 8 bits before the exponent: the gradients of one batch differ by some thousandths of their length."""
    corpus = TokenCorpus.open(work)
    gradients = {}
    for precision in ("float32", "bfloat16"):
        torch.manual_seed(1)
        model = LanguageModel(settings_of("lstm-z", **SMALL, **encoder), 23)
        settings = quick(precision=precision)
        objective = make_objective(settings, model.settings, corpus.vocabulary(23))
        trainer = Trainer(model, objective, corpus.part("train", 23), settings, budget=6_000)
        trainer._loss(next(trainer._batches)).backward()
        weights = dict(model.encoder.named_parameters())
        assert {weight.dtype for weight in weights.values()} == {torch.float32}
        gradients[precision] = torch.cat([weight.grad.flatten() for weight in weights.values()])
    difference = (gradients["bfloat16"] - gradients["float32"]).norm() / gradients["float32"].norm()
    assert 1e-4 < difference < 0.02


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize(("capability", "is_told"), [("AVX2", True), ("AVX512", False)])
def test_a_processor_without_bfloat16_is_told(run, monkeypatch, capsys, capability, is_told):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    run("model", words=300, precision="bfloat16")
    assert ("this processor has no instructions for it" in capsys.readouterr().err) is is_told
    run("other", words=300)
    assert "bfloat16" not in capsys.readouterr().err


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("variant", ["lstm-z", "lstm-z-w", "lbl5", "lbl5-w", *TABLES])
@pytest.mark.parametrize("stop_at", [7, 31])
def test_an_interrupted_run_resumes_to_the_same_bits(run, tmp_path, monkeypatch, capsys, variant, stop_at):
    model = {"dropout": 0.2, "tune_codes": variant.endswith("-w"), "tied": True, **TABLES.get(variant, {})}
    variant = "lstm-z" if variant in TABLES else variant
    run("whole", variant, model)
    real, calls = Trainer.step, itertools.count(1)

    def step(self, *arguments):
        if next(calls) == stop_at:
            os.kill(os.getpid(), signal.SIGINT)
        return real(self, *arguments)

    monkeypatch.setattr(Trainer, "step", step)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run("parts", variant, model)
    assert signal.getsignal(signal.SIGINT) is before
    assert "at a checkpoint" in capsys.readouterr().err
    assert read_checkpoint(tmp_path / "parts/checkpoint").state["run"]["steps"] == stop_at
    assert not (tmp_path / "parts/model.json").exists()
    with pytest.raises(InputError, match="`resume`"):
        run("parts", variant, model)
    with (tmp_path / "parts/training.jsonl").open("a") as file:
        file.write(
            '{"words": 5999}\n{"wor'
        )  # as a kill between a line and its checkpoint, and within a line, leaves it
    state = json.loads((tmp_path / "parts/checkpoint/state.json").read_text())
    state["state"]["run"]["evaluated_words"] = 7  # as older versions wrote it
    (tmp_path / "parts/checkpoint/state.json").write_text(json.dumps(state))
    run("parts", variant, model, resume=True)
    assert_same_run(tmp_path / "whole", tmp_path / "parts")


SCRIPT = """
import json, pathlib, sys
from fewwords.models.neural.variants import settings_of
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.packing.pack import pack
from fewwords.training.settings import TrainingSettings
from fewwords.training.loop import train_neural as train
work, output, model, settings = sys.argv[1:]
train(work, settings_of("lstm-z", **json.loads(model)), TrainingSettings(**json.loads(settings)),
      vocabulary_size=23, output=pathlib.Path(output), resume=True)
"""


def test_a_killed_run_resumes_to_the_same_bits(work, run, tmp_path, quick):
    changes = {"words": 5_000, "epochs": 5, "eval_every": 4_000, "checkpoint_every": 1_000}
    model = {**SMALL, "dropout": 0.1}
    arguments = [str(work), str(tmp_path / "killed"), json.dumps(model), json.dumps(quick(**changes).to_json())]
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments], stderr=subprocess.DEVNULL)
    state = tmp_path / "killed" / "checkpoint" / "state.json"
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if json.loads(state.read_bytes())["state"]["run"]["words"] > 1_000:
                break
        except (FileNotFoundError, NotADirectoryError):
            time.sleep(0.01)
    time.sleep(np.random.default_rng().uniform(0, 0.3))
    process.kill()
    assert process.wait() == -signal.SIGKILL
    run("whole", "lstm-z", model, **changes)
    run("killed", "lstm-z", model, resume=True, **changes)
    assert_same_run(tmp_path / "whole", tmp_path / "killed")


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize(("faults", "factors"), [(1, (1, 1, 1)), (2, (1, 0.5, 0.5))])
def test_a_nan_sends_the_run_back_at_half_the_rate(run, tmp_path, poison, capsys, monkeypatch, faults, factors):
    hits, taken = itertools.count(), []
    poison(lambda words: words > 3_000 and next(hits) < faults)
    real = Trainer.step

    def step(self, *args):
        taken.append((self.state.words, self.state.rate_factor))
        return real(self, *args)

    monkeypatch.setattr(Trainer, "step", step)
    summary = run("model")
    assert "the loss is nan; going back to 2," in capsys.readouterr().err
    lines = record(tmp_path / "model")
    words = [line["words"] for line in lines]
    assert words == sorted(set(words))
    assert len(words) == 3
    for line, factor in zip(lines, factors):
        assert line["learning_rate"] == pytest.approx(factor * 0.01 * max(0, 1 - line["words"] / 6_000))
    falls = [i for i in range(1, len(taken)) if taken[i][0] < taken[i - 1][0]]
    assert len(falls) == faults
    first = taken[falls[0] : falls[1] if faults > 1 else None]
    for done, factor in first:  # doubles over a twentieth of the words
        assert factor == pytest.approx(min(1, 0.5 * 2 ** ((done - first[0][0]) / 300)))
    assert summary.dev_perplexity < 20  # less than of an even guess among 20 words and </s>
    assert all(tensor.isfinite().all() for tensor in load(tmp_path / "model").network.state_dict().values())


def test_early_stopping_keeps_the_best(run, tmp_path, monkeypatch):
    told = iter([5.0, 3.0, 4.0, 3.5, 2.0])
    monkeypatch.setattr(run_file, "measure_held_out", lambda *_: HeldOut(next(told), *[0.0] * 5))
    kept = {}
    real = run_file.write_checkpoint

    def write(folder, checkpoint, *, is_best):
        if is_best:
            kept.update({name: tensor.detach().clone() for name, tensor in checkpoint.weights.items()})
        real(folder, checkpoint, is_best=is_best)

    monkeypatch.setattr(run_file, "write_checkpoint", write)
    summary = run("model", patience=2, eval_every=1_000)
    assert summary.stopped_early
    assert [line["dev_perplexity"] for line in record(tmp_path / "model")] == [5.0, 3.0, 4.0, 3.5]
    assert summary.best_words == record(tmp_path / "model")[1]["words"]
    weights = load(tmp_path / "model").network.state_dict()
    assert all(torch.equal(weights[name], tensor) for name, tensor in kept.items())


@pytest.mark.usefixtures("shown")
def test_what_is_there_is_not_overwritten_unasked(run, tmp_path, capsys):
    run("model", words=500)
    with pytest.raises(InputError, match="there is a model already"):
        run("model", words=500)
    with pytest.raises(InputError, match="give one of them"):
        run("model", words=500, resume=True, force=True)
    with pytest.raises(InputError, match="`seed` 1, not 2"):
        run("model", words=500, seed=2, resume=True)
    with pytest.raises(InputError, match="`hidden_size` 16, not 8"):
        run("model", words=500, model={"hidden_size": 8}, resume=True)
    state = tmp_path / "model/checkpoint/state.json"
    facts = json.loads(state.read_text())
    facts["state"]["about"]["model"]["colour"] = None
    state.write_text(json.dumps(facts))
    with pytest.raises(InputError, match="its run has `colour`"):
        run("model", words=500, resume=True)
    del facts["state"]["about"]["model"]["colour"]
    state.write_text(json.dumps(facts))
    before = (tmp_path / "model/model.safetensors").read_bytes()
    run("model", words=500, resume=True)
    assert (tmp_path / "model/model.safetensors").read_bytes() == before
    run("model", words=500, seed=2, force=True)
    assert (tmp_path / "model/model.safetensors").read_bytes() != before
    assert len(record(tmp_path / "model")) == 1


def test_force_keeps_the_old_model_until_the_new_one_is_complete(run, tmp_path, monkeypatch):
    run("model", words=500)
    before = (tmp_path / "model/model.safetensors").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(run_file, "measure_held_out", Mock(side_effect=MemoryError))
        with pytest.raises(MemoryError):
            run("model", words=500, seed=2, force=True)
    load(tmp_path / "model")
    assert (tmp_path / "model/model.safetensors").read_bytes() == before
    run("model", words=500, seed=2, resume=True)
    load(tmp_path / "model")
    assert (tmp_path / "model/model.safetensors").read_bytes() != before


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("text", [{"words": 1_000}, {"words": 500, "epochs": 2}, {"words": None, "epochs": 0.15}])
def test_rates_are_tried_and_the_best_is_taken(run, tmp_path, capsys, text):
    summary = run("model", **text, tune_lr=True)
    assert [trial.learning_rate for trial in summary.trials] == [0.001, 0.002, 0.004, 0.006, 0.008]
    best = min(summary.trials, key=lambda trial: trial.dev_perplexity)
    assert summary.learning_rate == best.learning_rate
    assert capsys.readouterr().err.count("trying rate") == 5
    # the whole budget is shorter than a trial would be, so a trial is the run itself
    assert record(tmp_path / "model")[-1]["dev_perplexity"] == best.dev_perplexity
    run("model", **text, tune_lr=True, resume=True)
    assert "trying rate" not in capsys.readouterr().err


def test_tuned_code_values_move_at_their_share_of_the_rate_and_stay_non_negative(run, tmp_path):
    folders = ["still", "slow", "fast"]
    for folder, share in zip(folders, (0.0, 0.1, 1.0)):
        run(folder, model={"tune_codes": True}, codes_rate=share)
    still, slow, fast = (load(tmp_path / folder).codes.values for folder in folders)
    start = load(run("fixed").folder).codes.values
    assert np.array_equal(still, start)
    distances = [float(np.abs(values - start).mean()) for values in (slow, fast)]
    assert 0 < 3 * distances[0] < distances[1]
    assert min(slow.min(), fast.min()) >= 0


class TouchedSizes(TorchDispatchMode):
    """Notes every operation that reads or makes a tensor with as many numbers as there are words."""

    def __init__(self, large):
        super().__init__()
        self.large, self.found, self.num_operations = large, set(), 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.num_operations += 1
        for value in (*args, *(result if isinstance(result, (tuple, list)) else (result,))):
            if isinstance(value, torch.Tensor):
                numbers = value._values() if value.is_sparse else value
                if numbers.numel() >= self.large:
                    self.found.add(function.overloadpacket.__name__)
        return result


@pytest.mark.parametrize("variant", ["lstm-z", "lstm-z-w", "lstm-z-wb", "lbl5", "lbl5-w", *TABLES])
def test_no_step_does_work_that_grows_with_the_vocabulary(work, quick, variant):
    """Of tensors with a row for each word, a step may only take and put back rows."""
    num_words = 20_000
    changes = TABLES.get(variant, {"tune_codes": variant == "lstm-z-w"})
    model_settings = settings_of("lstm-z" if variant in TABLES else variant, embedding_size=4, hidden_size=4, **changes)
    settings = quick(batch_words=32, num_noise=8)
    vocabulary = Vocabulary([str(i) for i in range(num_words)], np.ones(num_words, np.int64))
    model = LanguageModel(model_settings, num_words, random_codes(num_words, 30, 2, seed=1))
    part = TokenCorpus.open(work).part("train", 23)
    trainer = Trainer(model, make_objective(settings, model_settings, vocabulary), part, settings, 1000)
    trainer.step()
    with TouchedSizes(num_words) as touched:
        trainer.step()
    assert touched.num_operations > 100
    rows_only = {"index_select", "index_copy_", "index", "index_put_", "searchsorted", "detach", "alias"}
    lstm = {"mkldnn_rnn_layer", "mkldnn_rnn_layer_backward"}  # with a workspace of its own
    shapes_only = {"view", "unsqueeze", "t", "select", "_sparse_coo_tensor_with_dims_and_tensors"}
    assert touched.found <= rows_only | shapes_only | lstm
    assert ("index_copy_" in touched.found) == (variant != "lstm-z-wb")
    large = [parameter for parameter in model.parameters() if parameter.shape[:1] and len(parameter) >= num_words]
    assert all(parameter.grad.is_sparse for parameter in large)
    assert bool(large) == (variant != "lstm-z-wb")


def test_a_run_starts_from_the_weights_of_a_model(run, work, tmp_path, quick):
    settings = settings_of("lstm-z", **SMALL)
    run("first", "lstm-z")
    again = {"vocabulary_size": 23, "start": tmp_path / "first", "output": tmp_path / "again"}
    train(work, settings, quick(learning_rate=1e-12), **again)
    first, second = (load(tmp_path / name).network.state_dict() for name in ("first", "again"))
    for name, tensor in first.items():
        torch.testing.assert_close(second[name], tensor, rtol=1e-5, atol=1e-8)
    with pytest.raises(InputError, match=r"has `tied` False, and the model that shall start from it True"):
        train(
            work, settings_of("lstm-z", **{**SMALL, "tied": True}), quick(), **{**again, "output": tmp_path / "other"}
        )


def test_a_run_starts_from_a_packed_file_with_its_codes(run, work, tmp_path, quick):
    run("first", "lstm-z-w")
    packed = tmp_path / "first.few"
    pack(tmp_path / "first", packed, bits=8)
    settings = settings_of("lstm-z-w", **SMALL)
    again = {"vocabulary_size": 23, "base_size": 12, "start": packed, "output": tmp_path / "again"}
    heard = []
    with listening(heard.append):
        summary = train(work, settings, quick(learning_rate=1e-12), **again)
        assert f"{packed}: a packed file has no normaliser" in str(heard)
        heard.clear()
        train(work, settings, quick(loss="sampled-softmax"), **{**again, "output": tmp_path / "sampled"})
        assert "normaliser" not in str(heard)
    before, after = load(packed), load(tmp_path / "again")
    for name, weight in in_pytorch(before).network.state_dict().items():
        if not name.startswith("normaliser"):  # which no packed file has
            torch.testing.assert_close(after.network.state_dict()[name], weight, rtol=1e-5, atol=1e-8)
    np.testing.assert_array_equal(after.codes.indices, before.codes.indices)
    np.testing.assert_array_equal(after.codes.values, before.codes.values)
    assert after.trained_words == before.trained_words + summary.words
    with pytest.raises(
        InputError, match=r"english\.few: has `embedding_size` 200, and the model that shall start from it 16"
    ):
        train(work, settings, quick(), **{**again, "start": Path("english"), "output": tmp_path / "other"})
    with pytest.raises(InputError, match="has 12 base words; give `base_size` 12"):
        train(work, settings, quick(), **{**again, "base_size": 10, "output": tmp_path / "other"})


def test_skipped_words_are_those_that_an_earlier_run_has_read(run, work):
    part = TokenCorpus.open(work).part("train", 23)
    head, tail = part.head(100), part.tail(100)
    assert head.num_words <= 100 < head.num_words + len(part.sentence(head.num_sentences))
    both = [*head.sentences(), *tail.sentences()]
    assert [each.tolist() for each in both] == [each.tolist() for each in part.sentences()]
    assert tail.lengths.tolist() == [len(each) for each in tail.sentences()]
    read = np.concatenate([batch.ids.ravel() for batch in itertools.islice(tail.batches(20), 40)])
    assert set(read) <= {int(id) for each in tail.sentences() for id in each}
    summary = run("rest", "lstm-z", skip_words=100)
    assert summary.words <= tail.num_words + 2 * 64
    with pytest.raises(InputError, match=rf"has {part.num_words:,} words, and `skip_words` 9,999,999 leaves none"):
        run("none", "lstm-z", skip_words=9_999_999)
