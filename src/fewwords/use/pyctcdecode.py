"""A model behind pyctcdecode's beam search: the words of a CTC speech recogniser, scored as they end.

    from pyctcdecode import Alphabet, BeamSearchDecoderCTC
    from fewwords.use.pyctcdecode import DecoderModel

    decoder = BeamSearchDecoderCTC(Alphabet.build_alphabet(labels), DecoderModel(fewwords.load(MODEL), alpha=0.5, beta=1.5))

A word that ends scores  alpha * ln p(word | words before) + beta,  and a word or the start of one that is outside the vocabulary
`unk_score_offset` more, as with pyctcdecode's own `LanguageModel`. Importing this needs pyctcdecode.
"""

import math
import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyctcdecode.constants import (
    AVG_TOKEN_LEN,
    DEFAULT_ALPHA,
    DEFAULT_BETA,
    DEFAULT_SCORE_LM_BOUNDARY,
    DEFAULT_UNK_LOGP_OFFSET,
)
from pyctcdecode.language_model import AbstractLanguageModel

from fewwords.errors import InputError
from fewwords.models.model import State
from fewwords.use.text_model import TextModel
from fewwords.vocabulary import END_ID, UNKNOWN_ID

_LN_10 = math.log(10)
_BYTES_REMEMBERED = 1 << 26


@dataclass(frozen=True, eq=False)
class Place:
    """A state of the model as the decoder keeps it: every place is another one."""

    state: State


class DecoderModel(AbstractLanguageModel):
    """Any model; `unk_score_offset` is to base 10, as pyctcdecode has it.

    With `score_boundary` the end of the sentence is scored, where the model predicts it. Sentences start from `<s>` either way:
    a state without any context is something that only n-gram models have.
    """

    def __init__(
        self,
        model: TextModel,
        alpha: float = DEFAULT_ALPHA,
        beta: float = DEFAULT_BETA,
        unk_score_offset: float = DEFAULT_UNK_LOGP_OFFSET,
        score_boundary: bool = DEFAULT_SCORE_LM_BOUNDARY,
    ) -> None:
        self.model = model
        self.alpha, self.beta = alpha, beta
        self.unk_score_offset, self.score_boundary = unk_score_offset, score_boundary
        self._rows: OrderedDict[Place, NDArray[np.float32]] = OrderedDict()
        self._most_rows = max(16, _BYTES_REMEMBERED // (4 * len(model.vocabulary)))

    @property
    def order(self) -> int:
        """One more than the words that decide what follows; histories that differ only before these may be pruned."""
        most = self.model.model.context_words
        return sys.maxsize if most is None else most + 1

    def get_start_state(self) -> Any:
        """The state at the start of a sentence."""
        return Place(self.model.start())

    def score_partial_token(self, partial_token: str) -> float:
        """The penalty for a start that no word of the vocabulary has, the more the longer it is."""
        if self._is_start(partial_token):
            return 0.0
        return self.unk_score_offset * max(1.0, len(partial_token) / AVG_TOKEN_LEN)

    def _is_start(self, letters: str) -> bool:
        vocabulary = self.model.vocabulary
        *whole, last = self.model.words_of(letters) or [""]
        if all(word in vocabulary for word in whole) and _is_any(vocabulary.starting_with(last)):
            return True
        return _is_any(vocabulary.starting_with(letters.lower() if self.model.model.rules.lower_case else letters))

    def score(self, prev_state: Any, word: str, is_last_word: bool = False) -> tuple[float, Any]:
        """The score of a word after a state, and the state after it; of a word like `mary's` that of its parts.

        At the end of the audio pyctcdecode asks for an empty word where none is under way: it scores the end alone.
        """
        place: Place = prev_state
        ids = self.model.vocabulary.encode(self.model.words_of(word))
        log_prob = 0.0
        for each in ids:
            log_prob += float(self._log_probs(place)[each])
            place = Place(self.model.model.feed(place.state, each))
        if UNKNOWN_ID in ids:
            log_prob += self.unk_score_offset * _LN_10
        if is_last_word and self.score_boundary and self.model.model.predicts_end:
            log_prob += float(self._log_probs(place)[END_ID])
        return self.alpha * log_prob + (self.beta if ids else 0.0), place

    def _log_probs(self, place: Place) -> NDArray[np.float32]:
        """ln p of every word; many hypotheses go on from one place."""
        row = self._rows.get(place)
        if row is None:
            row = self._rows[place] = self.model.log_probs(place.state)
            while len(self._rows) > self._most_rows:
                self._rows.popitem(last=False)
        return row

    def reset_params(self, **params: Any) -> None:
        """Change `alpha`, `beta`, `unk_score_offset` or `score_boundary`."""
        for name, value in params.items():
            if name not in ("alpha", "beta", "unk_score_offset", "score_boundary"):
                raise InputError(f"{name}: no setting of the decoder's model; choose alpha, beta, … as in DecoderModel")
            setattr(self, name, value)


def _is_any(found: slice) -> bool:
    return bool(found.stop > found.start)
