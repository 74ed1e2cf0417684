"""Speed and memory of explicitly normalised log-probabilities over a large vocabulary, coded against dense.

Prints a card and, as its last line, one JSON object. Each measurement is its own child process with one thread; they
take turns, and medians are reported. Times are of the processor, so that other processes disturb them less. `--work`
takes the sparse codes of a work folder if it has some for the vocabulary size; otherwise codes are made up, with 5 to 8
non-zeros per word. 8,000 base words, contexts of 200 values.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fewwords.codes import SparseCodes

SIZES = {"50k": 50_000, "200k": 200_000}
KINDS = ("coded", "dense")
BASE_SIZE, SIZE = 8_000, 200
CONTEXTS, WORDS_PER_BLOCK = 128, 4096


def made_up_codes(num_words: int) -> "SparseCodes":
    """Codes of 5 to 8 random base words, with values that fall like those of learned codes."""
    import numpy as np

    from fewwords.codes.sparse_codes import CodedBlock, pack_codes

    random = np.random.default_rng(1)
    slice_size = BASE_SIZE // 8

    def block(num_rare: int) -> CodedBlock:
        # one base word from each of eight slices, so that none is repeated
        indices = random.integers(0, slice_size, (num_rare, 8)) + np.arange(8) * slice_size
        values = (random.random((num_rare, 8)) ** 2 * 0.5 + 0.01).astype(np.float32)
        return indices, values, random.integers(5, 9, num_rare)

    firsts = range(BASE_SIZE, num_words, WORDS_PER_BLOCK)
    return pack_codes((block(min(WORDS_PER_BLOCK, num_words - first)) for first in firsts), BASE_SIZE, {})


def run_child(kind: str, num_words: int, seconds: float, codes_path: str) -> None:
    """Measure one layer and print the result."""
    import torch

    from fewwords.codes.sparse_codes import SparseCodes
    from fewwords.layers import CodedOutput, DenseOutput

    torch.set_num_threads(1)
    codes = None
    if kind == "coded":
        codes = SparseCodes.load(Path(codes_path)) if codes_path else made_up_codes(num_words)
    start_mib = peak_mib()
    torch.manual_seed(1)
    layer = DenseOutput(num_words, SIZE) if codes is None else CodedOutput(codes, SIZE, coded_bias=False)
    layer.start_bias(-torch.arange(1.0, num_words + 1).log())
    contexts = torch.rand(CONTEXTS, SIZE) * 2 - 1
    targets = torch.randint(num_words, (CONTEXTS,))
    layer.log_probs_of(contexts, targets)
    num_contexts = 0
    start = time.process_time()
    while (passed := time.process_time() - start) < seconds:
        layer.log_probs_of(contexts, targets)
        num_contexts += CONTEXTS
    print(json.dumps({"rate": num_contexts / passed, "peak_mib": peak_mib(), "start_mib": start_mib}))


def peak_mib() -> float:
    """The peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child(kind: str, num_words: int, seconds: float, codes_path: str) -> dict[str, float]:
    """Run one measurement in a fresh process."""
    arguments = ["--child", kind, str(num_words), str(seconds), codes_path]
    output = subprocess.run([sys.executable, __file__, *arguments], stdout=subprocess.PIPE, check=True)
    result: dict[str, float] = json.loads(output.stdout)
    return result


def find_codes(work: Path | None, num_words: int) -> str:
    """The codes of a work folder for that vocabulary size; empty if it has none."""
    from fewwords.work_folder import codes_folder

    found = sorted(codes_folder(work).glob(f"v{num_words}-b*.safetensors")) if work else []
    return str(found[0]) if found else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute: less time, fewer repetitions")
    parser.add_argument("--work", type=Path, help="a prepared folder, whose codes are used where they fit")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, num_words, seconds, codes_path = options.child
        run_child(kind, int(num_words), float(seconds), codes_path)
        return
    seconds, rounds = (0.5, 2) if options.quick else (2.0, 5)
    results: dict[str, list[dict[str, float]]] = {f"{kind}_{name}": [] for name in SIZES for kind in KINDS}
    codes = {name: find_codes(options.work, num_words) for name, num_words in SIZES.items()}
    for _ in range(rounds):
        for name, num_words in SIZES.items():
            for kind in KINDS:
                results[f"{kind}_{name}"].append(child(kind, num_words, seconds, codes[name]))
    medians = {
        key: {figure: statistics.median(run[figure] for run in runs) for figure in runs[0]}
        for key, runs in results.items()
    }
    print(f"log_probs_of, {CONTEXTS} contexts of {SIZE} values, {BASE_SIZE:,} base words, one core, medians")
    for name in SIZES:
        coded, dense = medians[f"coded_{name}"], medians[f"dense_{name}"]
        source = codes[name] or "made-up codes"
        print(f"  V = {name}, {source}")
        for kind, run in (("coded", coded), ("dense", dense)):
            print(
                f"    {kind}  {run['rate']:10,.0f} contexts/s, peak {run['peak_mib']:,.0f} MiB ({run['start_mib']:,.0f} to start)"
            )
        print(f"    coded is {coded['rate'] / dense['rate']:.2f} times as fast")
    rates = {key: round(run["rate"], 1) for key, run in medians.items()}
    peaks = {f"peak_mib_{key}": round(run["peak_mib"], 1) for key, run in medians.items()}
    ratios = {f"ratio_{name}": round(rates[f"coded_{name}"] / rates[f"dense_{name}"], 3) for name in SIZES}
    print(json.dumps(rates | ratios | peaks))


if __name__ == "__main__":
    main()
