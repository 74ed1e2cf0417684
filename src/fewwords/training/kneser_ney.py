"""`train_kneser_ney`: from a work folder to the folder of a Kneser-Ney model (KN3 of section 4.3).

Reads only the corpus; writes the same kind of folder as for a neural model, with a card and what it was made from.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.perplexity import part_perplexity
from fewwords.models.card import make_card
from fewwords.models.kneser_ney import KneserNey, estimate
from fewwords.store.locks import lock_folder
from fewwords.work_folder import model_folder


@dataclass(frozen=True)
class KneserNeySummary:
    """The result: the model, its folder, and its perplexity on the whole dev part."""

    folder: Path
    model: KneserNey
    words: int
    dev_perplexity: float
    seconds: float


def train_kneser_ney(
    work: str | Path,
    order: int = 3,
    *,
    vocabulary_size: int,
    words: int | None = None,
    interpolate: bool = True,
    prune: Sequence[int] = (),
    discount_fallback: Sequence[float] | None = None,
    memory_mib: int = 2048,
    output: Path | None = None,
    force: bool = False,
) -> KneserNeySummary:
    """Estimate a model of n-grams of up to `order` words on train, or on its first words, and write its folder.

    `prune`, `discount_fallback` and `memory_mib` are those of `estimate`. Raises InputError for bad settings, too
    little text, and, unless `force` is given, an existing model.
    """
    corpus = TokenCorpus.open(work)
    train, dev = corpus.part("train", vocabulary_size), corpus.part("dev", vocabulary_size)
    folder = output or model_folder(work, f"kn{order}", vocabulary_size)
    with lock_folder(folder, "train"):
        if (folder / "model.json").exists() and not force:
            raise InputError(f"{folder}: there is a model already; use `force` to replace it, or name another `output`")
        started = time.monotonic()
        model = estimate(
            train,
            order,
            vocabulary=corpus.vocabulary(vocabulary_size),
            interpolate=interpolate,
            prune=prune,
            discount_fallback=discount_fallback,
            max_words=words,
            memory_mib=memory_mib,
            temporary=folder,
        )
        seconds = time.monotonic() - started
        perplexity = part_perplexity(model, dev).value
        trained_on = int(model.settings["words"])
        result = {"words": trained_on, "dev_perplexity": perplexity, "seconds": seconds}
        model = replace(model, rules=corpus.rules, made_from={"corpus": corpus.made_from, "result": result})
        summary = KneserNeySummary(folder, model, trained_on, perplexity, seconds)
        model.save(folder, _card(summary, [str(name) for name in corpus.made_from["sources"]]))
    return summary


def _card(summary: KneserNeySummary, sources: list[str]) -> str:
    """The text of the model folder's README.md."""
    model = summary.model
    kind = "interpolated" if model.settings["interpolate"] else "back-off"
    ngrams = ", ".join(f"{count:,}" for count in model.size.num_ngrams)
    what = f"""An n-gram language model with {kind} modified Kneser-Ney smoothing (Chen and Goodman, 1999) over a closed
vocabulary, made with fewwords; `</s>` is predicted. `fewwords arpa` writes it as an ARPA file."""
    facts = [
        (f"N-grams of order 1 to {model.order}", f"{ngrams}; {model.size.num_bytes / 1e6:.1f} MB of arrays."),
        ("Text", f"{', '.join(sources) or 'a corpus without named sources'}; {summary.words:,} running words."),
        ("Dev perplexity", f"{summary.dev_perplexity:.2f}, over the whole dev part, with `<unk>` and `</s>`."),
    ]
    return make_card(f"{model.variant}, {model.num_words:,} words", what, facts)
