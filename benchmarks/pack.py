"""What does packing cost? Size and perplexity of the dense model, the coded one, and the coded one in 8 and 4 bits.

With `--work DIR`, of the models in DIR (or of `--model` and `--dense`), on the first words of its dev part. Without, of
small models that are trained on the built-in corpus first. Prints a card and, as its last line, one JSON object; sizes
are files, in millions of bytes.
"""

import argparse
import json
import tempfile
from pathlib import Path

from fewwords.evaluation.evaluate import evaluate
from fewwords.models.sealed_folder import sealed_files
from fewwords.packing.pack import Packed, pack

NAMES = {"coded": ("lstm-z-w-tied", "lstm-z-w"), "dense": ("lstm-z",)}


def train_models(work: Path, quick: bool) -> tuple[Path, Path]:
    """A coded and a dense model of the built-in corpus."""
    from fewwords.codes.make import make_codes
    from fewwords.corpus.make import prepare
    from fewwords.text.sources import BUILTIN
    from fewwords.training.train import train
    from fewwords.vectors.make import make_vectors
    from fewwords.vectors.settings import SkipGramSettings

    vocabulary_size, base_size = (5_000, 1_500) if quick else (10_000, 3_000)
    prepare([BUILTIN], work)
    make_vectors(work, SkipGramSettings(epochs=1 if quick else 5))
    make_codes(work, vocabulary_size, base_size)
    coded, dense = (
        train(
            work,
            model,
            vocabulary_size=vocabulary_size,
            base_size=base_size,
            words=150_000 if quick else 2_000_000,
            dev_words=2_000,
        ).folder
        for model in ("lstm-z-w", "lstm-z")
    )
    return coded, dense


def find_model(work: Path, kind: str) -> Path | None:
    """The model of a kind in a work folder, of the largest vocabulary."""
    for name in NAMES[kind]:
        found = [path.parent for path in work.glob(f"**/models/{name}-v*/model.json")]
        if found:
            return max(found, key=lambda path: int(path.name.rpartition("-v")[2]))
    return None


def megabytes(model: Path) -> float:
    """All files of a model folder: weights, codes, words, description and card, as in a packed file."""
    return sum((model / name).stat().st_size for name in sealed_files(model)) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute: a small model, few words")
    parser.add_argument("--work", type=Path, help="a work folder with trained models")
    parser.add_argument("--model", type=Path, help="the coded model, instead of the one in --work")
    parser.add_argument("--dense", type=Path, help="the dense model, instead of the one in --work")
    options = parser.parse_args()
    max_words = 2_000 if options.quick else 20_000
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder) / "work"
        coded, dense = options.model, options.dense
        if options.work is None:
            coded, dense = train_models(work, options.quick)
        coded, dense = coded or find_model(work, "coded"), dense or find_model(work, "dense")
        if coded is None:
            parser.error(f"{work}: no coded model there; name one with --model")
        packed: dict[int, Packed] = {
            bits: pack(coded, Path(folder) / f"{bits}.few", bits=bits, work=work, max_words=max_words)
            for bits in (8, 4)
        }
        uncoded = None if dense is None else evaluate(dense, work=work, part="dev", max_words=max_words)
        float_ppl = packed[8].perplexity_before or 0.0
        figures = {
            "dense_mb": None if dense is None else megabytes(dense),
            "float_mb": megabytes(coded),
            "int8_mb": packed[8].num_bytes / 1e6,
            "int4_mb": packed[4].num_bytes / 1e6,
            "dense_ppl": None if uncoded is None else uncoded.total.perplexity.value,
            "float_ppl": float_ppl,
            "int8_ppl": packed[8].perplexity_after,
            "int4_ppl": packed[4].perplexity_after,
        }
    print(f"{coded}, perplexity of the first {max_words:,} words of dev")
    for kind in ("dense", "float", "int8", "int4"):
        size, perplexity = figures[f"{kind}_mb"], figures[f"{kind}_ppl"]
        if size is not None and perplexity is not None:
            change = 100 * (perplexity / float_ppl - 1)
            print(f"  {kind:6} {size:8.3f} MB, perplexity {perplexity:8.2f} ({change:+.2f} % against float)")
    print(json.dumps({name: None if value is None else round(value, 4) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
