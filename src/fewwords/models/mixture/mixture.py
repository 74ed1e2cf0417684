"""A mixture of models over one vocabulary: p(w|h) = sum_i weight_i p_i(w|h), linear interpolation.

The components may be of any kind, mixtures too. On disk a mixture is a model folder as any other, and needs nothing else:
`components/1`, `components/2`, … are the folders of its components without what is not needed to use them, and `model.json` has
the weights and the SHA-256 of all files below.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewwords.models.mixture.weights import check_weights, mix_log_probs
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.sealed_folder import sealed_files, write_folder
from fewwords.models.sentence_scores import BATCH_WORDS, Scored, Sentence, score_sentences
from fewwords.vocabulary import Vocabulary

if TYPE_CHECKING:  # the model folder reads mixtures
    from fewwords.models.model_folder import AnyModel

FORMAT = "fewwords mix 1"


@dataclass(frozen=True, eq=False)
class Mixture:
    """Models over one vocabulary that predict the same targets, a weight for each; `made_from` says how they were mixed.

    Raises InputError for weights that are no distribution, ValueError for components that cannot be mixed.
    """

    components: tuple["AnyModel", ...]
    weights: tuple[float, ...]
    vocabulary: Vocabulary
    made_from: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_weights(self.weights, len(self.components), "a mix")
        if any(component.num_words != len(self.vocabulary) for component in self.components):
            raise ValueError("its components have different vocabularies")
        if len({predicts_end(component) for component in self.components}) != 1:
            raise ValueError("only some of its components predict </s>")

    @property
    def num_words(self) -> int:
        """The size of the vocabulary."""
        return len(self.vocabulary)

    @property
    def variant(self) -> str:
        """The model's name."""
        return "mix"

    @property
    def settings(self) -> dict[str, Any]:
        """The weights, and the names of the components."""
        return {"weights": list(self.weights), "components": [component.variant for component in self.components]}

    def score_sentences(
        self,
        sentences: Iterable[Sentence],
        *,
        batch_words: int = BATCH_WORDS,
        advance: Callable[[int], None] | None = None,
    ) -> Iterator[Scored]:
        """The sentences in their order, each ids [length], with ln p of their targets; see `sentence_scores.score_sentences`."""
        share = None if advance is None else _share(advance, len(self.components))
        scored = (
            score_sentences(component, copy, batch_words=batch_words, advance=share)
            for component, copy in zip(self.components, tee(sentences, len(self.components)))
        )
        for each in zip(*scored):
            yield each[0][0], mix_log_probs(np.stack([log_probs for _, log_probs in each]), self.weights)


def predicts_end(model: "AnyModel") -> bool:
    """Whether `</s>` is among the targets of a model."""
    if isinstance(model, Mixture):
        return predicts_end(model.components[0])
    return not isinstance(model, LanguageModel) or model.settings.boundary == "end"


def save_mixture(folder: Path, mixture: Mixture, components: Sequence[Path], card: str) -> None:
    """Write the folder of a mixture, with copies of the folders of its `components`; `card` is the text of its README."""

    def write_files(building: Path) -> None:
        for number, component in enumerate(components, 1):
            copy = component_folder(building, number)
            for name in sealed_files(component):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(component / name, copy / name)
        (building / "README.md").write_text(card, encoding="utf-8")

    facts = {
        "settings": {"variant": mixture.variant, **mixture.settings},
        "num_words": mixture.num_words,
        "made_from": mixture.made_from,
    }
    write_folder(folder, FORMAT, mixture.vocabulary, facts, write_files)


def component_folder(folder: Path, number: int) -> Path:
    """Where a mixture keeps its component of that number, from 1 on."""
    return folder / "components" / str(number)


def _share(advance: Callable[[int], None], num_components: int) -> Callable[[int], None]:
    """What to tell of a component's progress: a word is done when all components have scored it."""
    done = 0

    def tell(num_words: int) -> None:
        nonlocal done
        before = done // num_components
        done += num_words
        advance(done // num_components - before)

    return tell
