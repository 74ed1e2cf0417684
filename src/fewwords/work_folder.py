"""Where everything of a work folder lies."""

from pathlib import Path


def model_folder(work: str | Path, variant: str, vocabulary_size: int) -> Path:
    """Where the model of a variant goes unless another place is named."""
    return Path(work) / "models" / f"{variant}-v{vocabulary_size}"
