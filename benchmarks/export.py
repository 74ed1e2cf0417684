"""A step of a model in onnxruntime, coded and dense, float and 8-bit, beside the same step in PyTorch: one thread, V = 50k.

A step reads a word and gives the log-probabilities of all words. Prints a card and, as its last line, one JSON object. The
steps take turns, and medians are reported, of the time that passed and of processor time (`cpu`), which does not depend on
what else the machine does. `--work` takes the sparse codes of a work folder if it has some for 50,000
words; otherwise codes are made up. Weights are made up, and words are drawn by rank as in text. (Not named after ONNX,
because a script hides the package of its name.)
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluation import find_codes, made_up_codes

if TYPE_CHECKING:
    from fewwords.models.neural.model import NeuralModel

NUM_WORDS = 50_000
WIDENED = {"session.disable_quant_qdq": "1"}


def made_up_model(variant: str, codes_path: str) -> "NeuralModel":
    """A model with random weights of the usual size."""
    import torch

    from fewwords.codes.sparse_codes import SparseCodes
    from fewwords.models.neural.language_model import LanguageModel
    from fewwords.models.neural.model import NeuralModel
    from fewwords.models.neural.variants import settings_of
    from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary

    torch.manual_seed(1)
    codes = None
    if variant == "lstm-z-w":
        codes = SparseCodes.load(Path(codes_path)) if codes_path else made_up_codes(NUM_WORDS)
    network = LanguageModel(settings_of(variant), NUM_WORDS, codes).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    network.output.start_bias(-torch.arange(1.0, NUM_WORDS + 1).log())
    words = [*SPECIAL_WORDS, *(f"w{rank}" for rank in range(len(SPECIAL_WORDS), NUM_WORDS))]
    return NeuralModel(network, Vocabulary(words, np.ones(NUM_WORDS, np.int64)), codes)


def onnx_step(path: Path, config: dict[str, str]) -> Callable[[int], np.ndarray]:
    """A function that reads a word after all words before and gives ln p of all words as the next one, [V]."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    for key, value in config.items():
        options.add_session_config_entry(key, value)
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    state = {name: np.zeros((1, 1, 200), np.float32) for name in ("state_h", "state_c")}
    k = np.array([5])

    def step(word: int) -> np.ndarray:
        outputs = ["log_probs", "new_state_h", "new_state_c"]
        found, state["state_h"], state["state_c"] = session.run(outputs, {"word": np.array([word]), "k": k, **state})
        log_probs: np.ndarray = found[0]
        return log_probs

    return step


def torch_step(model: "NeuralModel") -> Callable[[int], np.ndarray]:
    """The same in PyTorch."""
    state = [model.network.encoder.start_state(1)]

    def step(word: int) -> np.ndarray:
        state[0] = model.feed(state[0], word)
        return model.log_probs(state[0])

    return step


def main() -> None:
    import torch

    from fewwords.export.onnx_folder import export_onnx

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute: fewer repetitions")
    parser.add_argument("--work", type=Path, help="a prepared folder, whose codes are used where they fit")
    options = parser.parse_args()
    torch.set_num_threads(1)
    codes_path = find_codes(options.work, NUM_WORDS)
    coded, dense = made_up_model("lstm-z-w", codes_path), made_up_model("lstm-z", "")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        megabytes = {
            name: export_onnx(model, place / name, bits=bits)["step.onnx"] / 1e6
            for name, model, bits in (("onnx", coded, 32), ("onnx_8_bits", coded, 8), ("onnx_dense", dense, 32))
        }
        steps = {
            **{name: onnx_step(place / name / "step.onnx", {}) for name in megabytes},
            "onnx_8_bits_widened": onnx_step(place / "onnx_8_bits/step.onnx", WIDENED),
            "torch": torch_step(coded),
            "torch_dense": torch_step(dense),
        }
    words = np.minimum(np.random.default_rng(1).zipf(1.2, 60 if options.quick else 600) + 2, NUM_WORDS - 1).tolist()
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in steps}
    largest = 0.0
    for word in words:
        found = {}
        for name, step in steps.items():
            start, cpu_start = time.perf_counter(), time.thread_time()
            found[name] = step(word)
            seconds[name].append((time.perf_counter() - start, time.thread_time() - cpu_start))
        largest = max(largest, float(np.abs(found["onnx"] - found["torch"]).max()))
    medians, cpu = (
        {name: 1000 * statistics.median(each[kind] for each in found) for name, found in seconds.items()}
        for kind in (0, 1)
    )
    print(f"one step, V = {NUM_WORDS:,}, {codes_path or 'made-up codes'}, one thread, medians of {len(words)}")
    for name, median in medians.items():
        size = f", {megabytes[name]:.1f} MB" if name in megabytes else ""
        ratio = cpu[name] / cpu["torch"]
        print(f"  {name:20} {median:7.2f} ms, cpu {cpu[name]:.2f} ms, {ratio:.2f} of PyTorch's{size}")
    print(f"  largest difference of a log-probability between onnx and PyTorch: {largest:.1e}")
    figures = {f"{name}_p50_ms": round(median, 3) for name, median in medians.items()}
    cpu_figures = {f"{name}_cpu_ms": round(median, 3) for name, median in cpu.items()}
    sizes = {f"{name}_mb": round(size, 2) for name, size in megabytes.items()}
    print(json.dumps({**figures, **cpu_figures, **sizes, "largest_difference": largest}))


if __name__ == "__main__":
    main()
