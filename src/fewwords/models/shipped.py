"""The packed model that comes with fewwords, by its name."""

from pathlib import Path

ENGLISH = "english"
_FOLDER = Path(__file__).parent


def find_model(path: str | Path) -> Path:
    """The path as it is, or the file that comes with fewwords if it is "english" and there is no such path."""
    found = Path(path)
    return _FOLDER / f"{ENGLISH}.few" if str(path) == ENGLISH and not found.exists() else found
