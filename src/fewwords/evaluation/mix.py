"""`mix`: from model folders over one vocabulary and a held-out text to the folder of their mixture.

Reads the models and the text, or the dev part of the corpus in a work folder, scores the text with each model, and
finds the weights with the lowest perplexity. Besides the models, the text and ln p of its targets, float64 [models,
targets], are in memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.accounts import Band
from fewwords.evaluation.evaluate import find_device
from fewwords.evaluation.text import read_part, read_sentences
from fewwords.models.card import make_card
from fewwords.models.load import load
from fewwords.models.mixture.folder import save_mixture
from fewwords.models.mixture.mixture import Mixture
from fewwords.models.mixture.weights import check_weights, mix_log_probs, tune_weights
from fewwords.models.model import BATCH_WORDS, Model, Sentence
from fewwords.models.shipped import find_model
from fewwords.progress import Progress
from fewwords.store.locks import lock_folder
from fewwords.text.rules import TextRules
from fewwords.text.sources import find_sources


@dataclass(frozen=True)
class MixSummary:
    """Perplexities over words, `<unk>` and, if predicted, `</s>`: of each model, of equal weights, of the mix.

    `is_tuned`: the weights were found on this text, not given; `folder`: where the mix was written, or None.
    """

    models: tuple[str, ...]
    text: str
    num_words: int
    num_targets: int
    perplexities: tuple[float, ...]
    equal_perplexity: float
    weights: tuple[float, ...]
    perplexity: float
    is_tuned: bool
    folder: Path | None

    def to_json(self) -> dict[str, Any]:
        """All figures, for a JSON file."""
        return {**asdict(self), "folder": None if self.folder is None else str(self.folder)}


def mix(
    models: Sequence[str | Path],
    text: str | None = None,
    *,
    work: str | Path | None = None,
    weights: Sequence[float] | None = None,
    output: str | Path | None = None,
    tokenized: bool = False,
    max_words: int | None = None,
    batch_words: int = BATCH_WORDS,
    device: str = "cpu",
    force: bool = False,
) -> MixSummary:
    """Tune the weights of two or more models on `text` (a path, folder, glob, "-") or on dev of the corpus in `work`.

    With `weights` nothing is tuned; with `output` the mix is written there. `max_words` limits each file of the text to
    its first sentences. Raises InputError for models that cannot be mixed, weights that are not a distribution, text
    without words, and, unless `force` is given, an `output` that already has a model.
    """
    folders = [find_model(model) for model in models]
    if len(folders) < 2:
        raise InputError(f"{len(folders)} model to mix; name two models or more")
    if (text is None) == (work is None):
        raise InputError(
            "name either a text to tune the weights on ('-' is standard input) or, with `work`, a prepared corpus"
        )
    if max_words is not None and max_words < 1:
        raise InputError(f"`max_words` {max_words}: choose 1 or more")
    if weights is not None:
        check_weights(weights, len(folders), f"`weights` {','.join(f'{weight:g}' for weight in weights)}")
    place = None if output is None else Path(output)
    _check_output(place, folders, force)
    sources = [] if text is None else find_sources([text])
    corpus = None if work is None else TokenCorpus.open(work)
    components = [load(folder, find_device(device)) for folder in folders]
    trained_on = _check_components(components, folders)
    vocabulary = components[0].vocabulary
    if corpus is not None:
        sentences = [sentence.ids for sentence in read_part(corpus, "dev", vocabulary, max_words)]
    else:
        rules = Mixture(tuple(components), (1.0, *[0.0] * (len(components) - 1)), vocabulary).rules
        sentences = [
            sentence.ids
            for source in sources
            for sentence in read_sentences(source, vocabulary, rules, tokenized=tokenized, max_words=max_words)
        ]
    log_probs = _score(components, folders, sentences, batch_words)
    num_models, num_targets = log_probs.shape
    chosen = tuple(tune_weights(log_probs).tolist() if weights is None else map(float, weights))
    summary = MixSummary(
        models=tuple(map(str, folders)),
        text=f"the dev part of {work}" if text is None else text,
        num_words=sum(map(len, sentences)),
        num_targets=num_targets,
        perplexities=tuple(map(_perplexity, log_probs)),
        equal_perplexity=_perplexity(mix_log_probs(log_probs, [1 / num_models] * num_models)),
        weights=chosen,
        perplexity=_perplexity(mix_log_probs(log_probs, chosen)),
        is_tuned=weights is None,
        folder=place,
    )
    if place is not None:
        result = {name: value for name, value in summary.to_json().items() if name != "folder"}
        made_from = {"corpus": trained_on, "result": result}
        mixture = Mixture(tuple(components), chosen, vocabulary, made_from)
        with lock_folder(place, "mix"):
            save_mixture(place, mixture, folders, _card(summary, mixture))
    return summary


def _check_output(output: Path | None, folders: Sequence[Path], force: bool) -> None:
    if output is None:
        return
    if output.exists() and not output.is_dir():
        raise InputError(f"{output}: a file; name another `output`")
    for folder in folders:
        if folder.is_file():
            raise InputError(f"{folder}: a packed file cannot be part of a mix folder; name its model folder")
    if output.resolve() in [folder.resolve() for folder in folders]:
        raise InputError(f"{output}: one of the models to mix; name another `output`")
    if (output / "model.json").exists() and not force:
        raise InputError(f"{output}: there is a model already; use `force` to replace it, or name another `output`")


def _check_components(components: Sequence[Model], folders: Sequence[Path]) -> dict[str, Any]:
    """The corpus that the models record, after checking that they predict the same targets and read text alike."""
    first, first_folder = components[0], folders[0]
    corpora: list[tuple[Path, TextRules, dict[str, Any]]] = []
    for each, folder in zip(components, folders):
        if each.vocabulary.fingerprint != first.vocabulary.fingerprint:
            sizes = f"{len(first.vocabulary):,} and {len(each.vocabulary):,} words"
            raise InputError(
                f"{first_folder} and {folder}: different vocabularies ({sizes}); mix models of one vocabulary"
            )
        if each.predicts_end != first.predicts_end:
            without, other = (first_folder, folder) if each.predicts_end else (folder, first_folder)
            raise InputError(
                f"{without}: does not predict </s>, and {other} does; train it with `boundary` end, or mix it with others like it"
            )
        corpus = each.made_from.get("corpus")
        if isinstance(corpus, Mapping) and corpus:  # a model from an ARPA file records none
            corpora.append((folder, each.rules, dict(corpus)))
    for folder, rules, _ in corpora:
        if rules != corpora[0][1]:
            raise InputError(
                f"{corpora[0][0]} and {folder}: trained on text with case or numbers folded differently; mix models of text "
                "that was prepared in the same way"
            )
    if not corpora:
        return {}
    shared = corpora[0][2]
    if all(corpus == shared for _, _, corpus in corpora):
        return shared
    sources = dict.fromkeys(str(name) for _, _, corpus in corpora for name in corpus.get("sources") or [])
    return {"sources": list(sources), "settings": shared.get("settings")}


def _score(
    components: Sequence[Model], folders: Sequence[Path], sentences: Sequence[Sentence], batch_words: int
) -> NDArray[np.float64]:
    """ln p of all targets of the sentences by each model, [models, targets]."""
    num_words = sum(map(len, sentences))
    num_targets = num_words + components[0].predicts_end * len(sentences)
    log_probs = np.empty((len(components), num_targets))
    for row, each, folder in zip(log_probs, components, folders):
        done = 0
        with Progress(f"scoring with {folder}", num_words, "words") as progress:
            for _, scores in each.score_sentences(sentences, batch_words=batch_words, advance=progress.advance):
                row[done : done + len(scores)] = scores
                done += len(scores)
        if np.isnan(row).any():
            raise InputError(f"{folder}: the model gives NaN; its training diverged, train it again")
    return log_probs


def _perplexity(log_probs: NDArray[np.float64]) -> float:
    return Band("all targets", len(log_probs), float(log_probs.sum())).perplexity


def _card(summary: MixSummary, mixture: Mixture) -> str:
    """The text of the mixture's README.md."""
    end = "`</s>` is predicted" if mixture.predicts_end else "the end of a sentence is not predicted"
    rows = "\n".join(
        f"| `components/{number}` | {component.variant} | {weight:.4f} | {perplexity:.2f} |"
        for number, (component, weight, perplexity) in enumerate(
            zip(mixture.components, mixture.weights, summary.perplexities), 1
        )
    )
    weights = "tuned on this text" if summary.is_tuned else "given by hand"
    what = f"""A language model that adds up the probabilities of others, each times its weight, made with fewwords; {end}.

| component | model | weight | perplexity |
|---|---|---|---|
{rows}
| | **the mix** | | **{summary.perplexity:.2f}** |

Perplexities on {summary.text}, {summary.num_words:,} running words; the weights were {weights}. Each component is a model folder
too."""
    return make_card(f"mix, {mixture.num_words:,} words", what, [])
