"""A model folder that is complete or rejected: `model.json` is written last and has the SHA-256 of all other files.

The files are made elsewhere and moved in; a folder without `model.json` counts as incomplete. Files that are not the
model's (a checkpoint, the training record) stay in place. Files in subfolders are named by their path, with slashes; a
subfolder belongs to the model as a whole and is replaced as a whole.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from fewwords import __version__
from fewwords.errors import InputError
from fewwords.store.files import read_json, sha256_of, write_json
from fewwords.store.folders import merged_folder
from fewwords.store.typed import describe, read_object, read_value
from fewwords.text.rules import TextRules
from fewwords.vocabulary import Vocabulary

MOST_LEVELS = 20  # of folders below a model folder: a mix of mixes of mixes…
_LONGEST_NAME = 40  # of a file or folder; a system refuses to look for paths of some thousand bytes

# codes.json is from the time when codes had two files.
_MODEL_FILES = ("model.json", "model.safetensors", "codes.safetensors", "codes.json", "words.tsv", "README.md")


@dataclass(frozen=True)
class _Corpus:
    """The corpus in `made_from`."""

    sources: tuple[str, ...] = ()
    settings: dict[str, Any] | None = None
    sha256: Any = None


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """What every `model.json` says besides its format; each kind of model adds its own settings."""

    version: str
    num_words: int
    vocabulary: str
    sha256: dict[str, str]
    made_from: dict[str, Any]
    text: TextRules | None = None

    def __post_init__(self) -> None:
        read_value(_Corpus | None, self.made_from.get("corpus"), "made_from.corpus")
        read_value(dict[str, Any] | None, self.made_from.get("result"), "made_from.result")
        _ = self.rules  # raises for an unknown choice

    @property
    def rules(self) -> TextRules:
        """How text becomes words; older files say it among the settings of the corpus."""
        if self.text is not None:
            return self.text
        settings = (self.made_from.get("corpus") or {}).get("settings") or {}
        return read_object(TextRules, {name: settings[name] for name in ("lower_case", "numbers") if name in settings})


Facts = TypeVar("Facts", bound=ModelFacts)


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


def folder_format(folder: Path) -> str:
    """The format that `model.json` names; raises InputError if there is none."""
    return str(_description(folder).get("format"))


def sealed_files(folder: Path) -> list[str]:
    """The names of all files that make up the model of a folder, relative to it."""
    return [*sorted(read_value(dict[str, str], _description(folder).get("sha256"), "sha256")), "model.json"]


def open_folder(folder: Path, kind: str, facts: type[Facts], *files: str) -> tuple[Facts, Vocabulary]:
    """The content of `model.json` and the vocabulary, after checking that all files, `files` among them, are the model's.

    Raises InputError if the folder is incomplete, of another format, or was changed.
    """
    path = folder / "model.json"
    what = "the description of a model that this version can read"
    found = describe(_description(folder), path, facts, kind, what, "copy the model folder again")
    for name, digest in found.sha256.items():
        parts = PurePosixPath(name).parts
        is_inside = not PurePosixPath(name).is_absolute() and ".." not in parts
        if not is_inside or len(parts) > MOST_LEVELS or any(len(part) > _LONGEST_NAME for part in parts):
            told = "too long to be one of its files" if is_inside else "outside the folder"
            raise InputError(f"{path}: names {name:.80}, {told}; do not trust this model")
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: missing, or no file; copy the whole model folder again")
        if parts[-1] != "README.md" and sha256_of(folder / name) != digest:
            raise InputError(f"{folder / name}: not the file that model.json describes; copy the model folder again")
    for name in ("words.tsv", *files):
        if name not in found.sha256:
            raise InputError(f"{path}: does not name {name}; copy the model folder again")
    vocabulary = Vocabulary.load(folder / "words.tsv")
    if vocabulary.fingerprint != found.vocabulary or len(vocabulary) != found.num_words:
        raise InputError(f"{folder / 'words.tsv'}: not the vocabulary that the model was trained with")
    return found, vocabulary


def _description(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such model; make one with fewwords make, or use english, which comes with fewwords"
        )
    path = folder / "model.json"
    if not path.exists():
        raise InputError(f"{folder}: the model is incomplete (no model.json); finish its training, or make it again")
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError(f"{path}: not the description of a model that this version can read")
    return found
