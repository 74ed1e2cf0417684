"""Every kind of file that fewwords reads, by name; a new kind is an entry in one of the three tables."""

from reliability.kind import Kind
from reliability.model_kinds import MODEL_KINDS
from reliability.stage_kinds import STAGE_KINDS
from reliability.text_kinds import TEXT_KINDS

KINDS: dict[str, Kind] = {**MODEL_KINDS, **STAGE_KINDS, **TEXT_KINDS}
