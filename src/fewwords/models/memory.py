"""What a model costs in numbers, by part (tables 1 and 4 of the paper)."""

from dataclasses import dataclass
from typing import Any

from fewwords.errors import InputError
from fewwords.store.typed import read_value


@dataclass(frozen=True)
class Memory:
    """Numbers that a model stores, by part; `codes` are indices and values together, tuned or not."""

    embedding: int
    encoding: int
    prediction: int  # output weights; 0 if tied to the embedding
    biases: int
    normaliser: int
    codes: int
    second_biases: int  # of PyTorch's recurrent layers, included in `encoding`

    @property
    def parameters(self) -> int:
        """All parameters, without the codes."""
        return self.embedding + self.encoding + self.prediction + self.biases + self.normaliser

    @property
    def total(self) -> int:
        """Parameters and codes."""
        return self.parameters + self.codes

    @property
    def paper_total(self) -> int:
        """Parameters and codes with one bias vector in the LSTM, as in table 1."""
        return self.total - self.second_biases

    def reduction(self, uncompressed: "Memory") -> float:
        """How many percent smaller than another model, as in table 4."""
        return 100 * (1 - self.paper_total / uncompressed.paper_total)

    def to_json(self) -> dict[str, int]:
        """The parts and their sums."""
        parts = {name: getattr(self, name) for name in ("embedding", "encoding", "prediction", "biases", "normaliser")}
        totals = {
            "parameters": self.parameters,
            "codes": self.codes,
            "total": self.total,
            "paper_total": self.paper_total,
        }
        return parts | totals

    @classmethod
    def from_json(cls, value: Any) -> "Memory":
        """The reverse of `to_json`; raises InputError unless the sums are right."""
        found = read_value(dict[str, int], value, "it")
        try:
            parts = {
                name: found[name] for name in ("embedding", "encoding", "prediction", "biases", "normaliser", "codes")
            }
            memory = cls(**parts, second_biases=found["total"] - found["paper_total"])
        except KeyError as error:
            raise InputError(f"{error} is missing") from None
        if memory.to_json() != value:
            raise InputError("it does not add up")
        return memory
