"""The ONNX graphs against the PyTorch models that they were made from, by onnxruntime, over the whole vocabulary."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from fewwords.codes.sparse_codes import SparseCodes, pack_codes
from fewwords.errors import InputError
from fewwords.export.graph import quantise
from fewwords.export.onnx_folder import export_onnx
from fewwords.models.mixture.mixture import Mixture
from fewwords.models.model import Model
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import VARIANTS, settings_of
from fewwords.text.rules import TextRules
from fewwords.vocabulary import END_ID, SPECIAL_WORDS, Vocabulary

SIZE, NUM_BASE = 40, 17
VOCABULARY = Vocabulary([*SPECIAL_WORDS, *(f"w{rank}" for rank in range(3, SIZE))], np.ones(SIZE, np.int64))
SENTENCES = np.array([[3, 39, 0, 20, 5], [17, 16, 38, 3, 3], [9, 25, 30, 4, 18]])
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    **{variant: (variant, {}) for variant in VARIANTS},
    "untied, two layers": ("lstm-z-w", {"tied": False, "num_layers": 2}),
    "more cells, two layers": ("lstm-z-w", {"cell_size": 30, "num_layers": 2}),
    "dense, tied": ("lstm-z", {"tied": True}),
    "coded embedding, dense output": ("lstm-z-w", {"tied": False, "output": "dense"}),
    "dense embedding, coded output": ("gru-z-w", {"tied": False, "embedding": "dense", "coded_bias": True}),
    "other sizes": ("lstm-z-w", {"embedding_size": 4}),
    "tuned codes": ("lstm-z-w", {"tune_codes": True}),
    "paper's boundary": ("lstm-z", {"boundary": "paper"}),
    "paper's boundary, gru": ("gru-z-w", {"boundary": "paper", "num_layers": 2}),
    "paper's boundary, log-bilinear": ("lbl5", {"boundary": "paper"}),
}


def uneven_codes() -> SparseCodes:
    random = np.random.default_rng(4)
    num_rare = SIZE - NUM_BASE
    indices = np.stack([random.choice(NUM_BASE, 4, replace=False) for _ in range(num_rare)])
    values = random.uniform(0.05, 1, (num_rare, 4)).astype(np.float32)
    return pack_codes([(indices, values, random.integers(1, 5, num_rare))], NUM_BASE, {})


def make_model(kind: str) -> NeuralModel:
    variant, changes = KINDS[kind]
    torch.manual_seed(5)
    settings = settings_of(variant, **{"embedding_size": 6, "hidden_size": 6, **changes})
    codes = uneven_codes() if settings.is_coded else None
    network = LanguageModel(settings, SIZE, codes).eval()
    for name, parameter in network.named_parameters():
        if name != "codes.values":
            torch.nn.init.normal_(parameter, std=0.6)
    return NeuralModel(network, VOCABULARY, codes, TextRules(lower_case=False))


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest) -> NeuralModel:
    return make_model(request.param)


def with_rounded_weights(model: NeuralModel) -> NeuralModel:
    """The model with the weights that 8 bits and a scale per row can hold."""
    rounded = copy.deepcopy(model)
    network = rounded.network

    def round_rows(weights: torch.Tensor, dims: tuple[int, ...], most: int = 127) -> None:
        scales = weights.abs().amax(dims, keepdim=True) / most
        weights.copy_((weights / scales).round() * scales)

    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith((".base", ".weight")) or "weight_" in name:
                if not name.startswith("normaliser"):
                    round_rows(parameter, (1,))
            elif name == "encoder.matrices":
                round_rows(parameter, (0, 1))
        if network.codes is not None:
            for word in range(NUM_BASE, SIZE):
                first, last = (network.codes.offsets[[word, word + 1]] - NUM_BASE).tolist()
                round_rows(network.codes.values[first:last], (0,), most=255)
    return rounded


def session(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


class Stepper:
    """Runs `step.onnx` as the how-to says."""

    def __init__(self, folder: Path) -> None:
        self.session = session(folder / "step.onnx")
        facts = self.session.get_modelmeta().custom_metadata_map
        self.first_word = int(facts["first_word"])
        self.shapes = {each.name: each.shape for each in self.session.get_inputs() if each.name.startswith("state_")}

    def start(self, num_sentences: int) -> dict[str, np.ndarray]:
        state = {name: np.zeros((a, num_sentences, b), np.float32) for name, (a, _, b) in self.shapes.items()}
        return self.feed(state, [self.first_word] * num_sentences)

    def feed(self, state: dict[str, np.ndarray], words: list[int], k: int = 3) -> dict[str, np.ndarray]:
        known = {name: state.get(f"new_{name}", state.get(name)) for name in self.shapes}
        names = [each.name for each in self.session.get_outputs()]
        found = self.session.run(names, {**known, "word": np.array(words), "k": np.array([k])})
        return dict(zip(names, found))


@pytest.mark.parametrize("bits", [32, 8])
def test_the_step_is_that_of_the_model(model: NeuralModel, bits: int, tmp_path: Path) -> None:
    export_onnx(model, tmp_path, bits=bits)
    expected = with_rounded_weights(model) if bits == 8 else model
    stepper = Stepper(tmp_path)
    found, states = stepper.start(len(SENTENCES)), [expected.start()] * len(SENTENCES)
    seen = []
    for words in [*SENTENCES.T.tolist(), None]:
        wanted = expected.log_probs_all(states)
        np.testing.assert_allclose(found["log_probs"], wanted, atol=1e-4)
        order = np.argsort(-wanted[:, 3:], axis=1, kind="stable")[:, :3] + 3
        np.testing.assert_array_equal(found["top_words"], order)
        np.testing.assert_allclose(found["top_log_probs"], np.take_along_axis(wanted, order, 1), atol=1e-4)
        seen += list(found["log_probs"])
        if words is not None:
            found, states = stepper.feed(found, words), expected.feed_all(states, words)
    # the three sentences begin alike; no other two of the contexts do
    differences = [np.abs(one - other).max() for place, one in enumerate(seen[2:]) for other in seen[2:][:place]]
    assert min(differences) > 1e-3


@pytest.mark.parametrize("bits", [32, 8])
def test_sentences_have_the_scores_of_the_model(model: NeuralModel, bits: int, tmp_path: Path) -> None:
    export_onnx(model, tmp_path, bits=bits)
    expected = with_rounded_weights(model) if bits == 8 else model
    graph = session(tmp_path / "sentence.onnx")
    for sentences in (SENTENCES, SENTENCES[:1], SENTENCES[:, :1]):
        (found,) = graph.run(None, {"words": sentences})
        np.testing.assert_allclose(found, expected.target_log_probs(sentences), atol=1e-4)
    # shorter sentences are filled up with </s>
    (found,) = graph.run(None, {"words": np.array([SENTENCES[0], [9, 25, *[END_ID] * 3]])})
    wanted = expected.target_log_probs(np.array([[9, 25]]))[0]
    np.testing.assert_allclose(found[1, : len(wanted)], wanted, atol=1e-4)


def test_the_graphs_are_valid_and_of_standard_operators(model: NeuralModel, tmp_path: Path) -> None:
    export_onnx(model, tmp_path)
    for name in ("step.onnx", "sentence.onnx"):
        written = onnx.load(tmp_path / name)
        onnx.checker.check_model(written, full_check=True)
        nodes = [*written.graph.node]
        for node in nodes:
            nodes += [inner for each in node.attribute for inner in each.g.node]
        assert {node.domain for node in nodes} == {""}
        facts = {each.key: each.value for each in written.metadata_props}
        assert json.loads(facts["text"]) == {"lower_case": False, "numbers": "keep"}
        assert facts["vocabulary_sha256"] == VOCABULARY.fingerprint
    assert (tmp_path / "words.txt").read_text().splitlines() == list(VOCABULARY.words)


def test_coded_weights_stay_coded_and_8_bits_are_small(tmp_path: Path) -> None:
    """No array of the file has a row for each word but codes and biases, and a tied matrix is there once."""
    model = make_model("lstm-z-w")
    export_onnx(model, tmp_path, bits=8)
    arrays = {each.name: each for each in onnx.load(tmp_path / "step.onnx").graph.initializer}
    assert list(arrays["embedding"].dims) == [NUM_BASE, 6]
    assert "output" not in arrays
    assert {name for name, each in arrays.items() if SIZE in each.dims} == {"bias"}
    kinds = {arrays[name].data_type for name in ("embedding", "weight_ih_l0", "weight_hh_l0")}
    assert kinds == {onnx.TensorProto.INT8}
    assert arrays["codes.values"].data_type == onnx.TensorProto.UINT8
    assert arrays["codes.indices"].data_type == onnx.TensorProto.UINT16


@pytest.mark.parametrize("axis", [0, 1])
def test_a_rounded_weight_is_off_by_half_a_scale(axis: int) -> None:
    values = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)
    values[2] = 0
    for each in (values, np.abs(values)):
        levels, scales = quantise(each, axis)
        scales = np.expand_dims(scales, 1 - axis)
        assert (np.abs(levels * scales - each) <= scales * 0.5001).all()
        assert np.abs(levels.astype(int)).max() == (255 if each.min() >= 0 else 127)


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    model = make_model("lstm-z-w")
    mixture: Model = Mixture((model, make_model("lstm-z")), (0.5, 0.5), VOCABULARY)
    with pytest.raises(InputError, match="only neural models"):
        export_onnx(mixture, tmp_path / "new")
    with pytest.raises(InputError, match="`bits` 4"):
        export_onnx(model, tmp_path / "new", bits=4)
    assert not (tmp_path / "new").exists()


def test_the_command(tmp_path: Path, command: Callable[..., Any]) -> None:
    save_neural(tmp_path / "model", make_model("lstm-z-w"), "")
    done = command("export", tmp_path / "model", "--output", tmp_path / "out")
    assert done.code == 0, done.err
    (tmp_path / "out/notes.txt").write_text("mine")
    before = (tmp_path / "out/step.onnx").read_bytes()
    again = command("export", tmp_path / "model", "--output", tmp_path / "out", "--bits", 8)
    assert again.code == 2
    assert "is there already" in again.errors[0]
    assert (tmp_path / "out/step.onnx").read_bytes() == before
    assert command("export", tmp_path / "model", "--output", tmp_path / "out", "--bits", 8, "--force").code == 0
    assert (tmp_path / "out/step.onnx").read_bytes() != before
    assert (tmp_path / "out/notes.txt").read_text() == "mine"
    assert "--format" in command("export", tmp_path / "model", "--format", "pickle").errors[0]


def test_the_python_of_the_how_to_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = make_model("lstm-z-w")
    export_onnx(model, tmp_path / "keyboard")
    export_onnx(model, tmp_path / "keyboard8", bits=8)
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs/how-to/onnx.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)
    suggested, scored = capsys.readouterr().out.splitlines()
    state = model.feed(model.feed(model.start(), 0), 0)  # none of its words is known to this model
    best = np.argsort(-model.log_probs(state)[3:])[:3] + 3
    assert suggested == str([VOCABULARY.words[word] for word in best])
    (known,) = model.target_log_probs(np.zeros((1, 7), np.int64))
    assert float(scored) == pytest.approx(known.sum() / np.log(10), abs=1e-3)
