"""How fast is Kneser-Ney: words per second while estimating and while scoring, and peak memory?

A 3-gram model over 22,000 words (or all if fewer) of the first words of the training part, scored on the same words.
Each estimation is a child process of this one run; medians. If the optional module `kenlm` is installed, its speed on
the same sentences and the same ARPA file is shown beside. Prints a card and, as its last line, one JSON object.
"""

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fewwords.corpus import TokenCorpus, prepare
from fewwords.models.kneser_ney import estimate, part_log_probs, write_arpa
from fewwords.models.load import load
from fewwords.text.sources import BUILTIN

VOCABULARY_SIZE = 22_000
WORDS, QUICK_WORDS = 20_000_000, 2_000_000


def child(work: Path, num_words: int, model: Path | None = None) -> dict[str, float]:
    """Estimate and score in a fresh process, and save the model if a folder is given."""
    saving = [] if model is None else ["--save", str(model)]
    output = subprocess.run(
        [sys.executable, __file__, "--work", str(work), "--child", str(num_words), *saving],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    result: dict[str, float] = json.loads(output.stdout)
    return result


def run_child(work: Path, num_words: int, save: Path | None) -> None:
    corpus = TokenCorpus.open(work)
    size = min(VOCABULARY_SIZE, corpus.num_types)
    part, vocabulary = corpus.part("train", size), corpus.vocabulary(size)
    start = time.perf_counter()
    model = estimate(part, 3, vocabulary=vocabulary, max_words=num_words)
    estimated = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    part_log_probs(model, part, 1000)  # loads the compiled code
    scoring = time.perf_counter()
    targets, _ = part_log_probs(model, part, num_words)
    scored = time.perf_counter()
    if save is not None:
        model.save(save)
    result = {
        "words": model.settings["words"],
        "estimate": model.settings["words"] / (estimated - start),
        "score": len(targets) / (scored - scoring),
        "peak_mib": peak,
        "ngrams": sum(model.size.num_ngrams),
        "model_mib": model.size.num_bytes / 2**20,
    }
    print(json.dumps(result))


def kenlm_speed(work: Path, folder: Path, num_words: int) -> float | None:
    """Words per second of KenLM's own Python module, or None without it."""
    if importlib.util.find_spec("kenlm") is None:
        return None
    import kenlm  # type: ignore[import-not-found]

    model = load(folder / "kn3")
    write_arpa(model, folder / "model.arpa")
    theirs = kenlm.Model(str(folder / "model.arpa"))
    part = TokenCorpus.open(work).part("train", model.num_words)
    lines: list[str] = []
    num_targets = 0
    for sentence in part.sentences():
        lines.append(" ".join(model.vocabulary.decode(sentence)))
        num_targets += len(sentence) + 1
        if num_targets >= min(num_words, 1_000_000):
            break
    start = time.perf_counter()
    for line in lines:
        theirs.score(line)
    return num_targets / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute: fewer words, fewer repetitions")
    parser.add_argument("--work", type=Path, help="a prepared folder (default: the built-in corpus)")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--save", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(options.work, options.child, options.save)
        return
    num_words = QUICK_WORDS if options.quick else WORDS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work = options.work
        if work is None:
            work = folder / "work"
            prepare([BUILTIN], work)
        child(work, 200_000)  # compiles
        results = [child(work, num_words, folder / "kn3") for _ in range(2 if options.quick else 5)]
        kenlm = kenlm_speed(work, folder, num_words)
    median = {key: statistics.median(result[key] for result in results) for key in results[0]}
    print(f"3-gram Kneser-Ney, {median['words']:,.0f} words, {os.cpu_count()} cores, medians of {len(results)}")
    print(f"  estimate       {median['estimate']:12,.0f} words/s")
    print(f"  score          {median['score']:12,.0f} words/s")
    if kenlm is not None:
        print(f"  kenlm scores   {kenlm:12,.0f} words/s")
    print(f"  peak memory    {median['peak_mib']:12,.0f} MiB")
    print(f"  model          {median['model_mib']:12,.0f} MiB, {median['ngrams']:,.0f} n-grams")
    print(
        json.dumps(
            {
                "estimate_words_per_second": round(median["estimate"]),
                "score_words_per_second": round(median["score"]),
                "kenlm_score_words_per_second": None if kenlm is None else round(kenlm),
                "peak_mib": round(median["peak_mib"], 1),
                "words": round(median["words"]),
                "ngrams": round(median["ngrams"]),
            }
        )
    )


if __name__ == "__main__":
    main()
