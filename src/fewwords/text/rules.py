"""The rules by which text becomes words: what a model needs to read text as its corpus was read."""

from dataclasses import asdict, dataclass
from typing import Any, get_args

from fewwords.errors import InputError
from fewwords.text.words import Numbers


@dataclass(frozen=True)
class TextRules:
    """Whether words are lower-cased, and how numbers are folded; raises InputError for an unknown choice."""

    lower_case: bool = True
    numbers: Numbers = "keep"

    def __post_init__(self) -> None:
        if self.numbers not in get_args(Numbers):
            raise InputError(f"`numbers` {self.numbers}: choose {', '.join(get_args(Numbers))}")
        if not isinstance(self.lower_case, bool):
            raise InputError(f"`lower_case` {self.lower_case!r}: choose true or false")

    def to_json(self) -> dict[str, Any]:
        """The rules for a JSON file."""
        return asdict(self)
