"""How long is a suggestion, and what does a model in use cost? One core, V = 50,000, 8,000 base words, 200 values.

Sentences are typed word by word into the coded model (float32), the dense one, and the coded one packed in 8 and in 4 bits,
a sentence in turn, as a keyboard has one model at a time: after each word a suggestion, and after one letter of the next a
completion. The floor is what no
implementation can leave out, in plain numpy: the LSTM's step, one product over the base words, the sparse product of
the codes, the best five. Beside it, a step of the coded model's ONNX graph in onnxruntime. Load time and memory are those
of fresh processes. All times are of the processor, which on one core is what a user waits on a quiet machine, and does not
change with the work of others. Weights are random, and the codes and words made up, unless `--work` has codes for 50,000
words. Prints a card and, as its last line, one JSON object.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NUM_WORDS, BASE_SIZE, SIZE = 50_000, 8_000, 200
SENTENCE_WORDS = 20
KINDS = ("coded", "dense", "int8", "int4")
COMPLETIONS = {"complete": "coded", "dense_complete": "dense"}
ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def make_models(folder: Path, work: Path | None) -> dict[str, Path]:
    """The folders of a coded and a dense model, and the packed files and the ONNX graph of the coded one."""
    import numpy as np
    import torch

    from evaluation import find_codes, made_up_codes
    from fewwords.codes.sparse_codes import SparseCodes
    from fewwords.export.onnx_folder import export_onnx
    from fewwords.models.neural.folder import save_neural
    from fewwords.models.neural.language_model import LanguageModel
    from fewwords.models.neural.model import NeuralModel
    from fewwords.models.neural.variants import settings_of
    from fewwords.packing.pack import pack
    from fewwords.vocabulary import SPECIAL_WORDS, Vocabulary
    from fewwords.work_folder import corpus_folder

    found = find_codes(work, NUM_WORDS)
    codes = SparseCodes.load(Path(found)) if found else made_up_codes(NUM_WORDS)
    if found and work is not None:
        vocabulary = Vocabulary.load(corpus_folder(work) / "words.tsv", NUM_WORDS)
    else:
        letters = np.random.default_rng(1).integers(97, 123, (2 * NUM_WORDS, 8))
        words = list(dict.fromkeys(bytes(row.tolist()).decode() for row in letters))[: NUM_WORDS - len(SPECIAL_WORDS)]
        vocabulary = Vocabulary([*SPECIAL_WORDS, *words], np.ones(NUM_WORDS, np.int64))
    torch.manual_seed(1)
    paths, models = {}, {}
    for kind, variant in (("coded", "lstm-z-w"), ("dense", "lstm-z")):
        settings = settings_of(variant, embedding_size=SIZE, hidden_size=SIZE)
        used = codes if settings.is_coded else None
        paths[kind] = folder / kind
        models[kind] = NeuralModel(LanguageModel(settings, NUM_WORDS, used), vocabulary, used)
        save_neural(paths[kind], models[kind], "")
    export_onnx(models["coded"], folder / "onnx")
    paths["onnx"] = folder / "onnx" / "step.onnx"
    for bits in (8, 4):
        paths[f"int{bits}"] = pack(paths["coded"], folder / f"{bits}.few", bits=bits).path
    return paths


def floor(path: Path) -> Callable[[], Any]:
    """One step of the coded model in plain numpy, with nothing around it."""
    import numpy as np

    from fewwords.runtime import load

    network = load(path).network
    weights, codes = network.encoder.weights, network.codes
    assert codes is not None
    joined = np.hstack([weights["lstm.weight_ih_l0"], weights["lstm.weight_hh_l0"]])
    bias = weights["lstm.bias_ih_l0"] + weights["lstm.bias_hh_l0"]
    base = network.output.rows(np.arange(codes.num_base))
    indices = codes.indices.astype(np.intp)
    state, ones = np.zeros(SIZE, np.float32), np.ones(indices.shape[1], np.float32)

    def step() -> Any:
        enter, forget, new, leave = np.split(joined @ np.concatenate([base[5], state]) + bias, 4)
        c = state / (1 + np.exp(-forget)) + np.tanh(new) / (1 + np.exp(-enter))
        scores = base @ (np.tanh(c) / (1 + np.exp(-leave)))
        rare = (scores.take(indices) * codes.values) @ ones
        return np.argpartition(-(np.concatenate([scores, rare]) + network.bias), 5)[:5]

    return step


def run_speed(paths: dict[str, Path], num_typed: int) -> dict[str, float]:
    """Latencies in milliseconds, all kinds in turns."""
    import fewwords
    from export import onnx_step

    models = {kind: fewwords.load(paths[kind]) for kind in KINDS}
    plain_step, graph_step = floor(paths["coded"]), onnx_step(paths["onnx"], {})
    words = [models["coded"].vocabulary.words[100 + 37 * place] for place in range(num_typed + SENTENCE_WORDS)]
    times: dict[str, list[float]] = {kind: [] for kind in (*KINDS, *COMPLETIONS, "floor", "onnx")}

    def measure(kind: str, function: Callable[[], Any]) -> None:
        start = time.process_time()
        function()
        times[kind].append(1000 * (time.process_time() - start))

    def type_words(first: int, function: Callable[[str, int], None]) -> None:
        for count in range(first + 1, first + SENTENCE_WORDS):
            function(" ".join(words[first:count]) + " ", count)

    def ask(kind: str) -> Callable[[str, int], None]:
        return lambda text, count: measure(kind, lambda: models[kind].suggest(text))

    def complete(name: str) -> Callable[[str, int], None]:
        model = models[COMPLETIONS[name]]

        def type_letter(text: str, count: int) -> None:
            model.suggest(text)
            measure(name, lambda: model.suggest(text + words[count][0]))

        return type_letter

    turns = [*map(ask, KINDS), *map(complete, COMPLETIONS)]
    turns += [
        lambda text, count: measure("floor", plain_step),
        lambda text, count: measure("onnx", lambda: graph_step(100 + 37 * count)),
    ]
    for first in range(0, num_typed, SENTENCE_WORDS):
        for turn in turns:
            type_words(first, turn)
    sentences = [" ".join(words[place : place + 20]) for place in range(60)]
    start = time.process_time()
    models["coded"].score_all(sentences)
    found = {f"{kind}_p50": statistics.median(each) for kind, each in times.items()}
    found |= {f"{kind}_p99": statistics.quantiles(times[kind], n=100)[98] for kind in ("coded", "dense", *COMPLETIONS)}
    return {**found, "sentences_per_second": len(sentences) / (time.process_time() - start)}


def run_load(path: Path) -> dict[str, float]:
    """Load time in milliseconds of the processor, imports left out, and resident memory in MiB after an answer."""
    import fewwords.runtime  # noqa: F401
    from fewwords.use.text_model import load

    start = time.process_time()
    model = load(path)
    milliseconds = 1000 * (time.process_time() - start)
    model.suggest("the ")
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {"load_ms": milliseconds, "rss_mib": pages * os.sysconf("SC_PAGE_SIZE") / 2**20}


def child(*arguments: str) -> dict[str, float]:
    """Run one measurement in a fresh process on one core."""
    command = [sys.executable, __file__, "--child", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env={**os.environ, **ONE_CORE})
    result: dict[str, float] = json.loads(done.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute: fewer words, fewer repetitions")
    parser.add_argument("--work", type=Path, help="a prepared folder, whose codes and words are used")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        task, paths, *rest = options.child
        read = {kind: Path(path) for kind, path in json.loads(paths).items()}
        print(json.dumps(run_speed(read, int(rest[0])) if task == "speed" else run_load(read[rest[0]])))
        return
    num_typed, rounds = (60, 3) if options.quick else (600, 7)
    with tempfile.TemporaryDirectory() as folder:
        paths = json.dumps({kind: str(path) for kind, path in make_models(Path(folder), options.work).items()})
        loads: dict[str, list[dict[str, float]]] = {kind: [] for kind in ("coded", "dense", "int4")}
        for _ in range(rounds):
            for kind, runs in loads.items():
                runs.append(child("load", paths, kind))
        speed = child("speed", paths, str(num_typed))
    medians = {
        kind: {name: statistics.median(run[name] for run in runs) for name in runs[0]} for kind, runs in loads.items()
    }
    figures = {
        "suggest_p50_ms": speed["coded_p50"],
        "suggest_p99_ms": speed["coded_p99"],
        "complete_p50_ms": speed["complete_p50"],
        "complete_p99_ms": speed["complete_p99"],
        "floor_ms": speed["floor_p50"],
        "dense_p50_ms": speed["dense_p50"],
        "dense_p99_ms": speed["dense_p99"],
        "dense_complete_p50_ms": speed["dense_complete_p50"],
        "int8_p50_ms": speed["int8_p50"],
        "int4_p50_ms": speed["int4_p50"],
        "onnx_p50_ms": speed["onnx_p50"],
        "sentences_per_second": speed["sentences_per_second"],
        "load_ms": medians["coded"]["load_ms"],
        "rss_mib": medians["coded"]["rss_mib"],
        "dense_rss_mib": medians["dense"]["rss_mib"],
        "runtime_load_ms": medians["int4"]["load_ms"],
        "runtime_rss_mib": medians["int4"]["rss_mib"],
    }
    print(f"suggestions with {NUM_WORDS:,} words over {BASE_SIZE:,} base words, one core of {os.cpu_count()}, medians")
    for kind, name in (("coded", "coded, float32"), ("int8", "packed, 8 bits"), ("int4", "packed, 4 bits")):
        print(
            f"  {name:16} {speed[f'{kind}_p50']:7.2f} ms, {speed[f'{kind}_p50'] / speed['floor_p50']:.2f} times the floor"
        )
    print(f"  {'dense, float32':16} {speed['dense_p50']:7.2f} ms; floor {speed['floor_p50']:.2f} ms")
    print(f"  {'ONNX, float32':16} {speed['onnx_p50']:7.2f} ms, a step that gives ln p of all words")
    for kind, run in medians.items():
        print(f"  {kind:16} loads in {run['load_ms']:7.1f} ms, {run['rss_mib']:.0f} MiB resident")
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
