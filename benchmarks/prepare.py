"""How fast is `fewwords prepare`, compared with just decompressing and splitting the same file?

Prints a card and, as its last line, one JSON object. Everything is measured in child processes of this one run, in
turns, and reported as medians. `--work` takes the sources of a prepared corpus (the first one, and the first four for
memory).
"""

import argparse
import json
import lzma
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.text.decompress import decompress
from fewwords.text.sources import BUILTIN, Source, find_sources

QUICK_BYTES = 16 << 20


def read_text(source: Source) -> bytes:
    return b"".join(decompress(source.chunks(), source.name)[1])


def slices_of(sources: list[Source], folder: Path, quick: bool) -> list[Path]:
    """Up to four compressed files of the same kind: the sources themselves, or pieces of them if `quick`."""
    files = [source.paths[0] for source in sources if len(source.paths) == 1][:4]
    if len(files) == 4 and not quick:
        return files
    text = b"".join(read_text(source) for source in sources[:4])
    size = min(QUICK_BYTES, len(text)) if quick else len(text)
    pieces = []
    for number in range(4):
        start = (number * size) % max(1, len(text) - size + 1)
        start = text.find(b"\n</doc>\n", start) + 8 if number and text.startswith(b"<doc") else start
        pieces.append(folder / f"piece-{number}.txt.xz")
        pieces[-1].write_bytes(lzma.compress(text[start : start + size], preset=1))
    return pieces


def child(task: str, files: list[str]) -> dict[str, float]:
    """Run one measurement in a fresh process."""
    output = subprocess.run(
        [sys.executable, __file__, "--child", task, *files],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    result: dict[str, float] = json.loads(output.stdout)
    return result


def run_child(task: str, files: list[str]) -> None:
    start = time.perf_counter()
    if task == "floor":
        num_words = sum(len(read_text(source).decode(errors="replace").split()) for source in find_sources(files))
    else:
        with tempfile.TemporaryDirectory() as work:
            prepare(files, work, settings=Settings(), jobs=int(task))
            num_words = 0
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "words": num_words, "peak_mib": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute: smaller pieces, fewer repetitions")
    parser.add_argument(
        "--work", type=Path, help="a prepared folder, whose sources are read (default: the built-in corpus)"
    )
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(options.child[0], options.child[1:])
        return
    names = [BUILTIN]
    if options.work:
        names = [source["name"] for source in TokenCorpus.open(options.work).description["sources"]]
    folder = Path(tempfile.mkdtemp())
    try:
        files = [str(path) for path in slices_of(find_sources(names), folder, options.quick)]
        seconds: dict[str, list[float]] = {"floor": [], "1": [], "2": []}
        num_words = 0.0
        peak_small = 0.0
        for _ in range(3 if options.quick else 5):
            for task, times in seconds.items():
                result = child(task, files[:1])
                times.append(result["seconds"])
                num_words = result["words"] or num_words
                peak_small = result["peak_mib"] if task == "1" else peak_small
        peak_large = child("1", files)["peak_mib"]
    finally:
        shutil.rmtree(folder)
    speed = {task: num_words / statistics.median(times) for task, times in seconds.items()}
    print(f"prepare, {num_words:,.0f} blank-separated words of {names[0]}, {os.cpu_count()} cores, medians")
    print(f"  decompress and split (the floor)  {speed['floor']:12,.0f} words/s")
    for jobs in ("1", "2"):
        print(
            f"  prepare --jobs {jobs}                  {speed[jobs]:12,.0f} words/s, {speed[jobs] / speed['floor']:.2f} of it"
        )
    print(f"  two processes against one         {speed['2'] / speed['1']:12.2f} times as fast")
    print(f"  peak memory, one file / four      {peak_small:12,.0f} / {peak_large:,.0f} MiB")
    print(
        json.dumps(
            {
                "words_per_second_1": round(speed["1"]),
                "words_per_second_2": round(speed["2"]),
                "floor_words_per_second": round(speed["floor"]),
                "peak_mib_small": round(peak_small, 1),
                "peak_mib_large": round(peak_large, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
