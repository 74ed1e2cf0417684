"""The work folder: where everything for one corpus is kept.

corpus/  vectors/  codes/  models/  the stages, each made from the ones before
paper/   report/                    the experiments of section 4, and their report
"""

from pathlib import Path


def corpus_folder(work: str | Path) -> Path:
    """The prepared corpus."""
    return Path(work) / "corpus"


def vectors_path(work: str | Path) -> Path:
    """The word vectors."""
    return Path(work) / "vectors" / "vectors.safetensors"


def codes_folder(work: str | Path) -> Path:
    """All sets of codes."""
    return Path(work) / "codes"


def codes_path(work: str | Path, vocabulary_size: int | str, base_size: int | str, suffix: str = "") -> Path:
    """The codes of V words over B base words; `suffix` tells apart codes made with other settings."""
    return codes_folder(work) / f"v{vocabulary_size}-b{base_size}{suffix}.safetensors"


def model_folder(work: str | Path, name: str, vocabulary_size: int) -> Path:
    """The default folder of the model of that name."""
    return Path(work) / "models" / f"{name}-v{vocabulary_size}"


def paper_folder(work: str | Path) -> Path:
    """The experiments of section 4."""
    return Path(work) / "paper"


def cell_record_path(work: str | Path, cell_name: str) -> Path:
    """The record of a finished experiment."""
    return paper_folder(work) / "cells" / f"{cell_name}.json"


def cell_model_folder(work: str | Path, cell_name: str) -> Path:
    """The model of an experiment."""
    return paper_folder(work) / "models" / cell_name


def cell_log_path(work: str | Path, cell_name: str) -> Path:
    """The log of an experiment."""
    return paper_folder(work) / "logs" / f"{cell_name}.log"


def report_folder(work: str | Path) -> Path:
    """The report on the experiments."""
    return Path(work) / "report"
