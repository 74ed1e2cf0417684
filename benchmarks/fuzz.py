"""Does anything hostile get through? Mutates every kind of file that fewwords reads, and reads and uses the result.

Prints a card and, as its last line, one JSON object. `refused` counts inputs that ended in an InputError of one line,
`same` those that gave the answers of the unharmed file, `changed` those that gave other, finite ones. `exceptions` (any
other exception, or an answer that is no number), `crashes` and `timeouts` are failures: each is written to a folder of
its own, and `--replay FOLDER` tries it again.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from reliability.inputs import write_files
from reliability.kinds import KINDS
from reliability.samples import Work, make_work
from reliability.trial import Sample, make_input, make_samples, try_input
from reliability.workers import FAILURES, Limits, Outcome, Report, try_all

QUICK_INPUTS = 2000
OUTCOMES: tuple[Outcome, ...] = ("refused", "same", "changed", *FAILURES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_INPUTS:,} inputs, under a minute")
    parser.add_argument("--inputs", type=int, metavar="N", help="inputs (default: 100,000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same inputs")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument(
        "--seconds", type=float, default=Limits.seconds, help="time of a core, or of waiting, for one input"
    )
    parser.add_argument("--mebibytes", type=int, default=Limits.mebibytes, help="memory for one input")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), help="where failures are written")
    parser.add_argument("--replay", type=Path, metavar="FOLDER", help="try one failure again, and show what happens")
    options = parser.parse_args()
    limits = Limits(options.seconds, options.mebibytes)
    scratch = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    try:
        work = make_work(scratch)
        if options.replay:
            sys.exit(replay(options.replay, work, scratch, limits))
        samples = make_samples(options.kinds, work, scratch)
        inputs = options.inputs or (QUICK_INPUTS if options.quick else 100_000)
        run(samples, work, scratch, inputs, options.seed, limits, options.workers, options.failures)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def run(
    samples: list[Sample],
    work: Work,
    scratch: Path,
    inputs: int,
    seed: int,
    limits: Limits,
    workers: int,
    failures: Path,
) -> None:
    """Try the inputs in turns of kinds, write the failures, print the card and the JSON line."""

    def try_one(number: int, folder: Path) -> tuple[Outcome, str]:
        sample = samples[number % len(samples)]
        write_files(folder, make_input(sample, seed, number)[0])
        return try_input(sample, work, folder)

    counts: dict[str, Counter[Outcome]] = {sample.name: Counter() for sample in samples}
    started = time.monotonic()
    for report in try_all(try_one, range(inputs), scratch, limits, workers):
        number, outcome, _ = report
        sample = samples[number % len(samples)]
        counts[sample.name][outcome] += 1
        if outcome in FAILURES:
            write_failure(failures / f"{sample.name}-{seed}-{number}", sample, seed, report)
    seconds = time.monotonic() - started
    print(f"fuzz, {inputs:,} inputs, seed {seed}, {inputs / seconds:,.0f} a second")
    print(f"  {'kind':16}" + "".join(f"{name:>11}" for name in OUTCOMES))
    for name, found in counts.items():
        print(f"  {name:16}" + "".join(f"{found[outcome]:11,}" for outcome in OUTCOMES))
    total = sum(counts.values(), Counter())
    if any(total[outcome] for outcome in FAILURES):
        print(f"  failures are in {failures}")
    print(json.dumps({"inputs": inputs, **{outcome: total[outcome] for outcome in OUTCOMES}}))
    sys.exit(int(any(total[outcome] for outcome in FAILURES)))


def write_failure(folder: Path, sample: Sample, seed: int, report: Report) -> None:
    """Write the input of a failure as it was read, and what happened."""
    number, outcome, story = report
    files, told = make_input(sample, seed, number)
    shutil.rmtree(folder, ignore_errors=True)
    write_files(folder / "input", files)
    facts = {"kind": sample.name, "seed": seed, "number": number, "outcome": outcome, "changes": told}
    (folder / "failure.json").write_text(json.dumps(facts, indent=2) + "\n")
    (folder / "story.txt").write_text(story, errors="backslashreplace")


def replay(failure: Path, work: Work, scratch: Path, limits: Limits) -> int:
    """Try a failure again under the same limits; returns whether it still fails."""
    facts = json.loads((failure / "failure.json").read_text())
    sample = make_samples([facts["kind"]], work, scratch)[0]

    def try_one(number: int, folder: Path) -> tuple[Outcome, str]:
        subprocess.run(["cp", "-a", str(failure / "input"), str(folder)], check=True)  # named pipes and links too
        return try_input(sample, work, folder)

    ((_, outcome, story),) = try_all(try_one, range(1), scratch, limits)
    print(json.dumps(facts, indent=2), f"{outcome}\n{story}", sep="\n")
    return int(outcome in FAILURES)


if __name__ == "__main__":
    main()
