"""N-gram models with modified Kneser-Ney smoothing over a closed vocabulary (the KN3 of section 4.3)."""

from fewwords.models.kneser_ney.arpa_reader import read_arpa
from fewwords.models.kneser_ney.arpa_writer import write_arpa
from fewwords.models.kneser_ney.estimate import estimate
from fewwords.models.kneser_ney.model import KneserNey, part_log_probs

__all__ = ["KneserNey", "estimate", "part_log_probs", "read_arpa", "write_arpa"]
