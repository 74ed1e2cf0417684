"""N-gram models with modified Kneser-Ney smoothing over a closed vocabulary (the KN3 of section 4.3)."""

from typing import TYPE_CHECKING

from fewwords.lazy import lazy_names

if TYPE_CHECKING:
    from fewwords.models.kneser_ney.arpa_reader import read_arpa as read_arpa
    from fewwords.models.kneser_ney.arpa_writer import write_arpa as write_arpa
    from fewwords.models.kneser_ney.estimation import estimate as estimate
    from fewwords.models.kneser_ney.model import KneserNey as KneserNey
    from fewwords.models.kneser_ney.model import part_log_probs as part_log_probs

__getattr__ = lazy_names(
    __name__,
    {
        "KneserNey": "model",
        "estimate": "estimation",
        "part_log_probs": "model",
        "read_arpa": "arpa_reader",
        "write_arpa": "arpa_writer",
    },
)
