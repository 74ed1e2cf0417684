"""A model folder that is complete or rejected: `model.json` is written last and has the SHA-256 of all other files.

The files are made elsewhere and moved in; a folder without `model.json` counts as incomplete. Files that are not the
model's (a checkpoint, the training record) stay in place. Files in subfolders are named by their path, with slashes; a
subfolder belongs to the model as a whole and is replaced as a whole.
"""

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from fewwords import __version__
from fewwords.errors import InputError
from fewwords.store.files import read_json, sha256_of, write_json
from fewwords.store.folders import merged_folder
from fewwords.vocabulary import Vocabulary

# codes.json is from the time when codes had two files.
_MODEL_FILES = ("model.json", "model.safetensors", "codes.safetensors", "codes.json", "words.tsv", "README.md")


def write_folder(
    folder: Path, kind: str, vocabulary: Vocabulary, facts: dict[str, Any], write_files: Callable[[Path], None]
) -> None:
    """Write a model folder of format `kind`: the vocabulary, what `write_files` writes into a folder, and `facts`."""
    with merged_folder(folder, "model.json") as building:
        write_files(building)
        vocabulary.save(building / "words.tsv")
        names = sorted(path.relative_to(building).as_posix() for path in building.rglob("*") if path.is_file())
        write_json(
            building / "model.json",
            {
                "format": kind,
                "version": __version__,
                **facts,
                "vocabulary": vocabulary.fingerprint,
                "sha256": {name: sha256_of(building / name) for name in names},
            },
        )
        for subfolder in (folder / path.name for path in building.iterdir() if path.is_dir()):
            if subfolder.is_file() or not ((folder / "model.json").exists() or _is_model_leftover(subfolder)):
                raise InputError(f"{subfolder}: in the way of the model's own files; choose another folder")


def _is_model_leftover(subfolder: Path) -> bool:
    """Whether a subfolder outside any model.json has only files of models, as a kill can leave it."""
    return all(path.is_dir() or path.name in _MODEL_FILES for path in subfolder.rglob("*"))


def folder_format(folder: Path) -> str | None:
    """The format that `model.json` names, or None if there is none."""
    path = folder / "model.json"
    facts = read_json(path) if path.is_file() else None
    return facts.get("format") if isinstance(facts, dict) else None


def sealed_files(folder: Path) -> list[str]:
    """The names of all files that make up the model of a folder, relative to it."""
    return [*sorted(read_json(folder / "model.json")["sha256"]), "model.json"]


def open_folder(folder: Path, kind: str) -> tuple[dict[str, Any], Vocabulary]:
    """The content of `model.json` and the vocabulary, after checking that all files are the model's.

    Raises InputError if the folder is incomplete, of another format, or was changed.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such model folder; train one with fewwords train")
    if not (folder / "model.json").exists():
        raise InputError(f"{folder}: the model is incomplete (no model.json); finish its training, or make it again")
    facts = read_json(folder / "model.json")
    if not isinstance(facts, dict) or facts.get("format") != kind:
        raise InputError(f"{folder / 'model.json'}: not the description of a model that this version can read")
    for name, digest in facts["sha256"].items():
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise InputError(f"{folder / 'model.json'}: names {name}, outside the folder; do not trust this model")
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: missing; copy the whole model folder again")
        if PurePosixPath(name).name != "README.md" and sha256_of(folder / name) != digest:
            raise InputError(f"{folder / name}: not the file that model.json describes; copy the model folder again")
    vocabulary = Vocabulary.load(folder / "words.tsv")
    if vocabulary.fingerprint != facts["vocabulary"]:
        raise InputError(f"{folder / 'words.tsv'}: not the vocabulary that the model was trained with")
    return facts, vocabulary
